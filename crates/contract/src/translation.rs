//! A schema of somebody else as clients of today can read it.
//!
//! Values are always checked against the original, in its own dialect. What is *shown* is made
//! here: 2020-12, whatever it was written in, with references that are pointers from the root,
//! and without those where that makes nothing large. It means the same, with one exception that
//! no client can see: to draft-04 `1.0` is not an integer.

mod drafts;
mod inline;
mod object_root;

use serde_json::Value;

use crate::{Dialect, Schema, SchemaError};

/// The schema in 2020-12, or why it cannot be said there. `$schema` goes: it is what everybody
/// takes a schema for that does not say otherwise.
pub fn to_2020_12(source: &Value) -> Result<Value, SchemaError> {
    // Whatever cannot be enforced is not shown either, and what can be is within bounds.
    let original = Schema::compile_foreign(source)?;
    let projected = match original.dialect() {
        Dialect::Draft202012 => without_dialect(source),
        dialect => drafts::translate(source, dialect)?,
    };
    Schema::compile(&projected).map_err(|error| {
        let message = format!("cannot be translated to 2020-12: {error}");
        SchemaError::new(error.pointer, message)
    })?;
    Ok(projected)
}

/// The schema of a tool's arguments, as it is listed: its root says `type: object` and has none
/// of `allOf`, `anyOf` and `oneOf`, because clients refuse the whole listing otherwise. It
/// accepts the same objects.
pub fn input(source: &Value) -> Result<Value, SchemaError> {
    let projected = object_root::of_object(&inline::inlined(&to_2020_12(source)?));
    // The root is made by hand; if that ever went wrong, the plain translation would do.
    match Schema::compile(&projected) {
        Ok(_) => Ok(projected),
        Err(_) => to_2020_12(source),
    }
}

/// The schema of a tool's results, as it is listed.
pub fn output(source: &Value) -> Result<Value, SchemaError> {
    Ok(inline::inlined(&to_2020_12(source)?))
}

fn without_dialect(source: &Value) -> Value {
    let mut schema = source.clone();
    if let Value::Object(fields) = &mut schema {
        fields.shift_remove("$schema");
    }
    schema
}
