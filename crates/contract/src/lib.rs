//! What a tool promises, as values.
//!
//! This crate is pure: text comes in, values and texts go out. It never opens a
//! file, a socket or a clock, so everything here can be tested with a string.
//!
//! - [`Contract`] is the model; [`read`] turns YAML into it and reports every
//!   mistake in place; [`lint`] judges what the types cannot.
//! - [`Schema`] is a JSON Schema compiled once: it fills in defaults and names
//!   every [`Violation`] by JSON pointer. Those of other people may be hostile and come in
//!   any [`Dialect`]; what they ask for is weighed before it is done.
//! - [`render`] makes everything that describes a tool to somebody else: the REST
//!   descriptor, the MCP listing, OpenAPI 3.1, the Markdown reference.
//! - [`compare`] tells what changed between two versions of a tool, and whom it concerns.
//! - [`project`] shows a schema of somebody else in 2020-12, [`tighten`] closes it, [`suspect`]
//!   finds what is odd in texts that models read.
//! - [`infer`] makes a schema from values, [`mod@widen`] takes in one more.
//! - [`documented`] reads contracts out of Markdown.
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

pub mod canonical;
pub mod codes;
pub mod compare;
pub mod diagnostic;
mod dialect;
pub mod document;
pub mod documented;
mod flatten;
mod formats;
mod graph;
pub mod infer;
pub mod json;
pub mod limits;
pub mod lint;
pub mod mirror;
mod model;
pub mod places;
pub mod project;
pub mod read;
pub mod render;
mod schema;
pub mod suspect;
pub mod tighten;
pub mod unseen;
mod violation;
mod weight;
pub mod widen;

pub use diagnostic::{Diagnostic, Severity};
pub use dialect::{Dialect, Key, Part, Slot};
pub use document::Document;
pub use limits::{LimitOverrides, Limits, ProcessLimitOverrides, ProcessLimits};
pub use mirror::Mirror;
pub use model::{
    Approval, Contract, DeclaredError, Effects, Example, Icon, LargeOutput, Presentation, Replaced,
    Stability, Status, Tasks, Theme,
};
pub use schema::{Schema, SchemaError};
pub use violation::{Violation, escape, is_slip, nearest};
pub use weight::{MAX_CHECKS, MAX_STEPS, MAX_VALUE_DEPTH};
