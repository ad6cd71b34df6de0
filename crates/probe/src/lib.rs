//! Tests of tools that are generated from their contracts.
//!
//! - [`generate`] makes values from a JSON Schema: valid ones at the boundaries, and invalid ones with one defect each.
//! - [`run`] tests an MCP server with them, and returns a [`ProbeReport`]; [`rules`] lists what it looks for.
//! - [`junit`] and [`sarif`] write a report for other programs.

mod arguments;
mod call_result;
mod connection;
pub mod generate;
pub mod junit;
mod listed_tool;
mod report;
pub mod rules;
mod run;
pub mod sarif;
mod server_checks;
mod suspicious_text;
mod tool_calls;

pub use report::{Check, CheckOutcome, CheckSuite, ProbeFinding, ProbeReport};
pub use rules::{FindingSeverity, ProbeRule};
pub use run::*;
