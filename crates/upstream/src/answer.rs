//! What a server answered to a call, taken apart: the result, its own error, or its questions.

use contract::{Contract, codes};
use gate::{OutputPayload, PrintedJson, ToolError, ToolOutput};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json, value::RawValue};

use crate::admission::{Returns, TOOL_ERROR};

/// How much of a tool's own words about its failure is passed on, in bytes.
const MAX_ERROR_BYTES: usize = 16_384;
/// How much of an answer that is none is kept for quarantine, in bytes.
const MAX_KEPT_BYTES: usize = 1_048_576;

/// What came of a call.
#[derive(Debug)]
pub(crate) enum Came {
    /// A result, or something in place of one: the gate judges it.
    Answer(ToolOutput),
    /// The tool says itself that it failed.
    Failed(ToolError),
    /// The server wants to know something first (modern era).
    Asks(Asks),
}

/// What a server wants to know.
#[derive(Debug)]
pub(crate) struct Asks {
    /// Its questions, by its own names.
    pub questions: Map<String, Value>,
    /// What it wants to hear again with the answers.
    pub state: Option<String>,
}

/// The result of `tools/call`, not looked into deeper than needed.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "structuredContent", deserialize_with = "present")]
    structured: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "isError", deserialize_with = "present")]
    is_error: Option<&'a RawValue>,
    /// What a server says beside its answer.
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(default, rename = "resultType")]
    result_type: Option<Value>,
    #[serde(default, rename = "inputRequests")]
    input_requests: Option<Map<String, Value>>,
    #[serde(default, rename = "requestState")]
    request_state: Option<Value>,
}

/// A field that is null is there all the same.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// A block of content, as far as texts are concerned.
#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", default)]
    kind: Option<Value>,
    #[serde(borrow, default)]
    text: Option<std::borrow::Cow<'a, str>>,
}

/// Takes an answer apart.
pub(crate) fn read(json: &str, returns: Returns, require_is_error: bool) -> Came {
    let fields: Fields<'_> = match serde_json::from_str(json) {
        Ok(fields) if json.trim_ascii_start().starts_with('{') => fields,
        Ok(_) => return broken(json, "the answer is no object".into()),
        Err(error) => return broken(json, format!("the answer is no result: {error}")),
    };
    match fields.result_type.as_ref().map(Value::as_str) {
        None | Some(Some("complete")) => {}
        Some(Some("input_required")) => return asks(fields),
        Some(other) => {
            let shown: String = other.unwrap_or("not a text").chars().take(64).collect();
            return broken(json, format!("the answer is of the unknown type `{shown}`"));
        }
    }
    match fields.is_error.map(RawValue::get) {
        Some("true") => return Came::Failed(own_error(&fields)),
        None if require_is_error => {
            return broken(json, "the answer does not say `isError` (require_is_error)".into());
        }
        Some("false") | None => {}
        Some(_) => return broken(json, "`isError` is neither true nor false".into()),
    }
    let payload = match returns {
        Returns::Structured => structured(&fields),
        Returns::Json => parsed_text(&fields),
        Returns::Text => texts(&fields).map(|text| OutputPayload::Json(json!({ "text": text }))),
        Returns::Content => Ok(content(&fields)),
    };
    match payload {
        Ok(output) => Came::Answer(ToolOutput { output, ..ToolOutput::default() }),
        Err(reason) => {
            let text = cut(json, MAX_KEPT_BYTES).to_owned();
            let output = OutputPayload::Unreadable { text, reason };
            Came::Answer(ToolOutput { output, ..ToolOutput::default() })
        }
    }
}

/// What came is no result at all.
fn broken(json: &str, reason: String) -> Came {
    let text = cut(json, MAX_KEPT_BYTES).to_owned();
    let output = OutputPayload::Broken { text, reason };
    Came::Answer(ToolOutput { output, ..ToolOutput::default() })
}

fn asks(fields: Fields<'_>) -> Came {
    let state = fields.request_state.as_ref().and_then(Value::as_str).map(str::to_owned);
    Came::Asks(Asks { questions: fields.input_requests.unwrap_or_default(), state })
}

