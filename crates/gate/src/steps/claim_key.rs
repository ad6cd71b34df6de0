//! Step 4 of 9: claim the idempotency key. A call that was made before is not made again.

use contract::codes;

use super::{CallRefusal, CallState, check_input::CheckedInput};
use crate::{ClaimResult, Failure, IdempotencyClaim, Job, JobState, Outcome};

/// A call whose idempotency key is its own, or that has none. Only step 6, `approve`, gives a
/// key back.
pub(crate) struct ClaimedKey(CheckedInput);

impl ClaimedKey {
    pub(super) fn into_checked(self) -> CheckedInput {
        self.0
    }
}

impl CallState {
    pub(crate) async fn claim_key(
        &mut self,
        checked: CheckedInput,
    ) -> Result<ClaimedKey, CallRefusal> {
        let Some(claim) = self.claim_of_key() else { return Ok(ClaimedKey(checked)) };
        let store = self.gate.store.clone();
        // The job must be on record before the tool runs: a retry after a crash has to find
        // that it may have taken effect.
        let job = self.job(JobState::Running);
        match store.claim(claim, job).await.map_err(|error| Failure::unavailable(&error))? {
            ClaimResult::New => {
                self.let_others_watch();
                Ok(ClaimedKey(checked))
            }
            ClaimResult::Conflict => {
                self.live = None;
                Err(Failure::other_arguments().into())
            }
            ClaimResult::Known(id) => {
                // The job is the earlier call's, not this one's.
                self.live = None;
                let job = self.gate.job(&id).await.map_err(|error| Failure::unavailable(&error))?;
                Err(self.replay(job))
            }
        }
    }

    /// The caller's key for this call, if it has one.
    pub(super) fn claim_of_key(&self) -> Option<IdempotencyClaim> {
        Some(IdempotencyClaim {
            caller: self.call.caller.name().to_owned(),
            tool: self.tool.as_ref()?.contract.name.clone(),
            key: self.call.idempotency_key.clone()?,
            input_sha256: self.input_sha256.clone().unwrap_or_default(),
        })
    }

    fn replay(&mut self, job: Option<Job>) -> CallRefusal {
        let Some(job) = job else {
            let gone = "the outcome of this idempotency key is no longer kept";
            return Failure::new(codes::CONFLICT, gone).into();
        };
        if !job.state.is_final() {
            let mut failure = Failure::new(
                codes::CONFLICT,
                format!("the call with this idempotency key still runs as {}", job.id),
            );
            failure.retry_after = Some(1);
            return failure.into();
        }
        match Outcome::of_job(&job, self.call.request_id.clone()) {
            Some(outcome) => CallRefusal::Replayed(Box::new(outcome)),
            None if job.state == JobState::Cancelled => {
                Failure::new(codes::CANCELLED, "the call with this key was cancelled").into()
            }
            None => Failure::new(
                codes::INTERRUPTED,
                "the server stopped while the call with this key ran; it may have taken effect",
            )
            .into(),
        }
    }
}
