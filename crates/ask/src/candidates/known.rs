//! Names that a question back to the person may use. What a tool says of itself in sentences is not among them: it
//! could hold an address that somebody wants people to open.

use std::collections::HashSet;

use serde_json::Value;

use super::Candidate;
use crate::policy;

/// How many parts of a schema are looked at.
const MAX_PARTS: usize = 2_000;

/// The names of tools, arguments and choices, and ids that descriptions of arguments have as examples, all in normal form.
pub(super) fn names(candidates: &[Candidate]) -> HashSet<String> {
    let mut known = HashSet::new();
    for one in candidates {
        known.insert(policy::normal(&one.server));
        known.insert(policy::normal(&one.name));
        known.insert(policy::normal(&one.tool.contract.name));
        let mut parts = 0;
        collect(&one.tool.contract.input_schema, &mut parts, &mut known);
    }
    known
}

fn collect(schema: &Value, parts: &mut usize, known: &mut HashSet<String>) {
    *parts += 1;
    let Value::Object(fields) = schema else { return };
    if *parts > MAX_PARTS {
        return;
    }
    for (keyword, value) in fields {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    known.insert(policy::normal(name));
                    let about = property.get("description").and_then(Value::as_str);
                    known.extend(about.into_iter().flat_map(examples));
                    collect(property, parts, known);
                }
            }
            ("enum", Value::Array(choices)) => {
                known.extend(choices.iter().filter_map(Value::as_str).map(policy::normal));
            }
            ("items" | "additionalProperties", schema) => collect(schema, parts, known),
            ("anyOf" | "oneOf" | "allOf", Value::Array(branches)) => {
                for branch in branches {
                    collect(branch, parts, known);
                }
            }
            _ => {}
        }
    }
}

/// Words that are plainly ids: letters, digits and dashes, and nothing that leads anywhere.
fn examples(about: &str) -> impl Iterator<Item = String> {
    let tokens =
        about.split(|one: char| one.is_whitespace() || matches!(one, ',' | ';' | '(' | ')'));
    let tokens = tokens.map(|token| token.trim_matches(['.', '"', '\'', '`', ':']));
    let is_id = |token: &&str| {
        token.len() <= 40
            && token.chars().any(|one| one.is_ascii_digit())
            && token.chars().any(|one| one.is_ascii_alphabetic())
            && token.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '-' | '_'))
    };
    tokens.filter(is_id).map(policy::normal)
}
