//! One question, at most one call of a tool, and an answer that can show where it comes from.
//!
//! [`Ask::run`] takes a [`Request`] through gates in a fixed order: the policy, the tools that there are, the
//! tools that may be used, a plan that a language model makes, a strict reading of that plan, a check of
//! it against the live catalogue and the question, the one call, and a summary whose every claim carries a quote.
//! Each leaves an event in the [`Trace`]; whatever goes wrong ends the run with a reason. What comes out is an
//! [`Answer`].
//!
//! Nothing that a model or a tool says is believed: a plan is judged by code, a result by its contract, a summary by
//! [`grounding`]. A run owns one permit, and a call consumes it, so there is no second call.
//!
//! This crate reaches a model through `llm` and tools through `gate`, opens no file and prints nothing.

mod answer;
mod asking;
pub mod candidates;
pub mod eval;
pub mod grounding;
mod metrics;
mod permit;
pub mod plan;
mod planner;
pub mod policy;
mod request;
mod run;
mod settings;
pub mod shortlist;
pub mod summary;
pub mod trace;

pub use answer::{Answer, Answered, Code, Timing};
pub use plan::Plan;
pub use request::{NoQuestion, Request};
pub use run::{Ask, NotAsked, Place};
pub use settings::{ResponseFormat, Settings, Summarize};
pub use trace::{Event, Trace, Watch};
