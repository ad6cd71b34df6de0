//! A connection to one MCP server.
//!
//! A [`Wire`] carries messages: the pipes of a child, or HTTP. A [`Connection`] knows the protocol:
//! [`connect()`] finds out which revision the server speaks, and everything is then said in it.

mod abandoned;
mod connect;
mod connected;
mod handshake;
mod http;
mod incoming;
mod listening;
mod listing;
mod message;
mod oddities;
mod outgoing;
mod patience;
mod protocol;
mod questions;
mod stdio;
mod target;
mod wire;

pub use connect::{ConnectError, Heard, Terms, connect};
pub use connected::{Connection, Request};
pub use handshake::Server;
pub use listing::{Listing, MAX_ITEM_BYTES, TOO_LARGE};
pub use message::{Asked, Happening, Level, Reply, RequestError, RpcError};
pub use oddities::Oddities;
pub use protocol::Protocol;
pub use target::{Endpoint, HttpKind, Limits, Program, Target};
pub use wire::{Event, Events, Flight, Prepared, Wire};

/// Methods that somebody called, so that a server may ask something back or tell how it goes.
const CALLS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

/// Which of the two families of the protocol a server speaks.
pub use contract::render::mcp::Era;
