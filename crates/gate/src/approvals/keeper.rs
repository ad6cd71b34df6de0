//! Who looks after approvals that nobody calls for: jobs go on when theirs is decided, and what
//! is over is written down as that.

use std::{
    collections::HashSet,
    sync::{Arc, Weak},
    time::Duration,
};

use super::Due;
use crate::{Gate, JobId, Jobs, StoreError};

/// How often to look for what other processes decided, a `toolgate approvals approve` for
/// instance. What this process decides is seen at once.
const LOOK: Duration = Duration::from_millis(500);

/// Looks after approvals for as long as there are jobs to look after.
pub(crate) async fn keep(gate: Arc<Gate>, jobs: Weak<Jobs>) {
    // A job that was woken is on the list until a worker has taken it.
    let mut woken = HashSet::new();
    loop {
        tokio::select! {
            () = gate.decided.notified() => {}
            () = tokio::time::sleep(LOOK) => {}
            () = gate.closing() => return,
        }
        let Some(jobs) = jobs.upgrade() else { return };
        if !jobs.looks_after_approvals() {
            continue;
        }
        match look(&gate).await {
            Ok(due) => wake(&jobs, &due.jobs, &mut woken),
            Err(error) => tracing::warn!(%error, "approvals could not be looked after"),
        }
    }
}

async fn look(gate: &Gate) -> Result<Due, StoreError> {
    let now = gate.clock.now();
    let due = gate.store.due(now).await?;
    if due.overdue {
        for approval in gate.store.expire_approvals(now).await? {
            gate.write_down("approval_expired", &approval);
        }
    }
    Ok(due)
}

fn wake(jobs: &Jobs, due: &[JobId], woken: &mut HashSet<JobId>) {
    woken.retain(|id| due.contains(id));
    for id in due {
        if jobs.may_take(id) && woken.insert(id.clone()) {
            jobs.resume(id.clone());
        }
    }
}
