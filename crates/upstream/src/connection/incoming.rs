//! The messages of a server, as a connection acts on them.

use bytes::Bytes;
use mcp::{
    Id, InputMethod, LineEdges, ListKind, Message, Notification, Response, RpcError, bounded_value,
    code,
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{InterimMessage, RequestError, ServerInputRequest, discarded::DiscardCounter};

/// The largest input request, in bytes of JSON.
const MAX_INPUT_REQUEST_BYTES: usize = 1 << 20;
/// The number of messages of one batch that are read (2025-03-26).
const MAX_BATCH: usize = 1_000;

/// A message of a server.
#[derive(Debug)]
pub(crate) enum IncomingMessage {
    /// The response to a request, with its id where it has one that we could have given.
    Response(Option<u64>, Result<Response, RequestError>),
    /// The progress of the request with that id.
    Progress(u64, InterimMessage),
    /// A log message, of a request that is not named.
    Log(InterimMessage),
    /// A listing may have changed.
    ListChanged(ListKind),
    /// A request of the server's to which this is the response.
    Answered(Bytes),
    /// A request of the server's that somebody has to answer.
    InputRequest(OpenInputRequest),
    /// The server does not want the response to a request of its own any more.
    InputCancelled(Id),
}

/// An input request that waits for its response.
#[derive(Debug)]
pub(crate) struct OpenInputRequest {
    /// The server's own id of it.
    pub(crate) id: Id,
    /// The request of ours that it belongs to, where the server repeats the progress token.
    pub(crate) request_id: Option<u64>,
    pub(crate) request: ServerInputRequest,
    pub(crate) response: oneshot::Receiver<Value>,
}

impl OpenInputRequest {
    /// Waits until somebody has responded, or has dropped the request; the message that goes back.
    pub(crate) async fn encoded_response(id: &Id, response: oneshot::Receiver<Value>) -> Bytes {
        match response.await {
            Ok(result) => encode(id, Ok(result)),
            Err(_) => nobody_to_ask(id),
        }
    }
}

/// The response to an input request that nobody can be asked.
pub(crate) fn nobody_to_ask(id: &Id) -> Bytes {
    let message = "no client is connected that can answer this";
    encode(id, Err(RpcError::new(code::METHOD_NOT_FOUND, 200, message)))
}

fn encode(id: &Id, result: Result<Value, RpcError>) -> Bytes {
    let response = result.map(|value| Response::from(value.to_string().into_bytes()));
    mcp::encode_response(id, &response).into()
}

/// Reads one message, or a batch of them (2025-03-26). What is not a message is counted.
pub(crate) fn for_each(
    bytes: &Bytes,
    discarded: &DiscardCounter,
    mut take: impl FnMut(IncomingMessage),
) {
    if !mcp::is_batch(bytes) {
        return one(bytes, discarded, &mut take);
    }
    match mcp::split_batch(bytes, MAX_BATCH) {
        Ok((messages, _)) => messages.iter().for_each(|message| one(message, discarded, &mut take)),
        Err(error) => discarded.malformed(bytes, &error),
    }
}

fn one(bytes: &Bytes, discarded: &DiscardCounter, take: &mut impl FnMut(IncomingMessage)) {
    let message = match Message::read(bytes) {
        Ok(message) => message,
        Err(_) if bytes.trim_ascii().is_empty() => return,
        Err(malformed) => {
            discarded.malformed(bytes, &malformed.error);
            // Nobody has to wait for a response that has come, whatever is wrong with it.
            if let Some(id) = malformed_response_id(bytes) {
                let error = RequestError::malformed(bytes, &malformed.error);
                take(IncomingMessage::Response(Some(id), Err(error)));
            }
            return;
        }
    };
    let incoming = match message {
        Message::Response { id, result } => {
            let id = id.and_then(|id| id.number());
            let response = Response::read(bytes, result).map_err(RequestError::Rpc);
            Some(IncomingMessage::Response(id, response))
        }
        Message::Notification { method, params } => match Notification::read(&method, params) {
            Notification::Progress(token, progress) => {
                Some(IncomingMessage::Progress(token, InterimMessage::Progress(progress)))
            }
            Notification::Log(message) => Some(IncomingMessage::Log(InterimMessage::Log(message))),
            Notification::ListChanged(list) => Some(IncomingMessage::ListChanged(list)),
            Notification::Cancelled(id) => Some(IncomingMessage::InputCancelled(id)),
            Notification::Other => None,
        },
        Message::Request(request) => {
            Some(server_request(request.id, &request.method, request.params))
        }
    };
    if let Some(incoming) = incoming {
        take(incoming);
    }
}

/// What tells a response from other messages, before either is read.
#[derive(Deserialize)]
struct MessageForm<'a> {
    #[serde(borrow)]
    jsonrpc: Option<&'a str>,
    method: Option<IgnoredAny>,
}

