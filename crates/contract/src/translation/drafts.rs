//! From older dialects to 2020-12.
//!
//! Subschemas move (`definitions` to `$defs`, a list of `items` to `prefixItems`), so first every subschema
//! gets its new pointer, and then the schema is written anew with all references as pointers.
//! Identifiers and anchors are not needed any more after that.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::{
    Dialect, SchemaError,
    dialect::{Applicator, ChildKey, ChildSchema, KeywordContent, content_of},
    references::{encode, push_all_of},
    subschemas::{ReferenceTarget, Subschema, SubschemaId, Subschemas},
    violation::escape,
};

/// The schema in 2020-12.
pub(super) fn translate(source: &Value, dialect: Dialect) -> Result<Value, SchemaError> {
    let subschemas = Subschemas::of(source, dialect)?;
    let homes = NewPointers::of(&subschemas);
    let writer = DraftWriter { subschemas: &subschemas, homes };
    let mut written = writer.schema(0)?;
    let strays: Vec<SubschemaId> =
        (0..subschemas.all.len()).filter(|number| subschemas.all[*number].stray).collect();
    for number in strays {
        let stray = writer.schema(number)?;
        let name = writer.homes.stray_names[number].clone().unwrap_or_default();
        if let Value::Object(root) = &mut written {
            let definitions = root.entry("$defs").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(definitions) = definitions {
                definitions.insert(name, stray);
            }
        }
    }
    Ok(written)
}

/// The pointer of each subschema after the translation.
struct NewPointers {
    pointers: Vec<String>,
    /// The names under `$defs` of subschemas that stood where no schema is expected.
    stray_names: Vec<Option<String>>,
}

impl NewPointers {
    fn of(subschemas: &Subschemas) -> Self {
        let count = subschemas.all.len();
        let mut homes =
            Self { pointers: vec![String::new(); count], stray_names: vec![None; count] };
        homes.settle(subschemas, 0, String::new());
        let mut taken: HashSet<String> = names(&subschemas.all[0], "$defs")
            .chain(names(&subschemas.all[0], "definitions"))
            .map(str::to_owned)
            .collect();
        // Those of `$defs` keep their names where an older dialect did not know the word.
        if subschemas.dialect.reference_stands_alone() {
            taken = names(&subschemas.all[0], "definitions").map(str::to_owned).collect();
        }
        for number in (0..count).filter(|number| subschemas.all[*number].stray) {
            let last = subschemas.all[number].pointer.rsplit('/').next().unwrap_or_default();
            let wanted = last.replace("~1", "/").replace("~0", "~");
            let mut name = wanted.clone();
            let mut next = 2;
            while !taken.insert(name.clone()) {
                name = format!("{wanted}_{next}");
                next += 1;
            }
            homes.settle(subschemas, number, format!("/$defs/{}", escape(&name)));
            homes.stray_names[number] = Some(name);
        }
        homes
    }

    fn settle(&mut self, subschemas: &Subschemas, number: SubschemaId, home: String) {
        for (part, inner) in &subschemas.all[number].inner {
            let keyword = new_keyword(part);
            let inner_home = match part.key {
                None => format!("{home}/{keyword}"),
                Some(ChildKey::Index(index)) => format!("{home}/{keyword}/{index}"),
                Some(ChildKey::Name(name)) => {
                    let name = new_name(&subschemas.all[number], part, name);
                    format!("{home}/{keyword}/{}", escape(&name))
                }
            };
            self.settle(subschemas, *inner, inner_home);
        }
        self.pointers[number] = home;
    }
}

fn names<'a>(subschema: &Subschema<'a>, keyword: &str) -> impl Iterator<Item = &'a str> {
    let named = subschema.schema.get(keyword).and_then(Value::as_object);
    named.into_iter().flat_map(|named| named.keys().map(String::as_str))
}

/// The keyword that a part stands under in 2020-12.
fn new_keyword<'a>(part: &ChildSchema<'a>) -> &'a str {
    match (part.keyword, part.applicator) {
        ("definitions", _) => "$defs",
        ("items", Applicator::Prefix(_)) => "prefixItems",
        ("additionalItems", _) => "items",
        ("dependencies", _) => "dependentSchemas",
        (keyword, _) => keyword,
    }
}

/// The name of a part there: `definitions` and `$defs` may have the same one.
fn new_name(subschema: &Subschema, part: &ChildSchema, name: &str) -> String {
    let clashes = part.keyword == "definitions"
        && names(subschema, "$defs").any(|other| other == name)
        && subschema.inner.iter().any(|(other, _)| other.keyword == "$defs");
    if clashes { format!("{name}_definition") } else { name.to_owned() }
}

struct DraftWriter<'p, 'a> {
    subschemas: &'p Subschemas<'a>,
    homes: NewPointers,
}

