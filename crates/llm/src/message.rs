//! The messages of an endpoint, piece by piece or whole.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::Error;

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// It had said everything.
    Stop,
    /// It was not allowed to write more.
    Length,
    /// Something else: a filter, a call of a tool.
    Other,
}

/// A piece of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub text: String,
    pub finish: Option<Finish>,
    /// True if there was a choice in it at all.
    pub has_choice: bool,
    /// The model that the endpoint says it is.
    pub model: Option<String>,
}

/// The most of a model's name that is kept, in characters.
const MAX_NAME_CHARACTERS: usize = 200;

#[derive(Deserialize)]
struct ChatMessage<'a> {
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    error: Option<Value>,
    model: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Option<MessageText<'a>>,
    #[serde(borrow)]
    message: Option<MessageText<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct MessageText<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
}

/// Most write a text, some a list of parts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content<'a> {
    #[serde(borrow)]
    Text(Cow<'a, str>),
    Parts(Vec<ContentPart>),
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct ContentPart {
    #[serde(default)]
    text: String,
}

/// Where a text is no JSON, without a word of it: it may be the question, and so a transcript.
fn place(error: &serde_json::Error) -> String {
    format!("at line {}, column {}", error.line(), error.column())
}

/// Reads one message: a piece of a stream, or all of an answer.
pub(crate) fn read(json: &[u8]) -> Result<Piece, Error> {
    let message: ChatMessage<'_> =
        serde_json::from_slice(json).map_err(|error| Error::Unreadable {
            problem: "it is not the JSON of a chat completion",
            operator: Some(place(&error)),
        })?;
    // Some write `"error": null`, and some an empty text.
    if message.error.is_some_and(|error| !error.is_null() && error != "") {
        return Err(Error::Failed);
    }
    let name = message.model.as_ref().and_then(Value::as_str);
    let model = name.map(|name| name.chars().take(MAX_NAME_CHARACTERS).collect());
    // A last event about the cost has none; an answer without any is told at its end.
    let choices = message.choices.unwrap_or_default();
    // Of several choices, which nobody asked for, the first.
    let Some(choice) = choices.into_iter().next() else {
        return Ok(Piece { text: String::new(), finish: None, has_choice: false, model });
    };
    let said = choice.delta.or(choice.message).and_then(|said| said.content);
    let text = match said {
        Some(Content::Text(text)) => text.into_owned(),
        Some(Content::Parts(parts)) => parts.into_iter().map(|part| part.text).collect(),
        Some(Content::Other(_)) | None => String::new(),
    };
    let finish = choice.finish_reason.map(|reason| match &*reason {
        "stop" => Finish::Stop,
        "length" => Finish::Length,
        _ => Finish::Other,
    });
    Ok(Piece { text, finish, has_choice: true, model })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_many_servers_are_read() {
        let check = |json: &str, text: &str, finish: Option<Finish>| {
            let piece = read(json.as_bytes()).unwrap();
            assert_eq!((piece.text.as_str(), piece.finish), (text, finish), "{json}");
        };
        check(r#"{"choices":[{"delta":{"content":"Hi"},"finish_reason":null}]}"#, "Hi", None);
        check(r#"{"choices":[{"delta":{"role":"assistant","content":null}}]}"#, "", None);
        check(r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#, "", Some(Finish::Stop));
        check(r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#, "", Some(Finish::Length));
        check(r#"{"choices":[{"finish_reason":"tool_calls"}]}"#, "", Some(Finish::Other));
        check(r#"{"choices":[],"usage":{"total_tokens":3}}"#, "", None);
        check(r#"{"choices":[{"message":{"content":"a \"b\""}}],"error":null}"#, "a \"b\"", None);
        check(
            r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"text":"b"}]}}]}"#,
            "ab",
            None,
        );
        check(r#"{"choices":[{"delta":{"content":7}}]}"#, "", None);
    }

    #[test]
    fn what_is_no_piece_is_told() {
        let word = |json: &str| read(json.as_bytes()).unwrap_err().word();
        for json in ["", "hello", "[]", r#"{"choices":7}"#, "\u{0}", "{\"choices\":[{\"delta"] {
            assert_eq!(word(json), "bad_answer", "{json:?}");
        }
        let error = read(br#"{"error":{"message":"no room\u001b[2J"}}"#).unwrap_err();
        assert_eq!(error.word(), "model_failed");
        assert!(!format!("{error:?} {error}").contains("room"), "{error}");
        assert!(!read(br#"{"usage":{"total_tokens":3}}"#).unwrap().has_choice);
        assert!(read(br#"{"choices":[{"delta":{}}],"error":""}"#).unwrap().has_choice);
    }
}
