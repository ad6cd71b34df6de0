//! Contracts of tools as values: the model, and everything that the gate needs of it.
//!
//! This crate is pure: text comes in, values and texts go out. It never opens a
//! file, a socket or a clock, so everything here can be tested with a string.
//!
//! - [`Contract`] is the model; [`read`] turns YAML into it and reports every
//!   mistake in place; [`lint`] checks the rules that types cannot express.
//! - [`Schema`] is a JSON Schema compiled once: it fills in defaults and names
//!   every [`Violation`] by JSON pointer. Schemas of other people may be hostile and come in
//!   any [`Dialect`]; [`complexity`] measures what one costs before it is used.
//! - [`subschemas`] lists the schemas inside a schema and resolves their references.
//! - [`translation`] rewrites a schema of an older dialect in 2020-12; [`closed_schema`] refuses
//!   undeclared properties.
//! - [`command_template`] puts the arguments of a call into the command line of a user's tool.
//! - [`render`] makes everything that describes a tool to somebody else: the REST
//!   descriptor, the MCP listing, the Markdown reference.
//! - [`json`] reads JSON strictly; [`canonical`] writes it in one form only.
//!
//! ```
//! let schema = contract::Schema::compile(&serde_json::json!({
//!     "type": "object",
//!     "properties": { "n": { "type": "integer", "minimum": 1, "default": 1 } },
//!     "additionalProperties": false,
//! })).unwrap();
//! let mut input = serde_json::json!({});
//! schema.fill_defaults(&mut input);
//! assert_eq!(input["n"], 1);
//! assert_eq!(schema.violations(&serde_json::json!({ "n": 0 }))[0].pointer, "/n");
//! ```

mod calendar_date;
pub mod canonical;
pub mod closed_schema;
pub mod codes;
pub mod command_template;
pub mod complexity;
pub mod diagnostic;
pub mod dialect;
pub mod document;
pub mod formats;
mod graph;
mod interrupt;
pub mod invisible;
pub mod json;
pub mod limits;
pub mod lint;
mod model;
pub mod parameter_headers;
mod pattern;
pub mod read;
pub mod references;
pub mod render;
mod sandbox;
mod schema;
pub mod subschemas;
pub mod text_output;
pub mod translation;
mod violation;

pub use calendar_date::CalendarDate;
pub use complexity::{MAX_CHECKS, MAX_STEPS, MAX_VALUE_DEPTH};
pub use diagnostic::{Diagnostic, Severity};
pub use dialect::Dialect;
pub use document::Document;
pub use interrupt::{Interrupt, Interrupted};
pub use limits::{LimitOverrides, Limits, ProcessLimitOverrides, ProcessLimits};
pub use model::{
    ApprovalRequirement, Contract, ContractStatus, DeclaredError, Effects, Example, Icon,
    LargeOutput, Presentation, Replaced, Stability, StdoutForm, TaskSupport, Theme,
};
pub use parameter_headers::ParameterHeader;
pub use sandbox::SandboxSettings;
pub use schema::{Schema, SchemaError};
pub use violation::{Violation, counted, did_you_mean, escape, is_slip, nearest};
