//! The output of a tool, read from the result of `tools/call`: or the tool's own error, or input requests.

use contract::{Contract, DeclaredError, codes};
use gate::{OutputPayload, PrintedJson, ToolError, ToolOutput};
use mcp::unreadable;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    ServerText, admission::TOOL_ERROR, content_blocks, server_text, settings::OutputFormat,
};

/// The longest text of a tool's own error that is passed on, in bytes.
const MAX_ERROR_BYTES: usize = 16_384;
/// The number of characters of a withheld text that the operator is shown.
const MAX_WITHHELD_CHARS: usize = 1_000;
/// The largest part of an invalid result that is quarantined, in bytes.
const MAX_QUARANTINED_BYTES: usize = 1_048_576;

/// The reason why a result has no output.
#[derive(Debug)]
pub(crate) enum MissingOutput {
    /// The tool reports an error (`isError`).
    Error(Box<ToolError>),
    /// The upstream wants input first (modern protocol).
    InputRequired(InputRequired),
}

/// An `input_required` result.
#[derive(Debug)]
pub(crate) struct InputRequired {
    /// The requests, by the upstream's own names.
    pub requests: Map<String, Value>,
    /// The state that the upstream wants back with the responses.
    pub request_state: Option<String>,
}

/// The fields of a result, parsed no deeper than needed.
#[derive(Deserialize)]
struct CallResultFields<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "structuredContent", deserialize_with = "present")]
    structured: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "isError", deserialize_with = "present")]
    is_error: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(default, rename = "resultType")]
    result_type: Option<Value>,
    #[serde(default, rename = "inputRequests")]
    input_requests: Option<Map<String, Value>>,
    #[serde(default, rename = "requestState")]
    request_state: Option<Value>,
}

/// Keeps a field that is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// A block of content; only its text is read.
#[derive(Deserialize)]
struct TextBlock<'a> {
    #[serde(rename = "type", default)]
    kind: Option<Value>,
    #[serde(borrow, default)]
    text: Option<std::borrow::Cow<'a, str>>,
}

/// Reads a result. Something that is not an output stands in the place of one: the gate checks it.
/// `errors` are those that the tool's contract declares.
pub(crate) fn read(
    json: &str,
    format: OutputFormat,
    require_is_error: bool,
    errors: &[DeclaredError],
) -> Result<ToolOutput, MissingOutput> {
    let fields: CallResultFields<'_> = match serde_json::from_str(json) {
        Ok(fields) if json.trim_ascii_start().starts_with('{') => fields,
        Ok(_) => return Ok(broken(json, "the result is not an object".into())),
        Err(error) => {
            let reason = format!("the result is not a `tools/call` result: {}", unreadable(&error));
            return Ok(broken(json, reason));
        }
    };
    match fields.result_type.as_ref().map(Value::as_str) {
        None | Some(Some("complete")) => {}
        Some(Some("input_required")) => {
            let request_state = fields.request_state.as_ref().and_then(Value::as_str);
            return Err(MissingOutput::InputRequired(InputRequired {
                request_state: request_state.map(str::to_owned),
                requests: fields.input_requests.unwrap_or_default(),
            }));
        }
        Some(_) => return Ok(broken(json, "unknown `resultType`".into())),
    }
    match fields.is_error.map(RawValue::get) {
        Some("true") => return Err(MissingOutput::Error(Box::new(own_error(&fields, errors)))),
        None if require_is_error => {
            return Ok(broken(json, "the result has no `isError` (require_is_error)".into()));
        }
        Some("false") | None => {}
        Some(_) => return Ok(broken(json, "`isError` is not true or false".into())),
    }
    let payload = match format {
        OutputFormat::Declared => structured(&fields),
        OutputFormat::Json => parsed_text(&fields),
        OutputFormat::Text => {
            texts(&fields).map(|text| OutputPayload::Json(json!({ "text": text })))
        }
        OutputFormat::Content => Ok(content(json, &fields)),
    };
    let output = payload.unwrap_or_else(|reason| {
        let text = quarantined(json);
        OutputPayload::Unreadable { text, reason }
    });
    Ok(ToolOutput { output, ..ToolOutput::default() })
}

/// Something that is not a result.
pub(crate) fn broken(json: &str, reason: String) -> ToolOutput {
    let text = quarantined(json);
    ToolOutput { output: OutputPayload::Broken { text, reason }, ..ToolOutput::default() }
}

/// The part of a result that is quarantined.
fn quarantined(json: &str) -> String {
    ServerText::new(json).within(MAX_QUARANTINED_BYTES).for_programs().to_owned()
}

