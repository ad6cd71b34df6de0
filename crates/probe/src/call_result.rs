//! Parses the result of a call, and checks its shape.

use contract::{Schema, json};
use serde_json::{Map, Value};

use super::{ProbeFinding, report::shown_text, rules};

pub(crate) struct ParsedResult {
    pub kind: ResultKind,
    /// The findings about its shape.
    pub findings: Vec<ProbeFinding>,
}

pub(crate) enum ResultKind {
    /// An output.
    Result,
    /// An error of the tool, with its text.
    Error(String),
    /// Input requests.
    Asks,
    /// Something else.
    None,
}

/// Parses a result, and checks it against the output schema, if there is one.
pub(crate) fn read(text: &str, output: Option<&Schema>) -> ParsedResult {
    let none = |message: String| ParsedResult {
        kind: ResultKind::None,
        findings: vec![ProbeFinding::new(&rules::RESULT_SHAPE, message)],
    };
    let fields = match json::parse(text.as_bytes()) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return none("it is not an object".into()),
        Err(error) => return none(format!("cannot parse it: {error}")),
    };
    match fields.get("resultType").map(Value::as_str) {
        None | Some(Some("complete")) => {}
        Some(Some("input_required")) => {
            return ParsedResult { kind: ResultKind::Asks, findings: Vec::new() };
        }
        Some(Some(other)) => return none(format!("`resultType` is `{}`", shown_text(other))),
        Some(None) => return none("`resultType` is not a string".into()),
    }
    let mut findings = Vec::new();
    let kind = match fields.get("isError") {
        Some(Value::Bool(true)) => ResultKind::Error(words(&fields)),
        None | Some(Value::Bool(false)) => ResultKind::Result,
        Some(_) => {
            let finding =
                ProbeFinding::new(&rules::IS_ERROR_TYPE, "it must be true, false or left out");
            findings.push(finding.at(["/isError".to_owned()]));
            ResultKind::None
        }
    };
    findings.extend(content(&fields));
    findings.extend(structured(&fields, &kind, output));
    ParsedResult { kind, findings }
}

/// The texts of a result.
fn words(fields: &Map<String, Value>) -> String {
    let blocks = fields.get("content").and_then(Value::as_array);
    let texts = blocks.into_iter().flatten().filter_map(|block| block.get("text")?.as_str());
    shown_text(&texts.collect::<Vec<_>>().join(" "))
}

fn content(fields: &Map<String, Value>) -> Vec<ProbeFinding> {
    let bad = |place: String, message: String| {
        vec![ProbeFinding::new(&rules::CONTENT_SHAPE, message).at([place])]
    };
    let blocks = match fields.get("content") {
        None => return vec![ProbeFinding::new(&rules::CONTENT_MISSING, "`content` is missing")],
        Some(Value::Array(blocks)) => blocks,
        Some(_) => return bad("/content".into(), "`content` is not a list".into()),
    };
    let problem = blocks.iter().enumerate().find_map(|(index, block)| {
        block_problem(block).map(|problem| (format!("/content/{index}"), problem))
    });
    problem.map(|(place, problem)| bad(place, problem)).unwrap_or_default()
}

/// The problem of a block of content.
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
            return (!whole).then(|| {
                "a `resource` needs an object with `uri`, and `text` or `blob`".to_owned()
            });
        }
        _ => return Some(format!("unknown block type `{}`", shown_text(kind))),
    };
    let missing = texts.iter().find(|key| block.get(**key).and_then(Value::as_str).is_none())?;
    Some(format!("a block of the type `{kind}` has no `{missing}`"))
}

fn structured(
    fields: &Map<String, Value>,
    kind: &ResultKind,
    output: Option<&Schema>,
) -> Vec<ProbeFinding> {
    let Some(schema) = output else { return Vec::new() };
    let Some(value) = fields.get("structuredContent") else {
        return match kind {
            ResultKind::Result => {
                vec![ProbeFinding::new(
                    &rules::STRUCTURED_MISSING,
                    "`structuredContent` is missing",
                )]
            }
            _ => Vec::new(),
        };
    };
    let violations = schema.violations(value);
    if !violations.is_empty() {
        let rule = match kind {
            ResultKind::Error(_) => &rules::STRUCTURED_IN_ERROR,
            _ => &rules::STRUCTURED_INVALID,
        };
        let pointers = violations.iter().map(|one| format!("/structuredContent{}", one.pointer));
        let message = contract::Violation::list(&violations);
        return vec![ProbeFinding::new(rule, message).at(pointers)];
    }
    let mirrored = || {
        let blocks = fields.get("content").and_then(Value::as_array);
        let mut texts =
            blocks.into_iter().flatten().filter_map(|block| block.get("text")?.as_str());
        texts.any(|text| json::parse(text.as_bytes()).is_ok_and(|said| said == *value))
    };
    match kind {
        ResultKind::Result if !mirrored() => {
            vec![ProbeFinding::new(&rules::TEXT_MIRROR, "no text block has the same JSON")]
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
    fn valid_results_pass() {
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
    fn problems_are_found() {
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
