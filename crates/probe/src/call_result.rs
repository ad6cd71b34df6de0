//! The shape of what a tool answers, whatever it was asked.

use contract::{Schema, json};
use serde_json::{Map, Value};

use super::{Finding, report::told, rules};

/// An answer, taken apart.
pub(crate) struct Answer {
    /// What it is.
    pub kind: Kind,
    /// What is wrong with its shape.
    pub findings: Vec<Finding>,
}

/// What an answer is.
pub(crate) enum Kind {
    /// A result.
    Result,
    /// The tool says that it failed, in these words.
    Error(String),
    /// It wants to know something first.
    Asks,
    /// Nothing that can be told.
    None,
}

/// Takes an answer apart, and holds it against the output schema, if there is one.
pub(crate) fn read(text: &str, output: Option<&Schema>) -> Answer {
    let none = |message: String| Answer {
        kind: Kind::None,
        findings: vec![Finding::new(&rules::RESULT_SHAPE, message)],
    };
    let fields = match json::parse(text.as_bytes()) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return none("it is no object".into()),
        Err(error) => return none(format!("it cannot be read: {error}")),
    };
    match fields.get("resultType").map(Value::as_str) {
        None | Some(Some("complete")) => {}
        Some(Some("input_required")) => return Answer { kind: Kind::Asks, findings: Vec::new() },
        Some(Some(other)) => return none(format!("`resultType` is `{}`", told(other))),
        Some(None) => return none("`resultType` is no text".into()),
    }
    let mut findings = Vec::new();
    let kind = match fields.get("isError") {
        Some(Value::Bool(true)) => Kind::Error(words(&fields)),
        None | Some(Value::Bool(false)) => Kind::Result,
        Some(_) => {
            let finding = Finding::new(&rules::IS_ERROR_TYPE, "it must be left out, true or false");
            findings.push(finding.at(["/isError".to_owned()]));
            Kind::None
        }
    };
    findings.extend(content(&fields));
    findings.extend(structured(&fields, &kind, output));
    Answer { kind, findings }
}

/// The texts of an answer.
fn words(fields: &Map<String, Value>) -> String {
    let blocks = fields.get("content").and_then(Value::as_array);
    let texts = blocks.into_iter().flatten().filter_map(|block| block.get("text")?.as_str());
    told(&texts.collect::<Vec<_>>().join(" "))
}

fn content(fields: &Map<String, Value>) -> Vec<Finding> {
    let bad = |place: String, message: String| {
        vec![Finding::new(&rules::CONTENT_SHAPE, message).at([place])]
    };
    let blocks = match fields.get("content") {
        None => return vec![Finding::new(&rules::CONTENT_MISSING, "there is no `content`")],
        Some(Value::Array(blocks)) => blocks,
        Some(_) => return bad("/content".into(), "`content` is no list".into()),
    };
    let problem = blocks.iter().enumerate().find_map(|(index, block)| {
        block_problem(block).map(|problem| (format!("/content/{index}"), problem))
    });
    problem.map(|(place, problem)| bad(place, problem)).unwrap_or_default()
}

/// What is wrong with a block of content.
fn block_problem(block: &Value) -> Option<String> {
    let Some(kind) = block.get("type").and_then(Value::as_str) else {
        return Some("a block has no `type`".into());
    };
    let texts: &[&str] = match kind {
        "text" => &["text"],
        "image" | "audio" => &["data", "mimeType"],
        "resource_link" => &["uri", "name"],
        "resource" => {
            let inside = block.get("resource");
            let has = |key: &str| inside.and_then(|inside| inside.get(key)?.as_str()).is_some();
            let whole = has("uri") && (has("text") || has("blob"));
            return (!whole)
                .then(|| "a `resource` has an object with `uri`, and `text` or `blob`".to_owned());
        }
        _ => return Some(format!("there are no blocks of the type `{}`", told(kind))),
    };
    let missing = texts.iter().find(|key| block.get(**key).and_then(Value::as_str).is_none())?;
    Some(format!("a block of the type `{kind}` has no text `{missing}`"))
}

fn structured(fields: &Map<String, Value>, kind: &Kind, output: Option<&Schema>) -> Vec<Finding> {
    let Some(schema) = output else { return Vec::new() };
    let Some(value) = fields.get("structuredContent") else {
        return match kind {
            Kind::Result => {
                vec![Finding::new(&rules::STRUCTURED_MISSING, "the result is only `content`")]
            }
            _ => Vec::new(),
        };
    };
    let violations = schema.violations(value);
    if !violations.is_empty() {
        let rule = match kind {
            Kind::Error(_) => &rules::STRUCTURED_IN_ERROR,
            _ => &rules::STRUCTURED_INVALID,
        };
        let pointers = violations.iter().map(|one| format!("/structuredContent{}", one.pointer));
        let message = contract::Violation::list(&violations);
        return vec![Finding::new(rule, message).at(pointers)];
    }
    let mirrored = || {
        let blocks = fields.get("content").and_then(Value::as_array);
        let mut texts =
            blocks.into_iter().flatten().filter_map(|block| block.get("text")?.as_str());
        texts.any(|text| json::parse(text.as_bytes()).is_ok_and(|said| said == *value))
    };
    match kind {
        Kind::Result if !mirrored() => {
            vec![Finding::new(&rules::TEXT_MIRROR, "no block of `content` is the same as JSON")]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(answer: &Value) -> Vec<&'static str> {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } },
            "required": ["n"] });
        let schema = Schema::compile_foreign(&schema).unwrap();
        let answer = read(&answer.to_string(), Some(&schema));
        answer.findings.iter().map(|one| one.rule.id).collect()
    }

    fn text(text: &str) -> Value {
        json!([{ "type": "text", "text": text }])
    }

    #[test]
    fn good_answers_pass() {
        let whole = json!({ "content": text("{\"n\":1}"), "structuredContent": { "n": 1 } });
        for answer in [
            whole,
            json!({ "content": text("no such thing"), "isError": true }),
            json!({ "resultType": "input_required", "inputRequests": {} }),
        ] {
            assert_eq!(found(&answer), [""; 0], "{answer}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let n = json!({ "n": 1 });
        for (answer, rule) in [
            (json!([]), "result-shape"),
            (json!({ "resultType": "surprise" }), "result-shape"),
            (json!({ "resultType": 7 }), "result-shape"),
            (json!({ "isError": "true", "content": [] }), "is-error-type"),
            (json!({ "structuredContent": n }), "content-missing"),
            (json!({ "content": {}, "structuredContent": n }), "content-shape"),
            (json!({ "content": ["x"], "structuredContent": n }), "content-shape"),
            (json!({ "content": [{ "type": "text" }], "structuredContent": n }), "content-shape"),
            (json!({ "content": [{ "type": "x" }], "structuredContent": n }), "content-shape"),
            (json!({ "content": [{ "type": "resource", "resource": {} }] }), "content-shape"),
            (json!({ "content": text("x") }), "structured-missing"),
            (json!({ "content": [], "structuredContent": null }), "structured-invalid"),
            (json!({ "content": [], "structuredContent": { "n": "1" } }), "structured-invalid"),
            (
                json!({ "content": [], "isError": true, "structuredContent": {} }),
                "structured-in-error",
            ),
            (json!({ "content": text("{\"n\":2}"), "structuredContent": n }), "text-mirror"),
        ] {
            assert!(found(&answer).contains(&rule), "{rule}: {:?} {answer}", found(&answer));
        }
    }
}
