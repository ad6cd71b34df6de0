//! A schema as the rows of a table: one a value that can appear, by its path.

use serde_json::{Map, Value};

use super::words::{conditions, sentence};
use crate::render::references::{relocate, target};

/// How deep the table follows nested values.
const MAX_DEPTH: usize = 8;
/// How many rows a table has before it is cut.
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
    /// What it means and what it must be, in Markdown.
    pub description: String,
}

/// The rows of a schema; `whole` names a value that is not an object.
pub fn rows(schema: &Value, whole: &str) -> Vec<Row> {
    // Its own document, so that every reference is a pointer from its root.
    let root = relocate(schema, "#");
    let mut table = RowTable { root: &root, rows: Vec::new() };
    if table.kind(&root, 0) == "object" {
        table.children("", &root, &mut Vec::new());
    } else {
        table.value(&format!("({whole})"), &root, "yes", &mut Vec::new());
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
    root: &'a Value,
    rows: Vec<Row>,
}

/// A schema that speaks about a value, and whether it certainly does.
type SchemaPart<'a> = (&'a Map<String, Value>, bool);
/// The schemas of the values around a value, one list a level.
type OuterSchemas<'a> = Vec<Vec<&'a Map<String, Value>>>;

impl<'a> RowTable<'a> {
    /// One row, and those of what is inside.
    fn value(
        &mut self,
        name: &str,
        schema: &'a Value,
        required: &'static str,
        above: &mut OuterSchemas<'a>,
    ) {
        if self.rows.len() > MAX_ROWS {
            return;
        }
        let kind = self.kind(schema, 0);
        let description = self.description(schema);
        self.rows.push(Row { name: name.to_owned(), kind, required, description });
        self.children(name, schema, above);
    }

    /// The rows of what is inside a value. A schema that is inside itself is shown once.
    fn children(&mut self, name: &str, schema: &'a Value, above: &mut OuterSchemas<'a>) {
        let parts = self.parts(schema);
        let again =
            |(part, _): &SchemaPart| above.iter().flatten().any(|one| std::ptr::eq(*one, *part));
        if above.len() >= MAX_DEPTH || parts.iter().any(again) {
            return;
        }
        above.push(parts.iter().map(|(part, _)| *part).collect());
        self.properties(name, &parts, above);
        self.other_keys(name, &parts, above);
        self.items(name, &parts, above);
        above.pop();
    }

