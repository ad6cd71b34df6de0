//! What a legacy server asks of us while it works on a request.

use bytes::Bytes;
use serde_json::{Value, json, value::RawValue};
use tokio::sync::oneshot;

use super::{Asked, incoming, outgoing};

/// The largest question, in bytes of JSON.
const MAX_QUESTION_BYTES: usize = 1 << 20;

/// What has to be done about a request of the server's.
#[derive(Debug)]
pub(crate) enum Question {
    /// It is answered by this message at once.
    Answered(Bytes),
    /// Somebody has to be asked. [`answer`] makes the message that goes back.
    Open(Asked, oneshot::Receiver<Value>),
}

/// Looks at a request of the server's.
pub(crate) fn look(id: &str, method: &str, params: Option<&RawValue>) -> Question {
    match method {
        "ping" => Question::Answered(outgoing::result(id, &json!({}))),
        "elicitation/create" | "sampling/createMessage" | "roots/list" => {
            let params = match params {
                None => Some(json!({})),
                Some(params) => incoming::value(params, MAX_QUESTION_BYTES),
            };
            let Some(params) = params else {
                let why =
                    format!("the parameters are no JSON of at most {MAX_QUESTION_BYTES} bytes");
                return Question::Answered(outgoing::error(id, INVALID_PARAMS, &why));
            };
            let (reply, answer) = oneshot::channel();
            Question::Open(Asked { method: method.to_owned(), params, reply }, answer)
        }
        _ => Question::Answered(unknown(id, "there is no such method here")),
    }
}

/// The message that answers a question, once somebody has, or has let go of it.
pub(crate) async fn answer(id: &str, answer: oneshot::Receiver<Value>) -> Bytes {
    match answer.await {
        Ok(result) => outgoing::result(id, &result),
        Err(_) => nobody(id),
    }
}

/// The message that answers a question which nobody can be asked.
pub(crate) fn nobody(id: &str) -> Bytes {
    unknown(id, "nobody can be asked that here")
}

const INVALID_PARAMS: i64 = -32_602;

fn unknown(id: &str, why: &str) -> Bytes {
    outgoing::error(id, outgoing::UNKNOWN_METHOD, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(message: &Bytes) -> &str {
        std::str::from_utf8(message).unwrap()
    }

    #[test]
    fn what_needs_nobody_is_answered_at_once() {
        let Question::Answered(pong) = look("7", "ping", None) else { panic!("asked") };
        assert_eq!(text(&pong), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
        let Question::Answered(no) = look("7", "tools/call", None) else { panic!("asked") };
        assert!(text(&no).contains("-32601"));
        let large = format!(r#"{{"message":"{}"}}"#, "x".repeat(MAX_QUESTION_BYTES));
        let large: &RawValue = serde_json::from_str(&large).unwrap();
        let Question::Answered(no) = look("7", "elicitation/create", Some(large)) else {
            panic!("asked")
        };
        assert!(text(&no).contains("-32602"));
    }

    #[tokio::test]
    async fn a_question_is_answered_or_let_go_of() {
        let ask = || match look("\"q\"", "elicitation/create", None) {
            Question::Open(asked, receiver) => (asked, receiver),
            Question::Answered(_) => panic!("answered"),
        };
        let (asked, receiver) = ask();
        asked.answer(json!({ "action": "accept" }));
        let message = answer("\"q\"", receiver).await;
        assert_eq!(text(&message), r#"{"jsonrpc":"2.0","id":"q","result":{"action":"accept"}}"#);
        let (asked, receiver) = ask();
        drop(asked);
        assert!(text(&answer("\"q\"", receiver).await).contains("-32601"));
    }
}
