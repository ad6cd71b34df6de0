//! Decisions about quarantined outputs.

use serde_json::json;

use super::{QuarantineSummary, ReleaseDecision, ReleaseResult, ReleasedPayload};
use crate::{
    Gate, Job, JobId, StoreError,
    approvals::{after, limit_reason},
};

impl Gate {
    /// Releases an entry to the caller of its call. Only for doors that have seen the operator's
    /// credential.
    pub async fn release(
        &self,
        id: &str,
        mut decision: ReleaseDecision,
    ) -> Result<ReleaseResult, StoreError> {
        let now = self.clock.now();
        let until = after(now, self.settings().quarantine.release_valid);
        limit_reason(&mut decision.reason);
        let released = self.store.release_quarantined(id, decision, now, until).await?;
        if let ReleaseResult::Done(entry) = &released {
            self.releases.add(&entry.input_sha256);
            self.write_entry_down("quarantine_released", entry);
        }
        Ok(released)
    }

    /// Writes down that the contract was made wide enough for an entry; a release that nobody
    /// came for is withdrawn by that. Only for doors that have seen the operator's credential.
    pub async fn adopt(
        &self,
        id: &str,
        mut decision: ReleaseDecision,
    ) -> Result<Option<QuarantineSummary>, StoreError> {
        limit_reason(&mut decision.reason);
        let now = self.clock.now();
        let adopted = self.store.adopt_quarantined(id, decision, now).await?;
        if let Some(entry) = &adopted {
            self.write_entry_down("quarantine_adopted", entry);
        }
        Ok(adopted)
    }

    /// The job of that name, and what a person has released of its output.
    pub async fn job(&self, id: &JobId) -> Result<Option<Job>, StoreError> {
        let Some(mut job) = self.store.job(id).await? else { return Ok(None) };
        if job.error_code.as_deref() == Some(contract::codes::INVALID_OUTPUT.code) {
            job.released = self.store.released_of_job(id, self.clock.now()).await?.map(Box::new);
        }
        Ok(Some(job))
    }

    fn write_entry_down(&self, event: &str, entry: &QuarantineSummary) {
        let mut fields = json!({
            "quarantine_id": entry.id,
            "tool": entry.tool,
            "caller": entry.caller,
            "request_id": entry.request_id,
            "input_sha256": entry.input_sha256,
            "by": entry.decided_by,
        });
        let more = [
            ("job_id", json!(entry.job_id)),
            ("reason", json!(entry.decision_reason)),
            ("expires_at", json!(entry.expires_at)),
        ];
        for (name, value) in more {
            if !value.is_null() {
                fields[name] = value;
            }
        }
        self.journal.event(self.clock.now(), event, fields);
    }
}

/// A payload that was released says of what.
impl ReleasedPayload {
    pub(crate) fn summary(tool: &str) -> String {
        format!("The output of {tool} did not match its contract; a person released it.")
    }
}
