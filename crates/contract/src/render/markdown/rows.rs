//! A schema as the rows of a table: one for each value that can appear, named by its path.

use serde_json::{Map, Value};

use super::words::{conditions, sentence};
use crate::{
    Dialect,
    dialect::Applicator,
    json,
    subschemas::{SubschemaId, Subschemas},
};

/// The depth up to which the table follows nested values.
const MAX_DEPTH: usize = 8;
/// The number of rows after which a table is cut.
const MAX_ROWS: usize = 300;

/// One value that can appear.
#[derive(Debug, PartialEq)]
pub struct Row {
    /// Dotted; `[]` stands for any item of an array, `*` for any other key.
    pub name: String,
    /// The type in words.
    pub kind: String,
    /// `yes`, `no`, `sometimes` (some forms ask for it), or nothing where it makes no sense.
    pub required: &'static str,
    /// Its meaning and its conditions, in Markdown.
    pub description: String,
}

/// The rows of a schema (2020-12); `whole` names a value that is not an object.
pub fn rows(schema: &Value, whole: &str) -> Vec<Row> {
    let Ok(subschemas) = Subschemas::of(schema, Dialect::Draft202012) else { return Vec::new() };
    let mut table = RowTable { subschemas: &subschemas, rows: Vec::new() };
    if table.kind(0, 0) == "object" {
        table.children("", 0, &mut Vec::new());
    } else {
        table.value(&format!("({whole})"), 0, "yes", &mut Vec::new());
    }
    let mut rows = table.rows;
    if rows.len() > MAX_ROWS {
        rows.truncate(MAX_ROWS);
        let (kind, description) = (String::new(), "and more".to_owned());
        rows.push(Row { name: "…".into(), kind, required: "", description });
    }
    rows
}

struct RowTable<'a> {
    subschemas: &'a Subschemas<'a>,
    rows: Vec<Row>,
}

/// A schema that speaks about a value, and whether it certainly does.
type SchemaPart = (SubschemaId, bool);
/// The schemas of the values around a value, one list a level.
type OuterSchemas = Vec<Vec<SubschemaId>>;

