//! Jobs: recorded calls, and the queue of those that run by themselves.

mod job;
mod queue;
mod runner;
mod waiting;

pub use job::{Job, JobState};
pub use queue::{CancelResult, Jobs, JobsSettings, SubmitError};
