//! Finished jobs and their artifacts do not stay for ever.

mod surplus;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use serde_json::json;
use tokio::sync::{Notify, watch};

use crate::{
    Gate, JobId, StoreError, Timestamp,
    store::{JobRetention, RecordRetention},
};
pub use surplus::{KeptJobs, Surplus};

/// The number of jobs that are looked for at once: each time everything is counted.
const MAX_OVERDUE: usize = 50_000;
/// The number of jobs that are removed in one go, so that a large backlog holds up nobody.
const BATCH: usize = 500;
/// New records are swept once they are this part of what may be kept: nobody fills the disk between two sweeps.
const SWEEP_AFTER_PART: u64 = 8;
/// But not before they are so many jobs or bytes, and at the latest when they are so many bytes.
const SWEEP_AFTER_JOBS: u64 = 1_000;
const MIN_SWEEP_AFTER_BYTES: u64 = 1_024 * 1_024;
const MAX_SWEEP_AFTER_BYTES: u64 = 256 * 1_024 * 1_024;

/// The records that were kept since the last sweep.
#[derive(Debug)]
pub(crate) struct NewRecords {
    bytes: AtomicU64,
    jobs: AtomicU64,
    /// So many bytes or jobs are swept at once.
    many_bytes: AtomicU64,
    many_jobs: AtomicU64,
    many: Notify,
}

impl Default for NewRecords {
    fn default() -> Self {
        let number = AtomicU64::new;
        Self {
            bytes: number(0),
            jobs: number(0),
            many_bytes: number(u64::MAX),
            many_jobs: number(u64::MAX),
            many: Notify::new(),
        }
    }
}

impl NewRecords {
    pub(crate) fn add_bytes(&self, bytes: usize) {
        let many = self.many_bytes.load(Ordering::Relaxed);
        let before = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if before < many && before.saturating_add(bytes as u64) >= many {
            self.many.notify_one();
        }
    }

    pub(crate) fn add_job(&self, bytes: usize) {
        self.add_bytes(bytes);
        let jobs = self.jobs.fetch_add(1, Ordering::Relaxed) + 1;
        if jobs == self.many_jobs.load(Ordering::Relaxed) {
            self.many.notify_one();
        }
    }

    /// Counts anew, for a sweep.
    fn start_over(&self, retention: &RetentionSettings) {
        let many = (retention.max_jobs / SWEEP_AFTER_PART).max(SWEEP_AFTER_JOBS);
        self.many_jobs.store(many, Ordering::Relaxed);
        let many = (retention.max_bytes / SWEEP_AFTER_PART)
            .clamp(MIN_SWEEP_AFTER_BYTES, MAX_SWEEP_AFTER_BYTES);
        self.many_bytes.store(many, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
        self.jobs.store(0, Ordering::Relaxed);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// The time between two sweeps.
    pub sweep_interval: Duration,
}

/// Removes what is overdue and tells how many jobs went.
pub async fn sweep(gate: &Gate, retention: &RetentionSettings) -> Result<usize, StoreError> {
    let now = gate.clock.now();
    let age = i64::try_from(retention.max_age.as_millis()).unwrap_or(i64::MAX);
    let before = Timestamp(now.0.saturating_sub(age));
    let policy = JobRetention {
        before,
        max_jobs: retention.max_jobs,
        max_artifact_bytes: retention.max_artifact_bytes,
        max_bytes: retention.max_bytes,
        limit: MAX_OVERDUE,
    };
    let mut removed = 0;
    loop {
        let overdue = gate.store.overdue(policy).await?;
        let before = removed;
        for batch in overdue.chunks(BATCH) {
            removed += remove(gate, batch).await?;
        }
        let is_stuck = removed == before;
        if overdue.len() < MAX_OVERDUE || is_stuck {
            break;
        }
    }
    let stays = RecordRetention {
        now,
        before,
        max_bytes: retention.max_bytes,
        max_quarantined: retention.max_quarantined,
        max_approvals: retention.max_approvals,
    };
    gate.store.forget(stays).await?;
    if removed > 0 {
        gate.journal.event(now, "jobs_removed", json!({ "jobs": removed }));
    }
    Ok(removed)
}

/// Removes jobs with their artifacts and tells how many went.
async fn remove(gate: &Gate, ids: &[JobId]) -> Result<usize, StoreError> {
    let mut gone = Vec::with_capacity(ids.len());
    for id in ids {
        // Files first: a row without files can be swept again, files without a row
        // would be lost space.
        match gate.blobs.remove(id).await {
            Ok(()) => gone.push(id.clone()),
            Err(error) => {
                tracing::warn!(%error, job = %id, "artifacts could not be removed");
            }
        }
    }
    let count = gone.len();
    gate.store.forget_jobs(gone).await?;
    Ok(count)
}

/// Sweeps now and then, and when the settings change, for as long as there is somebody who sets them.
pub async fn keep_sweeping(gate: &Gate, mut settings: watch::Receiver<RetentionSettings>) {
    loop {
        let retention = *settings.borrow_and_update();
        gate.new_records.start_over(&retention);
        match sweep(gate, &retention).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "removed old jobs"),
            Err(error) => tracing::warn!(%error, "old jobs could not be removed"),
        }
        tokio::select! {
            () = tokio::time::sleep(retention.sweep_interval) => {}
            changed = settings.changed() => if changed.is_err() { return },
            () = gate.new_records.many.notified() => {}
        }
    }
}
