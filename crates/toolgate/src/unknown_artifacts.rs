//! Artifacts of jobs that the database does not know. A crash leaves some, of calls that were not recorded yet; where there are
//! many, the database is not the one that they belong to. They are told of, and kept for as long as any others.

use std::sync::Arc;

use gate::{Gate, JobId, Timestamp, retention::RetentionSettings};
use store::LocalBlobs;
use tokio::sync::watch;

/// Tells of those that were there before the start, and removes what is older than `max_age`, at every sweep. Nothing is removed
/// by a start: the next may have the right database.
pub async fn keep(
    gate: Arc<Gate>,
    blobs: LocalBlobs,
    before_start: Vec<JobId>,
    retention: watch::Receiver<RetentionSettings>,
) {
    let count = unknown(&gate, before_start).await.len();
    if count > 0 {
        tracing::warn!(
            count,
            folder = %blobs.artifact_folder().display(),
            "artifacts of jobs that the database does not know are kept until they are older than \
             `retention.max_age_days`; if they belong to another database, stop the server and put that one in place"
        );
    }
    loop {
        let every = retention.borrow().sweep_interval;
        tokio::time::sleep(every).await;
        let max_age = retention.borrow().max_age;
        let age = i64::try_from(max_age.as_millis()).unwrap_or(i64::MAX);
        remove(&gate, &blobs, Timestamp(gate.clock().now().0.saturating_sub(age))).await;
    }
}

/// Removes what is older than that.
async fn remove(gate: &Gate, blobs: &LocalBlobs, before: Timestamp) {
    let listed = blobs.clone();
    let jobs = match tokio::task::spawn_blocking(move || listed.jobs()).await {
        Ok(Ok(jobs)) => jobs,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the folder of artifacts cannot be read");
            return;
        }
        Err(_) => return,
    };
    let old = jobs.into_iter().filter(|job| job.time() < before).collect();
    for job in unknown(gate, old).await {
        match gate.blobs().remove(&job).await {
            Ok(()) => tracing::info!(%job, "removed old artifacts that the database does not know"),
            Err(error) => tracing::warn!(%error, %job, "artifacts could not be removed"),
        }
    }
}

/// Those of these jobs that the database does not know.
async fn unknown(gate: &Gate, jobs: Vec<JobId>) -> Vec<JobId> {
    let mut unknown = Vec::new();
    for job in jobs {
        if let Ok(None) = gate.store().job(&job).await {
            unknown.push(job);
        }
    }
    unknown
}
