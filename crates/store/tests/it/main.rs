//! What a store promises, asked of the embedded one with and without its spool.

#![allow(clippy::unwrap_used)] // A panic is how a test fails.

mod approvals;
mod jobs;
mod quarantine;
mod retention;
mod spool;

use std::path::Path;

use contract::LimitOverrides;
use gate::{Artifact, Job, JobId, JobState, Timestamp};
use store::{DataFolder, Durability, Sqlite};

/// A store as a command opens it.
pub fn direct(folder: &Path) -> Sqlite {
    Sqlite::open(&folder.join("toolgate.db"), Durability::Process).unwrap()
}

/// A store as a server opens it.
pub fn spooled(folder: &Path) -> Sqlite {
    let lock = DataFolder::open(folder).unwrap().lock().unwrap();
    direct(folder).with_spool(&folder.join("spool"), &lock).unwrap()
}

/// A job that was made at that time.
pub fn job(at: i64, state: JobState) -> Job {
    let raw = |text: &str| serde_json::value::RawValue::from_string(text.to_owned()).ok();
    Job {
        id: JobId::new(Timestamp(at)),
        tool: "echo_json".into(),
        state,
        caller: "local".into(),
        request_id: "req".into(),
        created_at: Timestamp(at),
        started_at: Some(Timestamp(at)),
        finished_at: state.is_final().then_some(Timestamp(at)),
        error_code: None,
        summary: Some("a \"summary\"\nof two lines".into()),
        input: raw(r#"{"message":"é"}"#),
        artifacts: Vec::new(),
        result: raw(r#"{"status":"ok"}"#),
        approval_id: None,
        released: None,
        pending: raw(r#"{"message":"secret"}"#).filter(|_| state == JobState::Queued),
        error_message: None,
        http_status: 200,
        limits: LimitOverrides { timeout_ms: Some(5), ..LimitOverrides::default() },
    }
}

/// The same with an artifact of that size.
pub fn with_artifact(mut job: Job, bytes: u64) -> Job {
    job.artifacts.push(Artifact {
        name: "a.txt".into(),
        path: gate::blobs::artifact_path(&job.id, "a.txt"),
        mime_type: "text/plain".into(),
        bytes,
    });
    job
}
