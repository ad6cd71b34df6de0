//! The watcher of approvals: resumes jobs whose approval was decided, and records which approvals
//! have expired.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use super::{ApprovalState, DueApprovals};
use crate::{Gate, Jobs, StoreError};

/// The interval at which to look for decisions of other processes, for instance `toolgate approvals
/// approve`. Decisions of this process are seen at once.
const LOOK: Duration = Duration::from_millis(500);

/// Watches approvals for as long as there are jobs.
pub(crate) async fn watch(gate: Arc<Gate>, jobs: Weak<Jobs>) {
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
            Ok(due) => due.jobs.into_iter().for_each(|job| jobs.resume(job)),
            Err(error) => tracing::warn!(%error, "approvals could not be looked after"),
        }
        jobs.let_go().await;
    }
}

async fn look(gate: &Gate) -> Result<DueApprovals, StoreError> {
    let now = gate.clock.now();
    let due = gate.store.due(now).await?;
    if due.overdue {
        for approval in gate.store.expire_approvals(now).await? {
            let expired = approval.state == ApprovalState::Expired;
            let event = if expired { "approval_expired" } else { "approval_cancelled" };
            gate.write_down(event, &approval);
        }
    }
    Ok(due)
}
