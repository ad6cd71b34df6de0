//! Answers that are none, in words that say what to do.

use std::time::Duration;

use bytes::Bytes;
use guard::net::{HeaderMap, NetError, NetErrorReason, ServiceResponse, StatusCode, header};

use crate::connection::{
    RequestError, RpcError,
    incoming::{self, Incoming},
};

/// As much of an answer with an error status is read, in bytes.
const MAX_REFUSAL_BYTES: usize = 256 * 1_024;
/// As much of a header or a body is shown, in characters.
const MAX_SHOWN_CHARS: usize = 200;

/// What an answer says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentType {
    Json,
    Events,
    Other,
}

/// What an answer says it is.
pub(super) fn content_type(headers: &HeaderMap) -> ContentType {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return ContentType::Other };
    let kind = value.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
    let kind = kind.trim_ascii();
    if kind.eq_ignore_ascii_case(b"application/json") {
        ContentType::Json
    } else if kind.eq_ignore_ascii_case(b"text/event-stream") {
        ContentType::Events
    } else {
        ContentType::Other
    }
}

/// It took longer than this.
pub(super) fn timeout(timeout: Duration) -> RequestError {
    RequestError::Timeout(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))
}

/// A failure of the network.
pub(super) fn of_net(error: NetError, timeout: Duration, max_bytes: usize) -> RequestError {
    if let Some(operator) = &error.operator {
        tracing::debug!(error = %error.message, operator, "a request to an MCP server failed");
    }
    if error.on_redirect() {
        let message = format!("the server leads away from its address: {}", error.message);
        return RequestError::Protocol(message);
    }
    match error.reason {
        NetErrorReason::Timeout => self::timeout(timeout),
        NetErrorReason::TooLarge => RequestError::TooLarge(max_bytes),
        NetErrorReason::Network | NetErrorReason::Stale => RequestError::Lost(error.message),
        NetErrorReason::HeaderLimit | NetErrorReason::RedirectLimit => {
            RequestError::Protocol(error.message)
        }
        _ => RequestError::NotSent(error.message),
    }
}

/// An answer whose status says that there is no result.
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    /// What it says in the protocol's own words.
    pub(super) rpc: Option<RpcError>,
    scheme: Option<String>,
    shown: String,
}

impl Refusal {
    /// Reads what it has to say.
    pub(super) async fn read(answer: ServiceResponse) -> Self {
        let ServiceResponse { status, headers, body } = answer;
        let json = content_type(&headers) == ContentType::Json;
        let bytes = body.read_all(MAX_REFUSAL_BYTES).await.unwrap_or_default();
        let scheme = headers
            .get(header::WWW_AUTHENTICATE)
            .and_then(|value| value.to_str().ok())
            .and_then(|text| text.split([' ', ',']).next())
            .map(shown);
        let rpc = json.then(|| rpc(&bytes, status)).flatten();
        let text = String::from_utf8_lossy(&bytes);
        // A page is for people with a browser.
        let text = if text.trim_start().starts_with('<') { String::new() } else { shown(&text) };
        Self { status, rpc, scheme, shown: text }
    }

    /// Whether this is how a server answers that does not know our way of HTTP at all.
    pub(super) fn knows_no_streamable(&self) -> bool {
        self.rpc.is_none()
            && self.status.is_client_error()
            && !matches!(self.status.as_u16(), 401 | 403 | 407 | 408 | 429)
    }

    /// Whether it says that the session, which there is, is over.
    pub(super) fn ends_session(&self) -> bool {
        // JSON-RPC's number for a method that does not exist.
        const UNKNOWN_METHOD: i64 = -32_601;
        // What servers of the most used library say when they were started anew.
        const BAD_REQUEST: i64 = -32_000;
        match (self.status, &self.rpc) {
            (StatusCode::NOT_FOUND, rpc) => {
                rpc.as_ref().is_none_or(|error| error.code != UNKNOWN_METHOD)
            }
            (StatusCode::BAD_REQUEST, Some(error)) => {
                let text = error.message.to_ascii_lowercase();
                error.code == BAD_REQUEST
                    && (text.contains("session") || text.contains("not initialized"))
            }
            _ => false,
        }
    }

    /// Whether the protocol says of such an answer that nothing came of the request: the session is
    /// not known. Other answers are taken for that by their words, and words prove nothing.
    pub(super) fn never_took_it(&self) -> bool {
        // What the SDKs answer for a session that they do not know.
        const UNKNOWN_SESSION: i64 = -32_001;
        self.status == StatusCode::NOT_FOUND
            && self.rpc.as_ref().is_none_or(|error| error.code == UNKNOWN_SESSION)
    }

    pub(super) fn into_error(self) -> RequestError {
        let status = self.status.as_u16();
        let said = if self.shown.is_empty() { String::new() } else { format!(": {}", self.shown) };
        match status {
            401 | 403 => {
                let what = if status == 401 { "wants authorization" } else { "refuses us" };
                let scheme = self.scheme.map_or_else(String::new, |scheme| format!(", `{scheme}`"));
                let message = format!(
                    "the server {what} (status {status}{scheme}): give it a header, as \
                     `Authorization`, in `headers` of its settings"
                );
                return RequestError::Protocol(message);
            }
            _ => {}
        }
        if let Some(rpc) = self.rpc {
            return RequestError::Rpc(rpc);
        }
        match status {
            300..=399 => RequestError::Protocol(format!(
                "the server leads elsewhere (status {status}): put the address that it leads to \
                 into its settings"
            )),
            404 | 405 => RequestError::Protocol(format!(
                "nothing at this address speaks MCP (status {status}): is the path right?"
            )),
            500.. => RequestError::Lost(format!("the server failed (status {status}){said}")),
            _ => RequestError::Protocol(format!("the server refused (status {status}){said}")),
        }
    }
}

/// The error that a body says in the protocol's own words.
fn rpc(bytes: &Bytes, status: StatusCode) -> Option<RpcError> {
    match incoming::read(bytes) {
        Ok(Incoming::Response { outcome: Err(error), .. }) => {
            Some(RpcError { status: Some(status.as_u16()), ..error })
        }
        Ok(_) => None,
        // Servers that could not read a request leave out its id.
        Err(_) => {
            let value: serde_json::Value = serde_json::from_slice(bytes).ok()?;
            let mut fields = value.as_object()?.clone();
            fields.get("jsonrpc")?;
            fields.entry("id").or_insert(serde_json::Value::Null);
            let whole = serde_json::to_vec(&fields).ok()?;
            match incoming::read(&whole) {
                Ok(Incoming::Response { outcome: Err(error), .. }) => {
                    Some(RpcError { status: Some(status.as_u16()), ..error })
                }
                _ => None,
            }
        }
    }
}

/// A text of the server's, short and on one line.
pub(super) fn shown(text: &str) -> String {
    let plain = text.trim().chars().map(|one| if one.is_control() { ' ' } else { one });
    plain.take(MAX_SHOWN_CHARS).collect()
}

/// An answer that is neither JSON nor a stream.
pub(super) fn wrong_type(status: StatusCode, headers: &HeaderMap) -> RequestError {
    let kind =
        headers.get(header::CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()));
    RequestError::Protocol(match kind {
        Some(kind) => format!(
            "the server answered with `{}` (status {}), which is neither JSON nor a stream of \
             events",
            shown(&kind),
            status.as_u16()
        ),
        None => format!("the server answered without a message (status {})", status.as_u16()),
    })
}
