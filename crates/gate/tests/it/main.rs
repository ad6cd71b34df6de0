//! The gate on the embedded store, with a clock that stands still.

#![allow(clippy::unwrap_used)] // A panic is how a test fails.

mod approvals;
mod fixture;
mod jobs;
mod quarantine;
mod recording;
