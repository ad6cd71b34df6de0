//! A result of a tool, and the schema that several results share.

use serde_json::{Value, json};
use upstream::settings::OutputFormat;
use workbench::infer;

/// The result of one call.
#[derive(Debug, Clone, PartialEq)]
pub enum Sample {
    /// Structured content, or a bare value; and the text beside it.
    Structured(Value),
    /// Text and nothing else.
    Text(String),
    /// Blocks of content that are not all text.
    Content(Vec<Value>),
    /// An error that the tool reports itself.
    Error,
}

impl Sample {
    /// Reads a value: a result of `tools/call`, a message with one, or the bare value.
    pub fn read(mut value: Value) -> Self {
        if value.get("jsonrpc").is_some() {
            if value.get("error").is_some() {
                return Self::Error;
            }
            if let Some(result) = value.get_mut("result") {
                value = result.take();
            }
        }
        if value.get("isError").is_some_and(|error| *error == json!(true)) {
            return Self::Error;
        }
        let block = |one: &Value| one.get("type").is_some_and(Value::is_string);
        let blocks = value
            .get("content")
            .and_then(Value::as_array)
            .filter(|all| all.iter().all(block))
            .cloned();
        if let Some(structured) = value.get_mut("structuredContent") {
            return Self::Structured(structured.take());
        }
        match blocks {
            Some(blocks) => Self::of_blocks(blocks),
            None => Self::Structured(value),
        }
    }

    /// Reads a stored result of a tool with this output format.
    pub fn kept(value: Value, output: OutputFormat) -> Self {
        let text = value.as_object().filter(|all| all.len() == 1).and_then(|all| all.get("text"));
        match (output, &value) {
            // A result that could not be read is stored as text.
            (_, Value::String(text)) => match contract::json::parse(text.as_bytes()) {
                Ok(value @ Value::Object(_)) => Self::read(value),
                _ => Self::Text(text.clone()),
            },
            // One that is read as JSON now may have been text when it was called.
            (OutputFormat::Text | OutputFormat::Json, _) if text.is_some_and(Value::is_string) => {
                Self::Text(text.and_then(Value::as_str).unwrap_or_default().to_owned())
            }
            (OutputFormat::Json, value) => Self::Text(value.to_string()),
            (OutputFormat::Content, _) => Self::read(value),
            _ => Self::Structured(value),
        }
    }

    fn of_blocks(blocks: Vec<Value>) -> Self {
        let text = |block: &Value| match block.get("type").and_then(Value::as_str) {
            Some("text") => block.get("text").and_then(Value::as_str).map(str::to_owned),
            _ => None,
        };
        let texts: Option<Vec<String>> = blocks.iter().map(text).collect();
        match texts {
            // The gate joins the texts of a result in the same way.
            Some(texts) => Self::Text(texts.join("\n")),
            None => Self::Content(blocks),
        }
    }
}

/// The output of a tool, as inferred.
#[derive(Debug, PartialEq)]
pub struct Proposal {
    pub output: OutputFormat,
    /// The output schema, unless the format has one of its own.
    pub schema: Option<Value>,
    /// Remarks for the person who reads it.
    pub remarks: Vec<String>,
}

/// Infers the output from these results.
pub fn propose(samples: &[Sample]) -> Proposal {
    let structured: Vec<Value> = samples
        .iter()
        .filter_map(|one| match one {
            Sample::Structured(value) => Some(value.clone()),
            _ => None,
        })
        .collect();
    if structured.len() == samples.len() {
        return inferred(OutputFormat::Declared, &structured);
    }
    let mut remarks = Vec::new();
    if !structured.is_empty() {
        remarks.push(format!(
            "only {} of {} results have structured content: it is not used",
            structured.len(),
            samples.len()
        ));
    }
    let parsed: Option<Vec<Value>> = samples.iter().map(json_of).collect();
    if let Some(values) = parsed {
        let mut proposal = inferred(OutputFormat::Json, &values);
        proposal.remarks.extend(remarks);
        return proposal;
    }
    let is_text = |one: &Sample| matches!(one, Sample::Text(_));
    let output =
        if samples.iter().all(is_text) { OutputFormat::Text } else { OutputFormat::Content };
    Proposal { output, schema: None, remarks }
}

