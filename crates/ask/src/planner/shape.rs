//! The schema of a plan, for endpoints that hold a model to one. They know parts of JSON Schema and pass over the
//! rest, each of them over another: so this is a coarse one, and the plan is checked afterwards in any case.

use serde_json::{Map, Value, json};

use crate::{candidates::Candidate, plan::MAX_ANSWER_CHARACTERS};

/// How deep a schema of arguments is followed.
const MAX_DEPTH: usize = 8;
/// How many parts a schema of arguments may have.
const MAX_PARTS: usize = 300;
/// Texts of arguments are no longer than the question, if that is short: a small model does not always find an end.
const MAX_BOUNDED_CHARACTERS: usize = 400;
const MIN_BOUND_CHARACTERS: usize = 64;

/// The schema of a plan that uses these tools.
pub(crate) fn shape<'a>(tools: impl Iterator<Item = &'a Candidate>, question: &str) -> Value {
    let length = question.chars().count();
    let bound = (length <= MAX_BOUNDED_CHARACTERS).then_some(length.max(MIN_BOUND_CHARACTERS));
    let mut forms: Vec<Value> = tools
        .map(|one| {
            let mut coarse = Coarse { root: &one.tool.contract.input_schema, bound, parts: 0 };
            closed(&[
                ("type", json!({ "const": "call_tool" })),
                ("server", json!({ "const": one.server })),
                ("tool", json!({ "const": one.name })),
                ("args", coarse.of(coarse.root, 0)),
            ])
        })
        .collect();
    forms.push(closed(&[
        ("type", json!({ "const": "final_answer" })),
        ("answer", json!({ "type": "string", "maxLength": MAX_ANSWER_CHARACTERS })),
        ("needs_more_info", json!({ "const": true })),
    ]));
    json!({ "anyOf": forms })
}

/// An object of exactly these, in this order.
pub(crate) fn closed(fields: &[(&str, Value)]) -> Value {
    let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
    let fields = fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone()));
    let properties: Map<_, _> = fields.collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    })
}

struct Coarse<'a> {
    root: &'a Value,
    bound: Option<usize>,
    parts: usize,
}

impl<'a> Coarse<'a> {
    /// The same schema with what every endpoint knows.
    fn of(&mut self, schema: &'a Value, depth: usize) -> Value {
        self.parts += 1;
        if depth > MAX_DEPTH || self.parts > MAX_PARTS {
            return json!({});
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return target.map_or_else(|| json!({}), |target| self.of(target, depth + 1));
        }
        for keyword in ["const", "enum"] {
            if let Some(values) = schema.get(keyword) {
                return json!({ keyword: values });
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = schema.get(keyword).and_then(Value::as_array) {
                let branches: Vec<_> =
                    branches.iter().map(|branch| self.of(branch, depth + 1)).collect();
                return json!({ "anyOf": branches });
            }
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("object") => self.object(schema, depth),
            Some("array") => {
                let items =
                    schema.get("items").map_or_else(|| json!({}), |one| self.of(one, depth + 1));
                json!({ "type": "array", "items": items })
            }
            Some("string") => {
                let own = schema.get("maxLength").and_then(Value::as_u64);
                let own = own.and_then(|most| usize::try_from(most).ok());
                match self.bound.into_iter().chain(own).min() {
                    Some(most) if most <= MAX_BOUNDED_CHARACTERS => {
                        json!({ "type": "string", "maxLength": most })
                    }
                    _ => json!({ "type": "string" }),
                }
            }
            Some("integer") => {
                let mut whole = json!({ "type": "integer" });
                for keyword in ["minimum", "maximum"] {
                    if let Some(bound) = schema.get(keyword).and_then(Value::as_i64) {
                        whole[keyword] = json!(bound);
                    }
                }
                whole
            }
            Some(plain) => json!({ "type": plain }),
            None => json!({}),
        }
    }

    fn object(&mut self, schema: &'a Value, depth: usize) -> Value {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return json!({ "type": "object" });
        };
        let shown: Map<_, _> = properties
            .iter()
            .map(|(name, property)| (name.clone(), self.of(property, depth + 1)))
            .collect();
        let required = schema.get("required").cloned().unwrap_or_else(|| json!([]));
        json!({
            "type": "object",
            "properties": shown,
            "required": required,
            "additionalProperties": false,
        })
    }
}