/// The structured content: checked as a value, passed on as the text that it came in.
fn structured(fields: &CallResultFields<'_>) -> Result<OutputPayload, String> {
    let Some(raw) = fields.structured else { return Ok(OutputPayload::Missing) };
    PrintedJson::read(raw.to_owned())
        .map(OutputPayload::Printed)
        .map_err(|error| format!("cannot parse `structuredContent`: {error}"))
}

/// The one text, as JSON.
fn parsed_text(fields: &CallResultFields<'_>) -> Result<OutputPayload, String> {
    if fields.structured.is_some() {
        return structured(fields);
    }
    let text = texts(fields)?;
    serde_json::from_str(&text)
        .map(OutputPayload::Json)
        .map_err(|error| format!("the text of the result is not JSON: {}", unreadable(&error)))
}

/// All texts, if there is no other content.
fn texts(fields: &CallResultFields<'_>) -> Result<String, String> {
    let blocks = blocks(fields)?;
    let mut whole = String::new();
    for (index, block) in blocks.iter().enumerate() {
        let (Some("text"), Some(text)) =
            (block.kind.as_ref().and_then(Value::as_str), block.text.as_deref())
        else {
            return Err("the result has content that is not text".into());
        };
        if index > 0 {
            whole.push('\n');
        }
        whole.push_str(text);
    }
    Ok(whole)
}

fn blocks<'a>(fields: &CallResultFields<'a>) -> Result<Vec<TextBlock<'a>>, String> {
    let Some(raw) = fields.content else { return Err("the result has no `content`".into()) };
    serde_json::from_str(raw.get())
        .map_err(|error| format!("cannot parse `content`: {}", unreadable(&error)))
}

fn content(json: &str, fields: &CallResultFields<'_>) -> OutputPayload {
    // Blocks that are none are for the schema to judge, which names the part that is wrong.
    let any = |json: &str| serde_json::from_str::<Value>(json).ok();
    let blocks = fields.content.map(RawValue::get);
    match blocks.and_then(|json| content_blocks::known(json).or_else(|| any(json))) {
        Some(blocks) => match content_blocks::check(&blocks) {
            Ok(()) => OutputPayload::Json(json!({ "content": blocks })),
            Err(reason) => OutputPayload::Broken { text: quarantined(json), reason },
        },
        None => OutputPayload::Missing,
    }
}

/// The tool's own error. It is passed on as an error, whatever else the result has.
fn own_error(fields: &CallResultFields<'_>, errors: &[DeclaredError]) -> ToolError {
    if let Some(error) = toolgate_error(fields.meta, errors) {
        return error;
    }
    let blocks = blocks(fields).unwrap_or_default();
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block.text.as_deref()).collect();
    // No schema says what else an error may hold: of `structuredContent` nothing is passed on.
    let mut error = tool_error(TOOL_ERROR, &texts.join("\n"));
    if error.message.is_empty() {
        "the tool reports an error without a message".clone_into(&mut error.message);
    }
    error
}

/// An error with a message of the server, as models may read it. What is withheld from them is for the operator.
fn tool_error(code: &str, message: &str) -> ToolError {
    let text = ServerText::new(message.trim()).within(MAX_ERROR_BYTES);
    let operator = text.order().map(|what| {
        let shown = text.beginning(MAX_WITHHELD_CHARS);
        format!("an error text of the server is withheld: it {what}: {shown}")
    });
    ToolError { operator, ..ToolError::new(code, text.for_models()) }
}

/// The error that another Toolgate adds to its result, where the contract declares its code.
fn toolgate_error(meta: Option<&RawValue>, errors: &[DeclaredError]) -> Option<ToolError> {
    #[derive(Deserialize)]
    struct ToolgateMeta {
        #[serde(rename = "toolgate/error")]
        error: ToolgateError,
    }
    #[derive(Deserialize)]
    struct ToolgateError {
        code: String,
        message: String,
        #[serde(default)]
        details: Option<Value>,
    }
    // Most contracts declare none but our own.
    let meta = meta.filter(|meta| errors.len() > 1 && meta.get().len() <= MAX_ERROR_BYTES)?;
    let ToolgateError { code, message, mut details } =
        serde_json::from_str::<ToolgateMeta>(meta.get()).ok()?.error;
    let is_declared = code != TOOL_ERROR && errors.iter().any(|one| one.code == code);
    is_declared.then(|| {
        details.iter_mut().for_each(server_text::make_for_models);
        ToolError { details, ..tool_error(&code, &message) }
    })
}