impl RowTable<'_> {
    /// One row, and those of what is inside.
    fn value(
        &mut self,
        name: &str,
        schema: SubschemaId,
        required: &'static str,
        above: &mut OuterSchemas,
    ) {
        if self.rows.len() > MAX_ROWS {
            return;
        }
        let (kind, description) = (self.kind(schema, 0), self.description(schema));
        self.rows.push(Row { name: name.to_owned(), kind, required, description });
        self.children(name, schema, above);
    }

    /// The rows of what is inside a value. A schema that is inside itself (`above`) is shown once.
    fn children(&mut self, name: &str, schema: SubschemaId, above: &mut OuterSchemas) {
        let parts = self.parts(schema);
        let again = |(part, _): &SchemaPart| above.iter().flatten().any(|one| one == part);
        if above.len() >= MAX_DEPTH || parts.iter().any(again) {
            return;
        }
        above.push(parts.iter().map(|(part, _)| *part).collect());
        let subschemas = self.subschemas;
        let inner = || parts.iter().flat_map(|(part, _)| subschemas.children(*part));
        let mut known: Vec<&str> = Vec::new();
        for (applicator, inner) in inner() {
            // The first to speak of a property describes it; branches refine.
            if let Applicator::Property(key) = applicator
                && !known.contains(&key)
            {
                known.push(key);
                let required = self.required(key, &parts);
                self.value(&below(name, key), inner, required, above);
            }
        }
        for (applicator, inner) in inner() {
            let is_object = subschemas.all[inner].schema.is_object();
            match applicator {
                Applicator::Pattern(pattern) => {
                    self.value(&below(name, &format!("/{pattern}/")), inner, "", above);
                }
                Applicator::AdditionalProperties if is_object => {
                    self.value(&below(name, "*"), inner, "", above);
                }
                Applicator::Prefix(index) => {
                    self.value(&format!("{name}[{index}]"), inner, "", above);
                }
                Applicator::Items if is_object => {
                    let name = format!("{name}[]");
                    // The row of the array says the type of its items already.
                    if self.description(inner).is_empty() {
                        self.children(&name, inner, above);
                    } else {
                        self.value(&name, inner, "", above);
                    }
                }
                _ => {}
            }
        }
        above.pop();
    }

    /// Every schema that speaks about the same value: the given one first, then what it refers to and
    /// combines.
    fn parts(&self, schema: SubschemaId) -> Vec<SchemaPart> {
        let mut parts: Vec<SchemaPart> = Vec::new();
        let mut open = vec![(schema, true)];
        while let Some((schema, certain)) = open.pop() {
            let Some(map) = self.map(schema) else { continue };
            if parts.iter().any(|(known, _)| *known == schema) {
                continue;
            }
            parts.push((schema, certain));
            let mut next: Vec<SchemaPart> =
                self.referred(schema).map(|referred| (referred, certain)).into_iter().collect();
            for (child, inner) in &self.subschemas.all[schema].inner {
                let is_certain = match child.keyword {
                    "allOf" => certain,
                    "anyOf" | "oneOf" if is_null(child.schema) => continue,
                    "anyOf" | "oneOf" => {
                        // A choice of null and one other schema is shown as that schema.
                        let others = list(map, child.keyword).iter().filter(|one| !is_null(one));
                        certain && others.count() == 1
                    }
                    "then" | "else" | "dependentSchemas" => false,
                    // `if` is a question and promises nothing.
                    _ => continue,
                };
                next.push((*inner, is_certain));
            }
            open.extend(next.into_iter().rev());
        }
        parts
    }

    fn map(&self, schema: SubschemaId) -> Option<&Map<String, Value>> {
        self.subschemas.all[schema].schema.as_object()
    }

    fn referred(&self, schema: SubschemaId) -> Option<SubschemaId> {
        let references = &self.subschemas.all[schema].references;
        references.first().and_then(|reference| reference.target.subschemas().first().copied())
    }

    /// The schemas that stand under a keyword.
    fn under(&self, schema: SubschemaId, keyword: &str) -> Vec<SubschemaId> {
        let inner = self.subschemas.all[schema].inner.iter();
        inner.filter(|(child, _)| child.keyword == keyword).map(|(_, inner)| *inner).collect()
    }

    fn description(&self, schema: SubschemaId) -> String {
        let parts = self.parts(schema);
        let certain = parts.iter().filter(|(_, certain)| *certain);
        let certain: Vec<_> = certain.filter_map(|(part, _)| self.map(*part)).collect();
        let described = certain.iter().find_map(|part| part.get("description")?.as_str());
        let phrases = distinct(certain.iter().flat_map(|part| conditions(part)));
        sentence(described.unwrap_or_default(), &phrases)
    }

    fn required(&self, key: &str, parts: &[SchemaPart]) -> &'static str {
        let asks = |(part, _): &&SchemaPart| {
            self.map(*part).is_some_and(|part| list(part, "required").iter().any(|one| one == key))
        };
        let depends = |(part, _): &&SchemaPart| {
            let lists = self.map(*part).and_then(|part| part.get("dependentRequired")?.as_object());
            let mut names = lists.into_iter().flat_map(|lists| lists.values());
            names.any(|names| names.as_array().is_some_and(|names| names.contains(&key.into())))
        };
        if parts.iter().filter(|(_, certain)| *certain).any(|part| asks(&part)) {
            "yes"
        } else if parts.iter().any(|part| asks(&part) || depends(&part)) {
            "sometimes"
        } else {
            "no"
        }
    }

    /// The type in words.
    fn kind(&self, schema: SubschemaId, depth: usize) -> String {
        let any = || "any".to_owned();
        let Some(map) = self.map(schema) else {
            let nothing = *self.subschemas.all[schema].schema == Value::Bool(false);
            return if nothing { "never".into() } else { any() };
        };
        if depth > MAX_DEPTH {
            return any();
        }
        let inner = |schema: SubschemaId| self.kind(schema, depth + 1);
        let in_words = |name: &str| match (name, map.get("format").and_then(Value::as_str)) {
            ("array", _) => {
                let items = self.under(schema, "items").into_iter();
                let mut items = items.filter(|items| self.map(*items).is_some());
                items.next().map_or(name.into(), |items| format!("array of {}", inner(items)))
            }
            ("string", Some(format)) => format!("string ({format})"),
            _ => name.to_owned(),
        };
        match map.get("type") {
            Some(Value::String(one)) => return in_words(one),
            Some(Value::Array(types)) => {
                return either(types.iter().filter_map(Value::as_str).map(in_words));
            }
            _ => {}
        }
        if let Some(referred) = self.referred(schema) {
            return inner(referred);
        }
        if let Some(value) = map.get("const") {
            return json::kind(value).to_owned();
        }
        let choice = list(map, "enum");
        if !choice.is_empty() {
            return either(choice.iter().map(|value| json::kind(value).to_owned()));
        }
        for keyword in ["anyOf", "oneOf"] {
            let branches = self.under(schema, keyword);
            if !branches.is_empty() && !map.contains_key("properties") {
                return either(branches.into_iter().map(inner));
            }
        }
        let mut all = self.under(schema, "allOf").into_iter().map(inner);
        if let Some(kind) = all.find(|kind| kind != "any") {
            return kind;
        }
        if map.contains_key("properties") { "object".to_owned() } else { any() }
    }
}

