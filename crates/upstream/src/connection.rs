//! A connection to one MCP server.
//!
//! A [`Wire`] carries messages: the pipes of a child, or HTTP. A connection knows the protocol: it finds
//! out which revision the server speaks, and says everything in it.
#![allow(dead_code, reason = "the wires that use it come next")]

mod http;
mod incoming;
mod message;
mod outgoing;
mod questions;
mod target;
mod wire;

pub use message::{Asked, Happening, Level, Reply, RequestError, RpcError};
pub use target::{Endpoint, HttpKind, Limits, Program, Target};
pub use wire::{Event, Events, Flight, Prepared, Wire};

/// Which of the two families of the protocol a server speaks.
pub use contract::render::mcp::Era;
