//! The promises of a store. `approvals`, `jobs`, `quarantine` and `retention` hold for every
//! [`STORES`]; `snapshot`, `spool`, `file_size`, `older_versions` and `damage` are about SQLite.

#![allow(clippy::unwrap_used)] // A panic is how a test fails.

mod approvals;
mod damage;
mod file_size;
mod jobs;
mod older_versions;
mod quarantine;
mod retention;
mod snapshot;
mod spool;

use std::{path::Path, sync::Arc};

use contract::LimitOverrides;
use gate::{Artifact, Job, JobId, JobState, Store, Timestamp};
use store::{DataFolder, Durability, Sqlite};
use tempfile::TempDir;

/// A store as a command opens it.
pub fn direct(folder: &Path) -> Sqlite {
    Sqlite::open(&folder.join("toolgate.db"), Durability::Process).unwrap()
}

/// A store as a server opens it.
pub fn spooled(folder: &Path) -> Sqlite {
    let lock = DataFolder::open(folder).unwrap().lock().unwrap();
    direct(folder).with_spool(&folder.join("spool"), &lock).unwrap()
}

/// A kind of store that has to pass the suite.
pub struct StoreKind {
    /// Opens the store of a folder as its only server.
    pub open: fn(&Path) -> Arc<dyn Store>,
    /// Opens it once more, in another process.
    pub open_beside: fn(&Path) -> Arc<dyn Store>,
}

/// Every kind of store. Another one needs a line here and nothing else.
pub const STORES: [StoreKind; 2] = [
    StoreKind { open: |folder| Arc::new(direct(folder)), open_beside: |at| Arc::new(direct(at)) },
    StoreKind { open: |folder| Arc::new(spooled(folder)), open_beside: |at| Arc::new(direct(at)) },
];

/// A store of every kind, each with its folder.
pub fn stores() -> [(TempDir, Arc<dyn Store>); 2] {
    STORES.map(|kind| {
        let folder = tempfile::tempdir().unwrap();
        let store = (kind.open)(folder.path());
        (folder, store)
    })
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
        input_sha256: Some("5a".repeat(32)),
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
