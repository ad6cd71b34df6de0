//! Step 2: admit the caller.

use std::sync::Arc;

use contract::codes;
use tokio::sync::OwnedSemaphorePermit;

use super::{Crossing, Refusal, find::Found};
use crate::{Failure, LiveJob, Recording, Tool};

/// A caller who may call, and a place among the calls that run at once.
pub(crate) struct Admitted {
    pub(super) tool: Arc<Tool>,
    pub(super) permit: OwnedSemaphorePermit,
}

impl Crossing<'_> {
    pub(crate) async fn admit(&mut self, found: Found) -> Result<Admitted, Refusal> {
        let slots = self.gate.slots.clone();
        let permit = match &self.call.recording {
            // A queued job has been promised that it will run: it waits for its turn.
            Recording::Job(_) => tokio::select! {
                permit = slots.acquire_owned() => permit.ok(),
                () = self.call.stop.cancelled() => None,
            },
            Recording::Always | Recording::WhenNeeded => slots.try_acquire_owned().ok(),
        };
        let Some(permit) = permit else {
            return Err(if self.call.stop.is_cancelled() {
                Failure::new(codes::CANCELLED, "the call was cancelled").into()
            } else {
                Failure::busy().into()
            });
        };
        // From here on the call is a job, also if it fails.
        if self.is_job() && self.live.is_none() {
            let id = self.job_id();
            self.live = Some(LiveJob::new(id, self.call.stop.clone()));
        }
        Ok(Admitted { tool: found.0, permit })
    }
}
