//! Decisions about approvals.

use serde_json::json;

use super::{Approval, ApprovalId, ApprovalState, DecisionResult};
use crate::{Gate, StoreError, Timestamp, truncate};

/// The longest reason of a decision, in characters.
pub const MAX_REASON_CHARACTERS: usize = 500;
/// The same in bytes: what a door did not refuse is cut here.
const MAX_REASON_BYTES: u64 = 4 * MAX_REASON_CHARACTERS as u64;

/// Cuts a reason that is too long.
pub(crate) fn limit_reason(reason: &mut Option<String>) {
    if let Some(reason) = reason {
        truncate::text(reason, MAX_REASON_BYTES);
    }
}

/// The decision of a person.
#[derive(Debug, Clone)]
pub struct ApprovalDecision {
    /// Yes or no.
    pub approve: bool,
    /// The person who decides, for the journal.
    pub by: String,
    /// Why; the caller reads it.
    pub reason: Option<String>,
}

impl Gate {
    /// Approves or refuses a request that waits. Only for doors that have seen the operator's
    /// credential.
    pub async fn decide(
        &self,
        id: &ApprovalId,
        mut decision: ApprovalDecision,
    ) -> Result<DecisionResult, StoreError> {
        limit_reason(&mut decision.reason);
        let now = self.clock.now();
        let until = after(now, self.settings().approvals.valid);
        let decided = self.store.decide_approval(id.clone(), decision, now, until).await?;
        if let DecisionResult::Done(approval) = &decided {
            let event = match approval.state {
                ApprovalState::Approved => "approval_approved",
                _ => "approval_refused",
            };
            self.write_down(event, approval);
            self.metrics.decided(approval.state == ApprovalState::Approved);
            self.decided.notify_waiters();
        }
        Ok(decided)
    }

    /// A line of the journal about an approval.
    pub(crate) fn write_down(&self, event: &str, approval: &Approval) {
        let mut fields = json!({
            "approval_id": approval.id,
            "tool": approval.tool,
            "caller": approval.caller,
            "request_id": approval.request_id,
            "input_sha256": approval.input_sha256,
        });
        if let Some(job) = &approval.job_id {
            fields["job_id"] = json!(job);
        }
        match approval.state {
            ApprovalState::Approved | ApprovalState::Refused => {
                fields["by"] = json!(approval.decided_by);
                if let Some(reason) = &approval.reason {
                    fields["reason"] = json!(reason);
                }
            }
            _ => {}
        }
        fields["expires_at"] = json!(approval.expires_at);
        self.journal.event(self.clock.now(), event, fields);
    }
}

/// A time later by so much.
pub(crate) fn after(now: Timestamp, wait: std::time::Duration) -> Timestamp {
    let milliseconds = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
    Timestamp(now.0.saturating_add(milliseconds))
}