    fn properties(&mut self, name: &str, parts: &[SchemaPart<'a>], above: &mut OuterSchemas<'a>) {
        let mut known: Vec<&str> = Vec::new();
        for (key, schema) in parts.iter().flat_map(|(part, _)| entries(part, "properties")) {
            // The first to speak of a property describes it; branches refine.
            if !known.contains(&key) {
                known.push(key);
                self.value(&below(name, key), schema, required(key, parts), above);
            }
        }
    }

    fn other_keys(&mut self, name: &str, parts: &[SchemaPart<'a>], above: &mut OuterSchemas<'a>) {
        for (part, _) in parts {
            for (pattern, schema) in entries(part, "patternProperties") {
                self.value(&below(name, &format!("/{pattern}/")), schema, "", above);
            }
            if let Some(schema @ Value::Object(_)) = part.get("additionalProperties") {
                self.value(&below(name, "*"), schema, "", above);
            }
        }
    }

    fn items(&mut self, name: &str, parts: &[SchemaPart<'a>], above: &mut OuterSchemas<'a>) {
        for (part, _) in parts {
            let first = part.get("prefixItems").and_then(Value::as_array);
            for (index, schema) in first.into_iter().flatten().enumerate() {
                self.value(&format!("{name}[{index}]"), schema, "", above);
            }
            if let Some(schema @ Value::Object(_)) = part.get("items") {
                let name = format!("{name}[]");
                // The row of the array says the type of its items already.
                if self.description(schema).is_empty() {
                    self.children(&name, schema, above);
                } else {
                    self.value(&name, schema, "", above);
                }
            }
        }
    }

    /// Every schema that speaks about the same value: the given one first, then what it
    /// refers to and combines.
    fn parts(&self, schema: &'a Value) -> Vec<SchemaPart<'a>> {
        let mut parts: Vec<SchemaPart<'a>> = Vec::new();
        let mut open = vec![(schema, true)];
        while let Some((schema, certain)) = open.pop() {
            let Value::Object(map) = schema else { continue };
            if parts.iter().any(|(known, _)| std::ptr::eq(*known, map)) {
                continue;
            }
            parts.push((map, certain));
            let mut next: Vec<(&Value, bool)> = Vec::new();
            if let Some(referred) = self.referred(map) {
                next.push((referred, certain));
            }
            next.extend(list(map, "allOf").iter().map(|branch| (branch, certain)));
            for keyword in ["anyOf", "oneOf"] {
                let branches = list(map, keyword).iter().filter(|branch| !is_null(branch));
                // What is either null or one other thing is that thing.
                let nullable = branches.clone().count() == 1;
                next.extend(branches.map(|branch| (branch, certain && nullable)));
            }
            // `if` is a question and promises nothing.
            let branches = ["then", "else"].iter().filter_map(|keyword| map.get(*keyword));
            next.extend(branches.map(|branch| (branch, false)));
            let dependent = entries(map, "dependentSchemas");
            next.extend(dependent.map(|(_, schema)| (schema, false)));
            open.extend(next.into_iter().rev());
        }
        parts
    }

    fn referred(&self, schema: &Map<String, Value>) -> Option<&'a Value> {
        target(self.root, schema.get("$ref")?.as_str()?)
    }

    fn description(&self, schema: &'a Value) -> String {
        let parts = self.parts(schema);
        let certain = || parts.iter().filter(|(_, certain)| *certain).map(|(part, _)| *part);
        let described = certain().find_map(|part| part.get("description")?.as_str());
        let mut phrases: Vec<String> = Vec::new();
        for phrase in certain().flat_map(conditions) {
            if !phrases.contains(&phrase) {
                phrases.push(phrase);
            }
        }
        sentence(described.unwrap_or_default(), &phrases)
    }

    /// The type in words.
    fn kind(&self, schema: &Value, depth: usize) -> String {
        let any = || "any".to_owned();
        let Value::Object(map) = schema else {
            return if schema == &Value::Bool(false) { "never".into() } else { any() };
        };
        if depth > MAX_DEPTH {
            return any();
        }
        let inner = |schema: &Value| self.kind(schema, depth + 1);
        match map.get("type") {
            Some(Value::String(one)) => return self.kind_of(one, map, depth),
            Some(Value::Array(types)) => {
                let types = types.iter().filter_map(Value::as_str);
                return either(types.map(|one| self.kind_of(one, map, depth)));
            }
            _ => {}
        }
        if let Some(referred) = self.referred(map) {
            return inner(referred);
        }
        if let Some(value) = map.get("const") {
            return kind_of_value(value).to_owned();
        }
        let choice = list(map, "enum");
        if !choice.is_empty() {
            return either(choice.iter().map(|value| kind_of_value(value).to_owned()));
        }
        for keyword in ["anyOf", "oneOf"] {
            let branches = list(map, keyword);
            if !branches.is_empty() && map.get("properties").is_none() {
                return either(branches.iter().map(inner));
            }
        }
        if let Some(kind) = list(map, "allOf").iter().map(inner).find(|kind| kind != "any") {
            return kind;
        }
        if map.contains_key("properties") { "object".to_owned() } else { any() }
    }

    fn kind_of(&self, name: &str, schema: &Map<String, Value>, depth: usize) -> String {
        match (name, schema.get("items"), schema.get("format").and_then(Value::as_str)) {
            ("array", Some(items @ Value::Object(_)), _) => {
                format!("array of {}", self.kind(items, depth + 1))
            }
            ("string", _, Some(format)) => format!("string ({format})"),
            _ => name.to_owned(),
        }
    }
}

fn required(key: &str, parts: &[SchemaPart]) -> &'static str {
    let asks = |part: &Map<String, Value>| list(part, "required").iter().any(|one| one == key);
    let depends = |part: &Map<String, Value>| {
        entries(part, "dependentRequired").any(|(_, names)| {
            names.as_array().is_some_and(|names| names.iter().any(|one| one == key))
        })
    };
    if parts.iter().any(|(part, certain)| *certain && asks(part)) {
        "yes"
    } else if parts.iter().any(|(part, _)| asks(part) || depends(part)) {
        "sometimes"
    } else {
        "no"
    }
}

fn entries<'a>(
    schema: &'a Map<String, Value>,
    keyword: &str,
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let named = schema.get(keyword).and_then(Value::as_object);
    named.into_iter().flatten().map(|(name, value)| (name.as_str(), value))
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
    let mut distinct: Vec<String> = Vec::new();
    for kind in kinds {
        if !distinct.contains(&kind) {
            distinct.push(kind);
        }
    }
    distinct.join(" or ")
}

fn kind_of_value(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
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