/// The JSON object or array in a text. A number may be prose.
fn json_of(sample: &Sample) -> Option<Value> {
    let Sample::Text(text) = sample else { return None };
    let value = contract::json::parse(text.as_bytes()).ok()?;
    (value.is_object() || value.is_array()).then_some(value)
}

fn inferred(output: OutputFormat, values: &[Value]) -> Proposal {
    let mut remarks = Vec::new();
    if values.len() == 1 {
        remarks
            .push("the schema is inferred from 1 result: give more results, or edit it".to_owned());
    }
    Proposal { output, schema: Some(infer::infer(values)), remarks }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        json!({ "content": [{ "type": "text", "text": text }] })
    }

    #[test]
    fn a_result_is_told_from_a_bare_value() {
        let read = Sample::read;
        let structured = |value: Value| Sample::Structured(value);
        assert_eq!(
            read(json!({ "structuredContent": { "n": 1 }, "content": [] })),
            structured(json!({ "n": 1 }))
        );
        assert_eq!(
            read(json!({ "jsonrpc": "2.0", "id": 1, "result": text("a") })),
            Sample::Text("a".into())
        );
        assert_eq!(
            read(json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": 1 } })),
            Sample::Error
        );
        assert_eq!(read(json!({ "isError": true, "content": [] })), Sample::Error);
        assert_eq!(read(json!({ "n": 1 })), structured(json!({ "n": 1 })));
        assert_eq!(read(json!([1])), structured(json!([1])));
        let prose = json!({ "content": "of a page" });
        assert_eq!(read(prose.clone()), structured(prose));
        let image = json!([{ "type": "image", "data": "", "mimeType": "image/png" }]);
        assert!(matches!(read(json!({ "content": image })), Sample::Content(_)));
    }

    #[test]
    fn what_is_proposed_is_what_all_results_have_in_common() {
        let propose = |values: &[Value]| {
            let samples: Vec<_> = values.iter().cloned().map(Sample::read).collect();
            let Proposal { output, schema, .. } = propose(&samples);
            (output, schema.is_some())
        };
        assert_eq!(propose(&[json!({ "n": 1 })]), (OutputFormat::Declared, true));
        assert_eq!(propose(&[text("{\"n\":1}"), text("[]")]), (OutputFormat::Json, true));
        assert_eq!(propose(&[text("{\"n\":1}"), text("none")]), (OutputFormat::Text, false));
        assert_eq!(propose(&[text("7")]), (OutputFormat::Text, false));
        let image = json!({ "content": [{ "type": "image", "data": "" }] });
        assert_eq!(propose(&[text("a"), image]), (OutputFormat::Content, false));
        assert_eq!(propose(&[json!({ "n": 1 }), text("a")]), (OutputFormat::Content, false));
    }

    #[test]
    fn what_was_kept_is_what_came() {
        let kept = Sample::kept(json!({ "text": "a" }), OutputFormat::Text);
        assert_eq!(kept, Sample::Text("a".into()));
        let kept = Sample::kept(json!({ "text": "a" }), OutputFormat::Declared);
        assert_eq!(kept, Sample::Structured(json!({ "text": "a" })));
        let unread = json!(text("b").to_string());
        assert_eq!(Sample::kept(unread, OutputFormat::Declared), Sample::Text("b".into()));
        let kept = Sample::kept(json!({ "n": 1 }), OutputFormat::Json);
        assert_eq!(kept, Sample::Text("{\"n\":1}".into()));
        let kept = Sample::kept(json!({ "content": [] }), OutputFormat::Content);
        assert_eq!(kept, Sample::Text(String::new()));
    }
}
