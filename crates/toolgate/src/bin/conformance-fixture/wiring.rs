//! The gate of the fixture on a folder of its own, and the settings of its doors.

use std::{collections::HashSet, sync::Arc, time::Duration};

use anyhow::Context;
use gate::{Gate, GateParts, Journal, SystemClock, jobs::JobsSettings};
use store::{DataFolder, DataFolderLock, Durability, LocalBlobs, Sqlite};
use tempfile::TempDir;

use crate::shared::SharedFixture;

/// After this time a call is handed out as a task. It lies between the tools that are to be
/// waited for (at most 100 ms) and the one that is not (1 s).
const TASK_AFTER: Duration = Duration::from_millis(200);

/// A gate, and its data folder.
pub struct FixtureServer {
    pub gate: Arc<Gate>,
    pub shared: Arc<SharedFixture>,
    lock: DataFolderLock,
    folder: TempDir,
}

impl FixtureServer {
    /// Opens a gate on a fresh folder, with these tools.
    pub fn open(shared: Arc<SharedFixture>) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("conformance-fixture-").tempdir()?;
        // One level down, so that the work folder beside it is in the folder too.
        let data = DataFolder::open(&folder.path().join("data"))?;
        let lock = data.lock()?;
        let sqlite = Sqlite::open(&data.database(), Durability::Process)
            .and_then(|sqlite| sqlite.with_spool(&data.path().join("spool"), &lock))
            .context("cannot open the database")?;
        let blobs = LocalBlobs::open(
            data.path(),
            &store::work_folders(data.path(), None),
            Durability::Process,
        )?;
        let gate = Arc::new(Gate::new(GateParts {
            catalogue: shared.catalogue()?,
            store: Arc::new(sqlite),
            blobs: Arc::new(blobs),
            journal: Journal::open(&data.path().join("journal.jsonl"), 10_000_000, 2)?,
            clock: Arc::new(SystemClock),
            max_concurrency: 64,
            settings: gate::GateSettings::default(),
        }));
        shared.set(&gate);
        Ok(Self { gate, shared, lock, folder })
    }

    /// Removes the folder.
    pub fn close(self) -> anyhow::Result<()> {
        let Self { gate, shared, lock, folder } = self;
        // What the store still holds is written while the folder is ours.
        drop((gate, shared));
        drop(lock);
        folder.close().context("cannot remove the folder")
    }
}

/// The queue.
pub fn jobs() -> JobsSettings {
    JobsSettings { max_queued: 1_000, max_running: 32, input_timeout: Duration::from_mins(1) }
}

pub fn doors() -> server::ServerSettings {
    // What is sealed here is worth nothing, and a known key makes a run repeatable.
    let mut mcp = server::mcp::McpSettings::new(*b"the key of the fixture, and only");
    mcp.task_after = TASK_AFTER;
    server::ServerSettings {
        tls: None,
        dropped_log_lines: Arc::default(),
        reloads: Arc::default(),
        version: env!("CARGO_PKG_VERSION"),
        max_body_bytes: 1_000_000,
        body_timeout: Duration::from_secs(10),
        header_timeout: Duration::from_secs(10),
        idle_timeout: Duration::from_mins(1),
        half_closed_timeout: Duration::from_secs(1),
        max_unread_bytes: 100_000_000,
        max_connections: 256,
        drain_timeout: Duration::from_secs(1),
        allowed_hosts: HashSet::new(),
        allowed_origins: HashSet::new(),
        tokens: Vec::new(),
        // Nobody is the operator of a fixture: of these bytes no text is the hash.
        operator: [0; 32],
        mcp,
    }
}
