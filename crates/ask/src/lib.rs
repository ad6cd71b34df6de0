//! One question, at most one call of a tool, and a response that can show where it comes from.
//!
//! [`Ask::run`] takes an [`AskRequest`] through gates in a fixed order: the policy, the tools that there are, the
//! tools that may be used, a plan that a language model makes, a strict reading of that plan, a check of
//! it against the live catalogue and the question, the one call, and a summary of quotes.
//! Each leaves an event in the [`Trace`]; whatever goes wrong ends the run with a reason. What comes out is an
//! [`AskResponse`].
//!
//! The model chooses and orders; it words nothing that is delivered. A plan is judged by code, a result by its
//! contract, and a summary is made of whole units of the result ([`quotation`]). A run owns one permit, and a call
//! consumes it, so there is no second call.
//!
//! [`candidates`] lists the tools that may be chosen, once for each catalogue; `shortlist` ranks them (BM25) where the prompt has
//! not enough room. `model_request` finds out which `response_format` the endpoint supports. The call carries the tool that was
//! checked, so that the gate refuses it if another tool has taken its name.
//!
//! This crate reaches a model through `llm` and tools through `gate`, opens no file and prints nothing.

pub mod candidates;
pub mod eval;
mod metrics;
mod permit;
pub mod plan;
mod planner;
pub mod policy;
pub mod quotation;
mod request;
mod response;
mod run;
mod settings;
pub mod shortlist;
mod strict_json;
pub mod summary;
pub mod text;
pub mod trace;

pub use plan::{Plan, PlannedCall};
pub use request::{AskRequest, InvalidQuestion};
pub use response::{AskOutcome, AskResponse, AskTiming, BlockedCode, BlockedResponse};
pub use run::{Ask, AskRejection, AskSlot};
pub use settings::{AskSettings, ResponseFormat, SummarizeMode};
pub use trace::{Trace, TraceEvent, TraceWatcher};
