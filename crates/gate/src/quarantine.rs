//! Quarantine: results that broke their contract wait here for a person.
//!
//! An entry is kept by the gate, read by people and programs, and decided about by whoever holds
//! the operator's credential: it is released to the caller of its call, who gets it once when the
//! same call is made again, or adopted, which makes the tool's contract wide enough for it.

mod decide;
mod entry;
mod release_index;

use std::{fmt, time::Duration};

pub use entry::{
    QuarantineEntry, QuarantineState, QuarantineSummary, ReleasedPayload, StoredViolation,
};
pub use release_index::NOTICED_AFTER;
pub(crate) use release_index::ReleaseIndex;

/// The largest output that quarantine keeps whole, in bytes.
pub const MAX_QUARANTINED_BYTES: usize = 1_048_576;
/// The most entries that may be released at once and not yet have been given to their callers.
pub const MAX_RELEASED: usize = 1_000;

#[derive(Debug, Clone, Copy)]
pub struct QuarantineSettings {
    /// The time that a released entry waits for its caller.
    pub release_valid: Duration,
}

impl Default for QuarantineSettings {
    fn default() -> Self {
        Self { release_valid: Duration::from_hours(1) }
    }
}

/// The decision of a person about an entry.
#[derive(Debug, Clone)]
pub struct ReleaseDecision {
    /// The person who decides, for the journal.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
}

#[derive(Debug)]
pub enum ReleaseResult {
    /// There is no such entry.
    Unknown,
    /// It is released.
    Done(Box<QuarantineSummary>),
    /// It cannot be, and this is why.
    Refused(Box<QuarantineSummary>, ReleaseError),
}

/// The reason that an entry cannot be released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseError {
    /// It is, and its caller has not come for it.
    Already,
    /// It is a copy of what the caller got.
    Passed,
    /// The contract was made wide enough for it.
    Adopted,
    /// Only its beginning was kept.
    Cut,
    /// It was kept before callers were written down.
    NobodysCall,
    /// As many are released as may be.
    Full,
}

impl fmt::Display for ReleaseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReleaseError::Already => formatter.write_str("it is released already"),
            ReleaseError::Passed => {
                formatter.write_str("the caller already received it; this entry is a copy")
            }
            ReleaseError::Adopted => formatter.write_str(
                "its contract was made wide enough for it: the caller gets it by calling again",
            ),
            ReleaseError::Cut => write!(
                formatter,
                "it was larger than {MAX_QUARANTINED_BYTES} bytes, and only its beginning was kept"
            ),
            ReleaseError::NobodysCall => {
                formatter.write_str("nobody knows whose call it was: an older version kept it")
            }
            ReleaseError::Full => {
                write!(formatter, "{MAX_RELEASED} entries are released and wait for their callers")
            }
        }
    }
}

/// A call whose earlier output a person may have released.
#[derive(Debug, Clone)]
pub struct RepeatedCall {
    pub caller: String,
    pub tool: String,
    /// The hash of the arguments.
    pub input_sha256: String,
}

/// A filter for entries.
#[derive(Debug, Clone, Default)]
pub struct QuarantineFilter {
    /// Only in this state.
    pub state: Option<QuarantineState>,
    /// Only of this tool.
    pub tool: Option<String>,
    /// Only of this caller's calls.
    pub caller: Option<String>,
    /// Only older than this one.
    pub cursor: Option<String>,
    /// At most so many.
    pub limit: usize,
}
