//! A schema whose references are pointers, in its own dialect.
//!
//! A validator keeps track of every way by which it came from one identified schema to the next,
//! because a dynamic reference could ask for it. With a few dozen identifiers that refer to each
//! other it never ends. So references become pointers and identifiers go before it sees them,
//! which means the same wherever nothing is dynamic.

use serde_json::{Map, Value};

use crate::{
    Dialect, SchemaError,
    render::encode,
    subschemas::{ReferenceTarget, Subschema, Subschemas},
};

/// How many schemas with identifiers there may be where references are dynamic.
pub const MAX_DYNAMIC_RESOURCES: usize = 5;

/// The schema without identifiers, or nothing where it has none (but for the root's).
pub fn rewritten(subschemas: &Subschemas) -> Result<Option<Value>, SchemaError> {
    let identified = |subschema: &Subschema| identifier(subschemas.dialect, subschema).is_some();
    let resources = subschemas.all.iter().skip(1).filter(|subschema| identified(subschema)).count();
    if resources == 0 {
        return Ok(None);
    }
    let mut references = subschemas.all.iter().flat_map(|subschema| &subschema.references);
    if references.any(|one| matches!(one.target, ReferenceTarget::OneOf(_))) {
        if resources < MAX_DYNAMIC_RESOURCES {
            return Ok(None);
        }
        let message = format!(
            "has dynamic references among more than {MAX_DYNAMIC_RESOURCES} schemas with identifiers"
        );
        return Err(SchemaError::new("", message));
    }
    let mut schema = subschemas.all[0].schema.clone();
    for subschema in &subschemas.all {
        if let Some(Value::Object(fields)) = schema.pointer_mut(&subschema.pointer) {
            mend(subschemas, subschema, fields);
        }
    }
    Ok(Some(schema))
}

fn mend(subschemas: &Subschemas, subschema: &Subschema, fields: &mut Map<String, Value>) {
    if !subschema.pointer.is_empty()
        && let Some(keyword) = identifier(subschemas.dialect, subschema)
    {
        fields.shift_remove(keyword);
    }
    for reference in &subschema.references {
        let ReferenceTarget::Subschema(target) = reference.target else { continue };
        let text = Value::String(format!("#{}", encode(&subschemas.all[target].pointer)));
        if reference.keyword == "$ref" {
            fields.insert("$ref".to_owned(), text);
            continue;
        }
        fields.shift_remove(reference.keyword);
        if fields.contains_key("$ref") {
            let all = fields.entry("allOf").or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(all) = all {
                all.push(Value::Object(Map::from_iter([("$ref".to_owned(), text)])));
            }
        } else {
            fields.insert("$ref".to_owned(), text);
        }
    }
}

/// The keyword that identifies a schema in a dialect, where this one has it.
fn identifier(dialect: Dialect, subschema: &Subschema) -> Option<&'static str> {
    let keyword = if dialect == Dialect::Draft04 { "id" } else { "$id" };
    subschema.schema.get(keyword).is_some_and(Value::is_string).then_some(keyword)
}