/// The structured content: judged as a value, passed on as the text that it came in.
fn structured(fields: &Fields<'_>) -> Result<OutputPayload, String> {
    let Some(raw) = fields.structured else { return Ok(OutputPayload::Missing) };
    PrintedJson::read(raw.to_owned())
        .map(OutputPayload::Printed)
        .map_err(|error| format!("`structuredContent` cannot be read: {error}"))
}

/// The one text, as JSON.
fn parsed_text(fields: &Fields<'_>) -> Result<OutputPayload, String> {
    if fields.structured.is_some() {
        return structured(fields);
    }
    let text = texts(fields)?;
    serde_json::from_str(&text)
        .map(OutputPayload::Json)
        .map_err(|error| format!("the text of the answer is no JSON: {error}"))
}

/// All texts, if there is nothing else.
fn texts(fields: &Fields<'_>) -> Result<String, String> {
    let blocks = blocks(fields)?;
    let mut whole = String::new();
    for (index, block) in blocks.iter().enumerate() {
        let (Some("text"), Some(text)) =
            (block.kind.as_ref().and_then(Value::as_str), block.text.as_deref())
        else {
            return Err("the answer has content that is not text".into());
        };
        if index > 0 {
            whole.push('\n');
        }
        whole.push_str(text);
    }
    Ok(whole)
}

fn blocks<'a>(fields: &Fields<'a>) -> Result<Vec<Block<'a>>, String> {
    let Some(raw) = fields.content else { return Err("the answer has no `content`".into()) };
    serde_json::from_str(raw.get()).map_err(|error| format!("`content` cannot be read: {error}"))
}

fn content(fields: &Fields<'_>) -> OutputPayload {
    let blocks = fields.content.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    match blocks {
        Some(blocks) => OutputPayload::Json(json!({ "content": blocks })),
        None => OutputPayload::Missing,
    }
}

/// What the tool itself says went wrong. It is passed on as an error, whatever else it carries.
fn own_error(fields: &Fields<'_>) -> ToolError {
    let blocks = blocks(fields).unwrap_or_default();
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block.text.as_deref()).collect();
    let whole = texts.join("\n");
    let message = match cut(&whole, MAX_ERROR_BYTES).trim() {
        "" => "the tool reports an error and says nothing about it".to_owned(),
        text => text.to_owned(),
    };
    let mut error = ToolError::new(TOOL_ERROR, message);
    let structured = fields.structured.filter(|raw| raw.get().len() <= MAX_ERROR_BYTES);
    let structured = structured.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    if let Some(value) = structured.filter(|value| !value.is_null()) {
        error.details = Some(json!({ "structured_content": value }));
    }
    error
}

/// The code and the message that a Toolgate gives to its own errors.
#[derive(Deserialize)]
struct Coded {
    #[serde(rename = "toolgate/error")]
    error: CodedError,
}

#[derive(Deserialize)]
struct CodedError {
    code: String,
    message: String,
    #[serde(default)]
    details: Option<Value>,
}

/// The same error in the word that the server has for it, where the contract knows that word.
pub(crate) fn in_its_word(json: &str, error: ToolError, contract: &Contract) -> ToolError {
    let fields: Option<Fields<'_>> = serde_json::from_str(json).ok();
    let meta =
        fields.and_then(|fields| fields.meta).filter(|meta| meta.get().len() <= MAX_ERROR_BYTES);
    let coded = meta.and_then(|meta| serde_json::from_str::<Coded>(meta.get()).ok());
    match coded.map(|coded| coded.error) {
        Some(own) if own.code != TOOL_ERROR && contract.declared(&own.code).is_some() => {
            let message = cut(&own.message, MAX_ERROR_BYTES).to_owned();
            ToolError { code: own.code, message, details: own.details, ..error }
        }
        _ => error,
    }
}

