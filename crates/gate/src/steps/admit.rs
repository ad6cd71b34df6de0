//! Step 2 of 9: admit the caller.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use contract::codes;
use tokio::sync::OwnedSemaphorePermit;

use super::{CallRefusal, CallState, find::FoundTool};
use crate::{Failure, Recording, Tool, live_jobs::JobHandle, shares::Share};

/// A call with a slot among those that run at once.
pub(crate) struct AdmittedCall {
    tool: Arc<Tool>,
    slot: Slot,
}

/// A place among the calls that run at once, and its caller's share of them.
pub(crate) struct Slot {
    _permit: OwnedSemaphorePermit,
    _share: Share,
}

impl AdmittedCall {
    pub(super) fn tool(&self) -> &Arc<Tool> {
        &self.tool
    }

    pub(super) fn into_parts(self) -> (Arc<Tool>, Slot) {
        (self.tool, self.slot)
    }
}

impl CallState {
    pub(crate) async fn admit(&mut self, found: FoundTool) -> Result<AdmittedCall, CallRefusal> {
        let (slots, halt) = (self.gate.slots.clone(), self.gate.halt.clone());
        // A job that is known by its name has been promised that it will run.
        let is_waiting = match self.call.recording {
            Recording::Job(_) => true,
            Recording::As(_) => self.live.is_some(),
            Recording::Always | Recording::WhenNeeded => false,
        };
        if let Some(failure) = self.call.channel.input_failure.take() {
            return Err((*failure).into());
        }
        if self.gate.is_stopping() && !is_waiting {
            return Err(Failure::unavailable(&"the server is shutting down").into());
        }
        if self.call.stop.is_cancelled() {
            return Err(Failure::new(codes::CANCELLED, "the call was cancelled").into());
        }
        let (shares, caller) = (&self.gate.shares, self.call.caller.name());
        let slot = if is_waiting {
            let permit = tokio::select! {
                permit = slots.acquire_owned() => permit.ok(),
                () = self.call.stop.cancelled() => None,
                () = halt.cancelled() => None,
            };
            permit.map(|permit| Slot { _permit: permit, _share: shares.take(caller) })
        } else {
            let permit = slots.try_acquire_owned().ok();
            permit
                .and_then(|permit| Some(Slot { _permit: permit, _share: shares.try_take(caller)? }))
        };
        let Some(slot) = slot else {
            return Err(if self.call.stop.is_cancelled() {
                Failure::new(codes::CANCELLED, "the call was cancelled").into()
            } else if is_waiting {
                Failure::new(codes::INTERRUPTED, "the server stopped before the call ran").into()
            } else {
                Failure::busy().into()
            });
        };
        if is_waiting {
            // Its time begins with its turn.
            self.began = Instant::now();
        }
        self.counted = true;
        self.gate.metrics.running.fetch_add(1, Ordering::Relaxed);
        // From here on the call is a job, also if it fails.
        if self.is_job() && self.live.is_none() {
            let id = self.job_id();
            self.live = Some(JobHandle::new(id, self.call.stop.clone()));
        }
        Ok(AdmittedCall { tool: found.into_tool(), slot })
    }
}