impl DraftWriter<'_, '_> {
    fn schema(&self, number: SubschemaId) -> Result<Value, SchemaError> {
        let subschema = &self.subschemas.all[number];
        let Value::Object(schema) = subschema.schema else { return Ok(subschema.schema.clone()) };
        let dialect = self.subschemas.dialect;
        let alone = dialect.reference_stands_alone() && schema.contains_key("$ref");
        let tuple = matches!(schema.get("items"), Some(Value::Array(_)));
        let mut written = Map::new();
        for (keyword, value) in schema {
            let keyword = keyword.as_str();
            if self.put_parts(subschema, keyword, &mut written)? {
                continue;
            }
            match keyword {
                "$ref" | "$recursiveRef" => self.put_reference(subschema, keyword, &mut written)?,
                "$schema" | "$id" | "$anchor" | "$recursiveAnchor" | "$vocabulary"
                | "$dynamicAnchor" | "$defs" | "definitions" => {}
                "id" if dialect == Dialect::Draft04 => {}
                _ if alone && content_of(keyword) != KeywordContent::Text => {}
                _ if !dialect.knows(keyword) => {}
                "items" | "additionalItems" if tuple => {}
                "additionalItems" => {}
                "dependencies" => put_required(value, &mut written),
                "exclusiveMinimum" | "exclusiveMaximum" | "minimum" | "maximum"
                    if dialect == Dialect::Draft04 =>
                {
                    put_bound(schema, keyword, value, &mut written);
                }
                _ => {
                    written.insert(keyword.to_owned(), value.clone());
                }
            }
        }
        Ok(Value::Object(written))
    }

    /// Writes the schemas that stand under a keyword, if any do.
    fn put_parts(
        &self,
        subschema: &Subschema,
        keyword: &str,
        written: &mut Map<String, Value>,
    ) -> Result<bool, SchemaError> {
        let mut any = false;
        for (part, number) in subschema.inner.iter().filter(|(part, _)| part.keyword == keyword) {
            any = true;
            let inner = self.schema(*number)?;
            let new = new_keyword(part).to_owned();
            match part.key {
                None => {
                    written.insert(new, inner);
                }
                Some(ChildKey::Index(_)) => {
                    let list = written.entry(new).or_insert_with(|| Value::Array(Vec::new()));
                    if let Value::Array(list) = list {
                        list.push(inner);
                    }
                }
                Some(ChildKey::Name(name)) => {
                    let name = new_name(subschema, part, name);
                    let named = written.entry(new).or_insert_with(|| Value::Object(Map::new()));
                    if let Value::Object(named) = named
                        && named.insert(name, inner).is_some()
                    {
                        let message = "cannot be translated to 2020-12: `dependencies` and \
                                       `dependentSchemas` are about the same property";
                        return Err(SchemaError::new(&*subschema.pointer, message));
                    }
                }
            }
        }
        // Lists of names stand among the schemas of `dependencies`.
        if any && keyword == "dependencies" {
            put_required(&subschema.schema["dependencies"], written);
        }
        Ok(any)
    }

    fn put_reference(
        &self,
        subschema: &Subschema,
        keyword: &str,
        written: &mut Map<String, Value>,
    ) -> Result<(), SchemaError> {
        let Some(reference) = subschema.references.iter().find(|one| one.keyword == keyword) else {
            return Ok(());
        };
        let pointer = format!("{}/{keyword}", subschema.pointer);
        let text = match &reference.target {
            ReferenceTarget::Subschema(number) => {
                format!("#{}", encode(&self.homes.pointers[*number]))
            }
            ReferenceTarget::OneOf(_) => {
                let message = "cannot be translated to 2020-12: `$recursiveRef` has several possible \
                               targets";
                return Err(SchemaError::new(pointer, message));
            }
            ReferenceTarget::Outside => {
                let message = format!(
                    "cannot be translated to 2020-12: `{}` is the meta-schema of another dialect",
                    reference.text
                );
                return Err(SchemaError::new(pointer, message));
            }
        };
        if written.contains_key("$ref") {
            push_all_of(written, json!({ "$ref": text }));
        } else {
            written.insert("$ref".to_owned(), Value::String(text));
        }
        Ok(())
    }
}

/// The lists of names in `dependencies`.
fn put_required(dependencies: &Value, written: &mut Map<String, Value>) {
    let lists =
        dependencies.as_object().into_iter().flatten().filter(|(_, value)| value.is_array());
    for (name, list) in lists {
        let required =
            written.entry("dependentRequired").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(required) = required {
            let names = required.entry(name.clone()).or_insert_with(|| Value::Array(Vec::new()));
            if let (Value::Array(names), Value::Array(more)) = (names, list) {
                let new: Vec<_> = more.iter().filter(|one| !names.contains(one)).cloned().collect();
                names.extend(new);
            }
        }
    }
}

/// In draft-04 a bound is exclusive by a word beside it.
fn put_bound(
    schema: &Map<String, Value>,
    keyword: &str,
    value: &Value,
    written: &mut Map<String, Value>,
) {
    let exclusive = match keyword {
        "minimum" => "exclusiveMinimum",
        "maximum" => "exclusiveMaximum",
        _ => return,
    };
    let keyword =
        if schema.get(exclusive) == Some(&Value::Bool(true)) { exclusive } else { keyword };
    written.insert(keyword.to_owned(), value.clone());
}
