//! Finished jobs and their artifacts do not stay for ever.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use serde_json::json;
use tokio::sync::Notify;

use crate::{
    Gate, StoreError, Timestamp,
    store::{JobRetention, RecordRetention},
};

/// The number of jobs that are removed in one go, so that a large backlog holds up nobody.
const BATCH: usize = 500;
/// So many bytes of new records are swept at once: nobody fills the disk between two sweeps.
const SWEEP_AFTER: u64 = 256 * 1_024 * 1_024;

/// The bytes of the records that were kept since the last sweep.
#[derive(Debug, Default)]
pub(crate) struct KeptBytes {
    bytes: AtomicU64,
    many: Notify,
}

impl KeptBytes {
    pub(crate) fn add(&self, bytes: usize) {
        let before = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if before < SWEEP_AFTER && before.saturating_add(bytes as u64) >= SWEEP_AFTER {
            self.many.notify_one();
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct RetentionSettings {
    /// Finished jobs are kept so long.
    pub max_age: Duration,
    /// So many finished jobs are kept.
    pub max_jobs: u64,
    /// Artifacts take so many bytes.
    pub max_artifact_bytes: u64,
    /// Arguments and results of finished jobs take so many bytes, and quarantined outputs as many.
    pub max_bytes: u64,
    /// So many outputs are kept in quarantine.
    pub max_quarantined: u64,
    /// So many approvals are kept.
    pub max_approvals: u64,
}

/// Removes what is overdue and tells how many jobs went.
pub async fn sweep(gate: &Gate, retention: &RetentionSettings) -> Result<usize, StoreError> {
    let now = gate.clock.now();
    let age = i64::try_from(retention.max_age.as_millis()).unwrap_or(i64::MAX);
    let before = Timestamp(now.0.saturating_sub(age));
    let mut removed = 0;
    loop {
        let policy = JobRetention {
            before,
            max_jobs: retention.max_jobs,
            max_artifact_bytes: retention.max_artifact_bytes,
            max_bytes: retention.max_bytes,
            limit: BATCH,
        };
        let ids = gate.store.overdue(policy).await?;
        let count = ids.len();
        let mut gone = Vec::with_capacity(count);
        for id in ids {
            // Files first: a row without files can be swept again, files without a row
            // would be lost space.
            match gate.blobs.remove(&id).await {
                Ok(()) => gone.push(id),
                Err(error) => {
                    tracing::warn!(%error, job = %id, "artifacts could not be removed");
                }
            }
        }
        let stuck = gone.is_empty();
        removed += gone.len();
        let stays = RecordRetention {
            now,
            before,
            max_bytes: retention.max_bytes,
            max_quarantined: retention.max_quarantined,
            max_approvals: retention.max_approvals,
        };
        gate.store.forget(gone, stays).await?;
        if count < BATCH || stuck {
            break;
        }
    }
    if removed > 0 {
        gate.journal.event(now, "jobs_removed", json!({ "jobs": removed }));
    }
    Ok(removed)
}

/// Sweeps now and then, for as long as the process lives.
pub async fn keep_sweeping(gate: &Gate, retention: RetentionSettings, every: Duration) {
    loop {
        gate.kept.bytes.store(0, Ordering::Relaxed);
        match sweep(gate, &retention).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "removed old jobs"),
            Err(error) => tracing::warn!(%error, "old jobs could not be removed"),
        }
        tokio::select! {
            () = tokio::time::sleep(every) => {}
            () = gate.kept.many.notified() => {}
        }
    }
}
