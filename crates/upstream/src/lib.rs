//! Other people's MCP servers, behind contracts.
//!
//! An upstream is a boundary that is not trusted. [`connection`] reaches one, over the pipes of a
//! child or over HTTP, in whatever revision of the protocol it speaks.

pub mod connection;
pub mod lock;
pub mod names;
mod offer;
pub mod settings;
pub mod variables;

pub use offer::Offer;
