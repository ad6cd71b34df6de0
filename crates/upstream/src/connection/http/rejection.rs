//! HTTP responses that are not MCP responses, as errors that say what to do.

use std::time::Duration;

use bytes::Bytes;
use guard::net::{HeaderMap, NetError, NetErrorReason, ServiceResponse, StatusCode, header};
use mcp::{Message, RpcError, code};

use super::client::{ContentType, content_type};
use crate::{ServerText, connection::RequestError};

/// The number of bytes that are read of a response with an error status.
const MAX_REJECTION_BYTES: usize = 256 * 1_024;
/// The number of characters of a header or a body that are shown.
const MAX_SHOWN_CHARS: usize = 200;

/// A failure of the network.
pub(super) fn network_error(error: NetError, timeout: Duration, max_bytes: usize) -> RequestError {
    if let Some(operator) = &error.operator {
        tracing::debug!(error = %error.message, operator, "a request to an MCP server failed");
    }
    if error.on_redirect() {
        let message = format!("the server redirects to another address: {}", error.message);
        return RequestError::Protocol(message);
    }
    match error.reason {
        NetErrorReason::Timeout => RequestError::timeout(timeout),
        NetErrorReason::TooLarge => RequestError::TooLarge(max_bytes),
        NetErrorReason::Network | NetErrorReason::Stale => RequestError::Lost(error.message),
        NetErrorReason::HeaderLimit | NetErrorReason::RedirectLimit => {
            RequestError::Protocol(error.message)
        }
        _ => RequestError::NotSent(error.message),
    }
}

/// A response whose status says that there is no result.
pub(super) struct HttpRejection {
    pub(super) status: StatusCode,
    /// The JSON-RPC error in its body.
    pub(super) rpc: Option<RpcError>,
    scheme: Option<String>,
    shown: String,
}

impl HttpRejection {
    /// Reads its body.
    pub(super) async fn read(response: ServiceResponse) -> Self {
        let ServiceResponse { status, headers, body } = response;
        let json = content_type(&headers) == ContentType::Json;
        let bytes = body.read_all(MAX_REJECTION_BYTES).await.unwrap_or_default();
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

    /// Says whether a server that does not know streamable HTTP at all would respond like this.
    pub(super) fn is_not_streamable(&self) -> bool {
        self.rpc.is_none()
            && self.status.is_client_error()
            && !matches!(self.status.as_u16(), 401 | 403 | 407 | 408 | 429)
    }

    /// Says whether the session, which there is, has ended.
    pub(super) fn ends_session(&self) -> bool {
        // Sent by servers of the most used SDK after a restart.
        const BAD_REQUEST: i64 = -32_000;
        match (self.status, &self.rpc) {
            (StatusCode::NOT_FOUND, rpc) => {
                rpc.as_ref().is_none_or(|error| error.code != code::METHOD_NOT_FOUND)
            }
            (StatusCode::BAD_REQUEST, Some(error)) => {
                let text = error.message.to_ascii_lowercase();
                error.code == BAD_REQUEST
                    && (text.contains("session") || text.contains("not initialized"))
            }
            _ => false,
        }
    }

    /// Says whether the protocol guarantees that the request was not executed: the session is not known.
    /// Other responses are taken for that by their text, and a text proves nothing.
    pub(super) fn is_not_executed(&self) -> bool {
        // Sent by the SDKs for a session that they do not know.
        const UNKNOWN_SESSION: i64 = -32_001;
        self.status == StatusCode::NOT_FOUND
            && self.rpc.as_ref().is_none_or(|error| error.code == UNKNOWN_SESSION)
    }

    pub(super) fn into_error(self) -> RequestError {
        let status = self.status.as_u16();
        let body = if self.shown.is_empty() { String::new() } else { format!(": {}", self.shown) };
        match status {
            401 | 403 => {
                let what = if status == 401 { "requires authorization" } else { "denies access" };
                let scheme = self.scheme.map_or_else(String::new, |scheme| format!(", `{scheme}`"));
                let message = format!(
                    "the server {what} (status {status}{scheme}): set a header such as \
                     `Authorization` in `headers` of its settings"
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
                "the server redirects (status {status}): set the address that it redirects to \
                 in its settings"
            )),
            404 | 405 => RequestError::Protocol(format!(
                "no MCP endpoint at this address (status {status}): check the path of the URL"
            )),
            500.. => RequestError::Lost(format!("the server failed (status {status}){body}")),
            _ => RequestError::Protocol(format!(
                "the server rejected the request (status {status}){body}"
            )),
        }
    }
}

/// The JSON-RPC error that a body holds.
fn rpc(bytes: &Bytes, status: StatusCode) -> Option<RpcError> {
    let with_status = |error: &str| RpcError { status: status.as_u16(), ..RpcError::read(error) };
    match Message::read(bytes) {
        Ok(Message::Response { result: Err(error), .. }) => Some(with_status(error)),
        Ok(_) => None,
        // Servers that could not read a request leave out its id.
        Err(_) => {
            let value: serde_json::Value = serde_json::from_slice(bytes).ok()?;
            value.get("jsonrpc")?;
            Some(with_status(&value.get("error").filter(|error| !error.is_null())?.to_string()))
        }
    }
}

/// A text of the server's, short and on one line.
fn shown(text: &str) -> String {
    let line = text.trim().replace(['\n', '\r', '\t'], " ");
    ServerText::new(&line).beginning(MAX_SHOWN_CHARS).for_people()
}

/// The error for a response that is neither JSON nor an event stream.
pub(super) fn wrong_type(status: StatusCode, headers: &HeaderMap) -> RequestError {
    let kind =
        headers.get(header::CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()));
    RequestError::Protocol(match kind {
        Some(kind) => format!(
            "the server responded with `{}` (status {}), which is neither JSON nor an event \
             stream",
            shown(&kind),
            status.as_u16()
        ),
        None => format!("the server responded without a Content-Type (status {})", status.as_u16()),
    })
}