/// A JSON-RPC error of the upstream as the tool's own error: the tool is gone, or refuses what its schema accepts.
pub(crate) fn from_rpc_error(message: &str, contract: &Contract) -> ToolError {
    let code = match contract.declared(TOOL_ERROR) {
        Some(_) => TOOL_ERROR,
        None => codes::INTERNAL.code,
    };
    tool_error(code, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str, format: OutputFormat) -> Result<ToolOutput, MissingOutput> {
        super::read(json, format, false, &[])
    }

    fn payload(json: &str, format: OutputFormat) -> OutputPayload {
        read(json, format).unwrap().output
    }

    fn reason(json: &str, format: OutputFormat) -> String {
        match payload(json, format) {
            OutputPayload::Unreadable { reason, .. } | OutputPayload::Broken { reason, .. } => {
                reason
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn structured_content_is_passed_on_as_it_came() {
        let json = r#"{"content":[],"structuredContent":{"b": 1.0,"a":"\u00e4"},"isError":false}"#;
        let OutputPayload::Printed(printed) = payload(json, OutputFormat::Declared) else {
            panic!()
        };
        let shown = format!("{printed:?}");
        assert!(shown.contains(r#"RawValue({"b": 1.0,"a":"\u00e4"})"#), "{shown}");
        // Whatever it is, it is the schema's to judge.
        for value in ["null", "[1]", "7", "\"x\""] {
            let json = format!(r#"{{"structuredContent":{value}}}"#);
            assert!(
                matches!(payload(&json, OutputFormat::Declared), OutputPayload::Printed(_)),
                "{value}"
            );
        }
        assert!(matches!(
            payload(r#"{"content":[]}"#, OutputFormat::Declared),
            OutputPayload::Missing
        ));
    }

    #[test]
    fn an_error_is_an_error_whatever_it_carries() {
        for json in [
            r#"{"isError":true,"content":[{"type":"text","text":"no such file"}]}"#,
            r#"{"isError":true,"content":[{"type":"text","text":"no such file"}],"structuredContent":{"a":1}}"#,
        ] {
            let Err(MissingOutput::Error(error)) = read(json, OutputFormat::Declared) else {
                panic!()
            };
            assert_eq!((&*error.code, &*error.message), (TOOL_ERROR, "no such file"));
        }
        for value in ["\"true\"", "1", "null", "[]"] {
            let json = format!(r#"{{"isError":{value},"structuredContent":{{}}}}"#);
            assert!(reason(&json, OutputFormat::Declared).contains("isError"), "{value}");
        }
    }

    #[test]
    fn what_must_be_said_is_missed() {
        let json = r#"{"structuredContent":{}}"#;
        let output = super::read(json, OutputFormat::Declared, true, &[]).unwrap().output;
        assert!(matches!(output, OutputPayload::Broken { .. }));
    }

    #[test]
    fn texts_are_joined_and_nothing_else_is_text() {
        let json = r#"{"content":[{"type":"text","text":"a\n"},{"type":"text","text":"ü"}]}"#;
        let OutputPayload::Json(value) = payload(json, OutputFormat::Text) else { panic!() };
        assert_eq!(value, serde_json::json!({ "text": "a\n\nü" }));
        let image = r#"{"content":[{"type":"image","data":"","mimeType":"image/png"}]}"#;
        assert!(reason(image, OutputFormat::Text).contains("not text"));
        assert!(reason("{}", OutputFormat::Text).contains("no `content`"));
        let OutputPayload::Json(value) = payload(image, OutputFormat::Content) else { panic!() };
        assert_eq!(value["content"][0]["type"], "image");
        let json = r#"{"content":[{"type":"text","text":"{\"a\":1}"}]}"#;
        let OutputPayload::Json(value) = payload(json, OutputFormat::Json) else { panic!() };
        assert_eq!(value, serde_json::json!({ "a": 1 }));
        assert!(
            reason(r#"{"content":[{"type":"text","text":"x"}]}"#, OutputFormat::Json)
                .contains("JSON")
        );
    }

    #[test]
    fn what_is_no_result_is_kept_for_quarantine() {
        for json in ["[]", "7", "null", r#"{"resultType":"task"}"#, r#"{"content":7,"isError":1}"#]
        {
            let payload = payload(json, OutputFormat::Declared);
            assert!(matches!(payload, OutputPayload::Broken { .. }), "{json}");
        }
        let deep = format!(r#"{{"structuredContent":{}{}}}"#, "[".repeat(500), "]".repeat(500));
        assert!(reason(&deep, OutputFormat::Declared).contains("cannot parse"));
    }

    #[test]
    fn input_requests_are_passed_on() {
        let json = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":"s"}"#;
        let Err(MissingOutput::InputRequired(required)) = read(json, OutputFormat::Declared) else {
            panic!()
        };
        assert_eq!((required.requests.len(), required.request_state.as_deref()), (1, Some("s")));
    }
}
