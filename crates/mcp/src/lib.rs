//! The Model Context Protocol: what a client and a server have in common.
//!
//! `server` answers MCP and `upstream` calls it. Whatever both need is here, once:
//!
//! - [`ProtocolVersion`]: the revisions, legacy (2024-11-05 to 2025-11-25) and modern (2026-07-28).
//!   [`ClientCapabilities`]: what a client declares beside it.
//! - [`Message`], [`Request`], [`Response`], [`RpcError`]: JSON-RPC, in both directions.
//! - [`Notification`]: progress, log messages, changed lists, cancellation.
//! - [`params`], [`header`]: parameters and the keys of `_meta`; the HTTP headers that repeat them.
//! - [`LineReader`]: the framing of stdio. Event streams are a format of HTTP: `guard::net::event_stream`.
//! - [`ListingPage`]: one page of `tools/list` and its siblings.
//!
//! Everything is bytes in and values out; nothing here opens a connection.
//!
//! # Why this is not `rmcp`
//!
//! A gateway needs four things that an SDK of typed messages does not give:
//!
//! - **Bytes pass through.** A result is found in the message that carried it and is neither parsed nor
//!   copied before the gate checks it ([`Response`]). A listing is rendered once and sent as bytes.
//!   `rmcp` 3.8.0 parses every message into typed values and prints it again: fields that it does not
//!   know are lost, integers above 64 bits become floats.
//! - **Bounds.** Every message, line, id, error text, page and batch has a limit with a name. `rmcp`
//!   drops a line of more than 16 MiB with a log line, and the call waits for its timeout.
//! - **Both protocol versions at once**, on one endpoint and in one process: `initialize` with sessions,
//!   and requests that stand alone. Batches of 2025-03-26 included.
//! - **Exact codes.** Each rejection has the JSON-RPC code and the HTTP status that its protocol version
//!   asks for. `rmcp` answers a body that is not JSON with 415 and plain text.
//!
//! The price is this crate. The gain, measured with `bench` on two cores (CPU time for each call): a
//! `tools/call` over HTTP, checked by the gate in both directions, takes 20 µs; a bare `rmcp` server that
//! checks nothing takes 41 µs. `tools/list` with 1,020 tools takes 0.47 ms against 2.9 ms.
//!
//! `rmcp` is the second opinion instead: a test lets its client call our server, and our client call its
//! server (`crates/toolgate/tests/it/rmcp.rs`).

mod error;
pub mod header;
mod line;
mod listing;
mod message;
mod negotiation;
mod notification;
pub mod params;
mod unreadable;

pub use error::{RpcError, code};
pub use line::{Line, LineEdges, LineReader};
pub use listing::{ListingPage, MAX_ITEM_BYTES, TOO_LARGE};
pub use message::{
    Id, MalformedMessage, Message, Request, Response, append_field, append_json, append_string,
    bounded_value, encode_error, encode_notification, encode_response, is_batch, split_batch,
};
pub use negotiation::{ClientCapabilities, InputMethod, ProtocolVersion, TASKS_EXTENSION};
pub use notification::{ListKind, LogMessage, Notification, Progress, cancelled};
pub use unreadable::unreadable;