/// As much of a text as fits, cut between characters.
fn cut(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// A tool that is not there any more, or does not take what its schema takes, says so as an error of
/// the protocol.
pub(crate) fn of_rpc_error(message: &str, contract: &Contract) -> ToolError {
    let code = match contract.declared(TOOL_ERROR) {
        Some(_) => TOOL_ERROR,
        None => codes::INTERNAL.code,
    };
    ToolError::new(code, cut(message, MAX_ERROR_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(json: &str, returns: Returns) -> OutputPayload {
        match read(json, returns, false) {
            Came::Answer(answer) => answer.output,
            other => panic!("{other:?}"),
        }
    }

    fn reason(json: &str, returns: Returns) -> String {
        match payload(json, returns) {
            OutputPayload::Unreadable { reason, .. } | OutputPayload::Broken { reason, .. } => {
                reason
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn structured_content_is_passed_on_as_it_came() {
        let json = r#"{"content":[],"structuredContent":{"b": 1.0,"a":"\u00e4"},"isError":false}"#;
        let OutputPayload::Printed(printed) = payload(json, Returns::Structured) else { panic!() };
        let shown = format!("{printed:?}");
        assert!(shown.contains(r#"RawValue({"b": 1.0,"a":"\u00e4"})"#), "{shown}");
        // Whatever it is, it is the schema's to judge.
        for odd in ["null", "[1]", "7", "\"x\""] {
            let json = format!(r#"{{"structuredContent":{odd}}}"#);
            assert!(
                matches!(payload(&json, Returns::Structured), OutputPayload::Printed(_)),
                "{odd}"
            );
        }
        assert!(matches!(
            payload(r#"{"content":[]}"#, Returns::Structured),
            OutputPayload::Missing
        ));
    }

    #[test]
    fn an_error_is_an_error_whatever_it_carries() {
        for json in [
            r#"{"isError":true,"content":[{"type":"text","text":"no such file"}]}"#,
            r#"{"isError":true,"content":[{"type":"text","text":"no such file"}],"structuredContent":{"a":1}}"#,
        ] {
            let Came::Failed(error) = read(json, Returns::Structured, false) else { panic!() };
            assert_eq!((&*error.code, &*error.message), (TOOL_ERROR, "no such file"));
        }
        for odd in ["\"true\"", "1", "null", "[]"] {
            let json = format!(r#"{{"isError":{odd},"structuredContent":{{}}}}"#);
            assert!(reason(&json, Returns::Structured).contains("isError"), "{odd}");
        }
    }

    #[test]
    fn what_must_be_said_is_missed() {
        let json = r#"{"structuredContent":{}}"#;
        let Came::Answer(answer) = read(json, Returns::Structured, true) else { panic!() };
        assert!(matches!(answer.output, OutputPayload::Broken { .. }));
    }

    #[test]
    fn texts_are_joined_and_nothing_else_is_text() {
        let json = r#"{"content":[{"type":"text","text":"a\n"},{"type":"text","text":"ü"}]}"#;
        let OutputPayload::Json(value) = payload(json, Returns::Text) else { panic!() };
        assert_eq!(value, serde_json::json!({ "text": "a\n\nü" }));
        let image = r#"{"content":[{"type":"image","data":"","mimeType":"image/png"}]}"#;
        assert!(reason(image, Returns::Text).contains("not text"));
        assert!(reason("{}", Returns::Text).contains("no `content`"));
        let OutputPayload::Json(value) = payload(image, Returns::Content) else { panic!() };
        assert_eq!(value["content"][0]["type"], "image");
        let json = r#"{"content":[{"type":"text","text":"{\"a\":1}"}]}"#;
        let OutputPayload::Json(value) = payload(json, Returns::Json) else { panic!() };
        assert_eq!(value, serde_json::json!({ "a": 1 }));
        assert!(
            reason(r#"{"content":[{"type":"text","text":"x"}]}"#, Returns::Json).contains("JSON")
        );
    }

    #[test]
    fn what_is_no_result_is_kept_for_quarantine() {
        for json in ["[]", "7", "null", r#"{"resultType":"task"}"#, r#"{"content":7,"isError":1}"#]
        {
            let payload = payload(json, Returns::Structured);
            assert!(matches!(payload, OutputPayload::Broken { .. }), "{json}");
        }
        let deep = format!(r#"{{"structuredContent":{}{}}}"#, "[".repeat(500), "]".repeat(500));
        assert!(reason(&deep, Returns::Structured).contains("cannot be read"));
    }

    #[test]
    fn questions_are_handed_on() {
        let json = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":"s"}"#;
        let Came::Asks(asks) = read(json, Returns::Structured, false) else { panic!() };
        assert_eq!((asks.questions.len(), asks.state.as_deref()), (1, Some("s")));
    }
}