/// The id of the response that a line seems to be. A line of a log may have an id too, but does not say `jsonrpc`.
fn malformed_response_id(line: &[u8]) -> Option<u64> {
    memchr::memmem::find(line, br#""jsonrpc""#)?;
    // A request has an id of the peer's, and what is JSON but no JSON-RPC 2.0 is no response of any kind.
    if let Ok(fields) = serde_json::from_slice::<MessageForm>(line)
        && (fields.method.is_some() || fields.jsonrpc != Some("2.0"))
    {
        return None;
    }
    LineEdges::of(line).response_id()
}

fn server_request(id: Id, method: &str, params: Option<&str>) -> IncomingMessage {
    if method == "ping" {
        return IncomingMessage::Answered(encode(&id, Ok(json!({}))));
    }
    let Some(method) = InputMethod::parse(method) else {
        let error = RpcError::method_not_found(method);
        return IncomingMessage::Answered(encode(&id, Err(error)));
    };
    let json = params.unwrap_or("{}");
    let Some(params) = bounded_value(json, MAX_INPUT_REQUEST_BYTES) else {
        let message = format!("params must be JSON of at most {MAX_INPUT_REQUEST_BYTES} bytes");
        let error = RpcError::invalid_params(message);
        return IncomingMessage::Answered(encode(&id, Err(error)));
    };
    let (sender, response) = oneshot::channel();
    let request_id = progress_token(json);
    let request = ServerInputRequest { method, params, response: sender };
    IncomingMessage::InputRequest(OpenInputRequest { id, request_id, request, response })
}

/// The request that an input request belongs to, where the server repeats the token that we gave.
fn progress_token(params: &str) -> Option<u64> {
    #[derive(Deserialize)]
    struct TokenParams {
        #[serde(rename = "_meta")]
        meta: TokenMeta,
    }
    #[derive(Deserialize)]
    struct TokenMeta {
        #[serde(rename = "progressToken")]
        token: u64,
    }
    serde_json::from_str::<TokenParams>(params).ok().map(|params| params.meta.token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<IncomingMessage>, u64) {
        let discarded = DiscardCounter::default();
        let mut all = Vec::new();
        for_each(&Bytes::copy_from_slice(text.as_bytes()), &discarded, |one| all.push(one));
        (all, discarded.get().malformed)
    }

    fn answered(method: &str, params: &str) -> Option<String> {
        let text = format!(r#"{{"jsonrpc":"2.0","id":"q","method":"{method}","params":{params}}}"#);
        match read(&text).0.pop() {
            Some(IncomingMessage::Answered(bytes)) => {
                Some(String::from_utf8(bytes.to_vec()).unwrap())
            }
            _ => None,
        }
    }

    #[test]
    fn a_batch_is_read_message_by_message() {
        let text = r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"x":1},[],
            {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}]"#;
        let (messages, malformed) = read(text);
        assert!(matches!(
            messages[..],
            [
                IncomingMessage::Response(Some(1), Ok(_)),
                IncomingMessage::ListChanged(ListKind::Tools)
            ]
        ));
        assert_eq!(malformed, 2);
        assert_eq!(read("[").1, 1);
        assert_eq!(read("\r").1, 0, "an empty line is nothing");
    }

    #[test]
    fn nobody_waits_for_a_response_that_is_none() {
        for text in [
            r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"other":1}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"v":NaN}}"#,
        ] {
            let (messages, malformed) = read(text);
            let [IncomingMessage::Response(Some(7), Err(RequestError::Malformed { .. }))] =
                &messages[..]
            else {
                panic!("{text}: {messages:?}");
            };
            assert_eq!(malformed, 1);
        }
        for text in [
            r#"{"jsonrpc":"2.0","id":7,"method":5}"#,
            r#"{"jsonrpc":"2.0","method":5,"params":{},"id":7}"#,
            r#"{"id":7,"result":{}}"#,
            r#"{"jsonrpc":"1.0","id":7,"result":{}}"#,
        ] {
            assert!(read(text).0.is_empty(), "{text}");
        }
    }

    #[test]
    fn what_needs_nobody_is_answered_at_once() {
        let pong = r#"{"jsonrpc":"2.0","id":"q","result":{}}"#;
        assert_eq!(answered("ping", "{}").as_deref(), Some(pong));
        assert!(answered("tools/call", "{}").unwrap().contains("-32601"));
        let large = format!(r#"{{"message":"{}"}}"#, "x".repeat(MAX_INPUT_REQUEST_BYTES));
        assert!(answered("elicitation/create", &large).unwrap().contains("-32602"));
        assert_eq!(answered("roots/list", "{}"), None);
    }

    #[tokio::test]
    async fn an_input_request_is_answered_or_declined() {
        for (answer, expected) in [
            (Some(json!({ "action": "accept" })), r#""result":{"action":"accept"}"#),
            (None, r#""error":{"code":-32601"#),
        ] {
            let text = r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create",
                "params":{"_meta":{"progressToken":7}}}"#;
            let Some(IncomingMessage::InputRequest(open)) = read(text).0.pop() else {
                panic!("not asked");
            };
            assert_eq!(open.request_id, Some(7));
            match answer {
                Some(answer) => open.request.respond(answer),
                None => drop(open.request),
            }
            let message = OpenInputRequest::encoded_response(&open.id, open.response).await;
            let message = std::str::from_utf8(&message).unwrap();
            assert!(message.starts_with(r#"{"jsonrpc":"2.0","id":"q","#), "{message}");
            assert!(message.contains(expected), "{message}");
        }
    }
}
