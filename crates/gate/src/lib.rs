//! The one path of a call.
//!
//! Whatever door a call came in by, [`Gate::call`] takes it through the same steps,
//! each of which hands the next a value that only it can make: find, admit, check the
//! input, approve, run, check the output, record. What comes out is an [`Outcome`].
//!
//! This crate decides; it does not reach out. Tools run behind [`Provider`], state is
//! kept behind [`Store`] and [`Blobs`], time comes from a [`Clock`]. The journal is the
//! one file that it writes by itself.

pub mod approvals;
pub mod blobs;
mod call;
mod caller;
mod catalogue;
mod clock;
mod exchange;
mod failure;
#[allow(clippy::module_inception)]
mod gate;
mod id;
pub mod jobs;
pub mod journal;
mod live;
mod marks;
mod metrics;
mod mode;
mod outcome;
mod provider;
pub mod quarantine;
pub mod retention;
mod steps;
mod store;
mod trim;

pub use approvals::{Approval, ApprovalId, ApprovalState};
pub use blobs::{Artifact, Blobs};
pub use call::{Call, Door, Recording};
pub use caller::Caller;
pub use catalogue::{Catalogue, Tool, Toolset, Withheld};
pub use clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use exchange::{CanAsk, Exchange, LogLevel, Note, Notes, Question, Questions, Respondent};
pub use failure::Failure;
pub use gate::{Gate, Parts};
pub use id::{JobId, RequestId, is_ulid, ulid};
pub use jobs::{Job, JobState, Jobs};
pub use journal::Journal;
pub use live::{Event, LiveJob};
pub use marks::Marks;
pub use metrics::Metrics;
pub use mode::{Direction, Mode, Warning};
pub use outcome::{Outcome, Output};
pub use provider::{Answer, BoxFuture, Captured, Payload, Printed, Provider, Running, ToolError};
pub use steps::poll_once;
pub use store::{Claim, Claimed, JobFilter, Overdue, Recovered, Stays, Store, StoreError};
