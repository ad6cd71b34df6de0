//! The one path of a call.
//!
//! Whatever door a call came in by, [`Gate::call`] takes it through the same nine steps, each of
//! which hands the next a value that only it can make: find, admit, check the input, claim the
//! idempotency key, take a release, approve, run, check the output, record. The result is an
//! [`Outcome`].
//!
//! This crate decides; it does not reach out. Tools run behind [`Provider`], state is
//! kept behind [`Store`] and [`Blobs`], time comes from a [`Clock`]. The journal is the
//! one file that it writes by itself.

pub mod approvals;
mod beside_runtime;
pub mod blobs;
mod call;
mod catalogue;
mod channel;
mod clock;
mod enforcement;
mod failure;
#[allow(clippy::module_inception)]
mod gate;
mod id;
pub mod jobs;
pub mod journal;
mod live_jobs;
mod metrics;
mod outcome;
mod outcome_flags;
mod provider;
pub mod quarantine;
pub mod retention;
pub mod secrets;
pub mod shares;
mod steps;
mod store;
mod truncate;
mod upstream_events;
pub mod visible_text;

pub use approvals::{Approval, ApprovalId, ApprovalState};
pub use beside_runtime::beside_runtime;
pub use blobs::{Artifact, Blobs};
pub use call::{Call, Caller, Door, Recording};
pub use catalogue::{Catalogue, Tool, Toolset, WithheldTool};
pub use channel::{
    CallChannel, InputCapabilities, InputKind, InputRequest, InputRequests, LogLevel,
    NotificationSender, ToolNotification,
};
pub use clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use enforcement::{ContractWarning, EnforcementMode, PayloadDirection};
pub use failure::Failure;
pub use gate::{Gate, GateParts, GateSettings};
pub use id::{JobId, RequestId, is_ulid, ulid};
pub use jobs::{Job, JobState, Jobs};
pub use journal::Journal;
pub use live_jobs::{JobEvent, LiveJob};
pub use metrics::GateMetrics;
pub use outcome::{Outcome, OutputJson};
pub use outcome_flags::OutcomeFlags;
pub use provider::{
    BoxFuture, CapturedText, OutputPayload, PrintedJson, Provider, RunningCall, ToolError,
    ToolOutput,
};
pub use steps::poll_once;
pub use store::{
    ClaimResult, IdempotencyClaim, InterruptedJob, JobFilter, JobRetention, QueuedJob,
    RecordRetention, Recovery, Store, StoreError,
};
pub use upstream_events::UpstreamEvent;
