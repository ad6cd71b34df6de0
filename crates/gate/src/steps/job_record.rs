//! The record of a call's job, before the call ends.

use super::CallState;
use crate::{Failure, Job, JobState};

impl CallState {
    /// Writes the job down as running, and lets others watch and stop it.
    pub(super) async fn save_running(&mut self) -> Result<(), Failure> {
        if self.running_saved {
            return Ok(());
        }
        let job = self.job(JobState::Running);
        self.gate.store.save(job).await.map_err(|error| Failure::unavailable(&error))?;
        self.let_others_watch();
        Ok(())
    }

    /// The job is on record as running: others may watch and stop it.
    pub(super) fn let_others_watch(&mut self) {
        self.running_saved = true;
        if let Some(live) = &self.live {
            live.live().state(JobState::Running);
            self.gate.live.insert(live.live().clone());
        }
    }

    /// The job as it stands before it ends.
    pub(super) fn job(&mut self, state: JobState) -> Job {
        Job {
            id: self.job_id(),
            tool: self.call.tool.clone(),
            state,
            caller: self.call.caller.name().to_owned(),
            request_id: self.call.request_id.to_string(),
            created_at: self.began_at,
            started_at: Some(self.began_at),
            finished_at: None,
            error_code: None,
            summary: None,
            input: self.input_kept.clone(),
            input_sha256: self.input_sha256.clone(),
            artifacts: Vec::new(),
            result: None,
            approval_id: self.call.approval.clone(),
            released: None,
            pending: None,
            error_message: None,
            http_status: 200,
            limits: self.call.limits,
        }
    }
}
