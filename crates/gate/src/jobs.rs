//! Calls that are kept, and calls that run by themselves.

mod engine;
mod record;
mod workshop;

pub use engine::{CancelResult, Jobs, JobsSettings, SubmitError};
pub use record::{Job, JobState};
