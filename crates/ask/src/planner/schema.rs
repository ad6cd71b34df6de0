//! The schema of a plan, for endpoints that hold a model to one. They know parts of JSON Schema and pass over the
//! rest, each of them over another: so this is a coarse one, and the plan is checked afterwards in any case.

use serde_json::{Map, Value, json};

use crate::{
    candidates::Candidate,
    plan::{NO_TOOL, question_integers},
};

/// The depth to which a schema of arguments is followed.
const MAX_DEPTH: usize = 8;
/// The most parts that a schema of arguments may have.
const MAX_PARTS: usize = 300;
/// Texts of arguments are no longer than the question, if that is short: a small model does not always find an end.
const MAX_BOUNDED_CHARACTERS: u64 = 400;
const MIN_BOUND_CHARACTERS: u64 = 64;

/// The schema of a plan that uses these tools.
pub(crate) fn plan_schema(tools: &[&Candidate], question: &str) -> Value {
    let length = question.chars().count() as u64;
    let bound = (length <= MAX_BOUNDED_CHARACTERS).then_some(length.max(MIN_BOUND_CHARACTERS));
    let numbers = question_integers(question);
    let mut forms: Vec<Value> = tools
        .iter()
        .map(|one| {
            let mut coarse = CoarseSchema {
                root: &one.tool.contract.input_schema,
                bound,
                numbers: &numbers,
                parts: 0,
            };
            closed(&[
                ("type", json!({ "const": "call_tool" })),
                ("server", json!({ "const": one.server })),
                ("tool", json!({ "const": one.name })),
                ("args", coarse.of(coarse.root, 0)),
            ])
        })
        .collect();
    let names = tools.iter().map(|one| format!("{}.{}", one.server, one.name));
    let names: Vec<_> = names.chain([NO_TOOL.to_owned()]).collect();
    forms.push(closed(&[
        ("type", json!({ "const": "final_answer" })),
        ("tool", json!({ "enum": names })),
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

struct CoarseSchema<'a> {
    root: &'a Value,
    bound: Option<u64>,
    /// The whole numbers of the question.
    numbers: &'a [i64],
    parts: usize,
}

impl<'a> CoarseSchema<'a> {
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
        let Some(kind) = schema.get("type").and_then(Value::as_str) else { return json!({}) };
        let mut coarse = json!({ "type": kind });
        match kind {
            "object" => return self.object(schema, depth),
            "array" => {
                let items = schema.get("items");
                coarse["items"] = items.map_or_else(|| json!({}), |one| self.of(one, depth + 1));
            }
            "string" => {
                let own = schema.get("maxLength").and_then(Value::as_u64);
                let most = self.bound.into_iter().chain(own).min();
                if let Some(most) = most.filter(|most| *most <= MAX_BOUNDED_CHARACTERS) {
                    coarse["maxLength"] = json!(most);
                }
            }
            "integer" => {
                for keyword in ["minimum", "maximum"] {
                    if let Some(bound) = schema.get(keyword).and_then(Value::as_i64) {
                        coarse[keyword] = json!(bound);
                    }
                }
            }
            _ => {}
        }
        coarse
    }

    /// A property that may be left out. A whole number that is not in the question would be refused, and small models
    /// fill one in wherever they can: so it may only be one of the question, or is not there at all.
    fn optional(&mut self, schema: &'a Value, depth: usize) -> Option<Value> {
        let coarse = self.of(schema, depth);
        if coarse["type"] != "integer" {
            return Some(coarse);
        }
        (!self.numbers.is_empty()).then(|| json!({ "enum": self.numbers }))
    }

    fn object(&mut self, schema: &'a Value, depth: usize) -> Value {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return json!({ "type": "object" });
        };
        let required = schema.get("required").cloned().unwrap_or_else(|| json!([]));
        let is_required =
            |name: &str| required.as_array().is_some_and(|all| all.iter().any(|one| one == name));
        let mut shown = Map::new();
        for (name, property) in properties {
            let coarse = if is_required(name) {
                Some(self.of(property, depth + 1))
            } else {
                self.optional(property, depth + 1)
            };
            shown.extend(coarse.map(|coarse| (name.clone(), coarse)));
        }
        json!({
            "type": "object",
            "properties": shown,
            "required": required,
            "additionalProperties": false,
        })
    }
}
