//! Other people's MCP servers, behind contracts.
//!
//! An upstream is a boundary that is not trusted. [`connection`] reaches one, over the pipes of a
//! child or over HTTP, in whatever revision of the protocol it speaks.

pub mod admission;
mod answer;
mod breaker;
pub mod connection;
mod host;
pub mod lock;
pub mod names;
mod offer;
mod parking;
mod relay;
mod replace;
pub mod settings;
pub mod variables;

pub use host::{Configured, Host, Latest, Member, Phase, Plan, Report, Unreachable};
pub use offer::Offer;
pub use replace::replace;
