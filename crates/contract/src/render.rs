//! Everything that describes a tool to somebody else, made from its contract.
//!
//! - [`descriptor`]: what `GET /v1/tools` says of a tool.
//! - [`mcp`]: what `tools/list` says of it.
//! - [`markdown`]: the reference page.
//! - [`deprecation`]: the end of a deprecated tool, in words and as HTTP headers.
//! - [`output`]: the schema of what a caller gets.
//! - [`rows`]: a schema as the rows of a table, for pages of other kinds.
//!
//! All of it is deterministic: the same contracts yield the same bytes, in whatever
//! order they come in.

pub mod deprecation;
pub mod descriptor;
#[cfg(test)]
mod fixtures;
pub mod markdown;
pub mod mcp;
pub mod output;

pub use markdown::{Row, rows};

use crate::{
    Contract, ContractStatus,
    codes::{self, StandardCode},
};

/// The standard codes that a tool call can end with whatever its contract declares.
/// The others belong to other routes, or to the tools that declare them.
pub const CALL_CODES: &[StandardCode] = &[
    codes::INVALID_REQUEST,
    codes::INVALID_INPUT,
    codes::UNAUTHORIZED,
    codes::NOT_ALLOWED,
    codes::APPROVAL_REQUIRED,
    codes::UNKNOWN_TOOL,
    codes::CONFLICT,
    codes::CONTRACT_CHANGED,
    codes::INPUT_REQUIRED,
    codes::CANCELLED,
    codes::PAYLOAD_TOO_LARGE,
    codes::TOO_MANY_REQUESTS,
    codes::INTERNAL,
    codes::INTERRUPTED,
    codes::INVALID_OUTPUT,
    codes::UNAVAILABLE,
    codes::TIMEOUT,
];

/// The tools that are served, by name.
pub fn served<'a>(contracts: impl Iterator<Item = &'a Contract>) -> Vec<&'a Contract> {
    let mut served: Vec<_> =
        contracts.filter(|contract| contract.status == ContractStatus::Active).collect();
    served.sort_by(|one, other| one.name.cmp(&other.name));
    served
}