fn list<'a>(schema: &'a Map<String, Value>, keyword: &str) -> &'a [Value] {
    schema.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|name| name == "null")
}

fn below(name: &str, key: &str) -> String {
    if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") }
}

fn either(kinds: impl Iterator<Item = String>) -> String {
    distinct(kinds).join(" or ")
}

fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut distinct = Vec::new();
    for text in texts {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(schema: &Value, expected: &[&str]) {
        let shown: Vec<_> = rows(schema, "the result")
            .into_iter()
            .map(|row| {
                [&row.name, &row.kind, row.required, &row.description]
                    .map(str::to_owned)
                    .join(" | ")
            })
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn nested_values_are_named_by_their_path() {
        check(
            &json!({ "type": "object", "required": ["a"], "properties": {
                "a": { "type": "object", "properties": { "b": { "type": "integer" } } },
                "list": { "type": "array", "items": {
                    "type": "object", "required": ["c"], "properties": { "c": { "const": true } },
                } },
                "names": { "type": "array", "items": { "type": "string", "minLength": 1 } },
                "pair": { "type": "array", "prefixItems": [{ "type": "number" }, true] },
                "map": { "type": "object", "additionalProperties": { "type": "string" } },
                "none": false,
            } }),
            &[
                "a | object | yes | ",
                "a.b | integer | no | ",
                "list | array of object | no | ",
                "list[].c | boolean | yes | Always `true`.",
                "names | array of string | no | ",
                "names[] | string |  | Not empty.",
                "pair | array | no | ",
                "pair[0] | number |  | ",
                "pair[1] | any |  | ",
                "map | object | no | ",
                "map.* | string |  | ",
                "none | never | no | ",
            ],
        );
    }

    #[test]
    fn branches_ask_for_things_sometimes() {
        check(
            &json!({
                "type": "object",
                "properties": {
                    "raw": { "type": "boolean" },
                    "html": { "type": ["string", "null"], "format": "uri" },
                    "note": { "anyOf": [{ "type": "string", "maxLength": 9 }, { "type": "null" }] },
                },
                "if": { "properties": { "raw": { "const": true } }, "required": ["raw"] },
                "then": { "required": ["html"] },
                "allOf": [{ "required": ["note"] }],
                "oneOf": [{ "properties": { "extra": { "enum": [1, "a", 2] } } }, {}],
                "dependentRequired": { "note": ["extra"] },
            }),
            &[
                "raw | boolean | no | ",
                "html | string (uri) or null | sometimes | ",
                "note | string or null | yes | At most 9 characters.",
                "extra | integer or string | sometimes | One of `1`, `\"a\"`, `2`.",
            ],
        );
    }

    #[test]
    fn a_result_that_is_no_object_is_named_as_a_whole() {
        check(
            &json!({ "type": "array", "description": "All.", "items": {
                "properties": { "id": { "type": "string" } },
            } }),
            &["(the result) | array of object | yes | All.", "(the result)[].id | string | no | "],
        );
        check(&json!({}), &["(the result) | any | yes | "]);
    }

    #[test]
    fn a_schema_inside_itself_ends() {
        let twice = json!({ "a": { "$ref": "#/$defs/x" }, "b": { "$ref": "#/$defs/x" } });
        check(
            &json!({ "$ref": "#node", "$defs": { "n": { "$anchor": "node", "properties": {
                "next": { "$ref": "#node", "description": "The next." },
            } } } }),
            &["next | object | no | The next."],
        );
        // Each level doubles the rows; the table is cut.
        let mut schema = json!({ "type": "object", "properties": twice, "$defs": {} });
        for (name, next) in
            ["x", "1", "2", "3", "4", "5", "6", "7", "8", "9"].windows(2).map(|w| (w[0], w[1]))
        {
            let next = json!({ "$ref": format!("#/$defs/{next}") });
            schema["$defs"][name] = json!({ "properties": { "a": next, "b": next } });
        }
        schema["$defs"]["9"] = json!({});
        let rows = rows(&schema, "the result");
        assert_eq!(rows.len(), MAX_ROWS + 1);
        assert_eq!(rows[MAX_ROWS].description, "and more");
    }
}
