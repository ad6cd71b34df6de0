//! Between the claim and the approval: an answer that a person has released is given to its
//! caller, and nothing runs again for it.

use super::{CallState, Refusal, claim::Unique, input::Checked};
use crate::{Failure, quarantine::RepeatedCall};

/// A call that has no answer yet: none is recorded, and none was released.
pub(crate) struct Unanswered(Unique);

impl Unanswered {
    pub(super) fn into_checked(self) -> Checked {
        self.0.into_checked()
    }
}

impl CallState {
    pub(crate) async fn look_for_release(&mut self, unique: Unique) -> Result<Unanswered, Refusal> {
        let (gate, call) = (&self.gate, self.began);
        if gate.releases.is_stale(call) {
            gate.releases.look(&*gate.store, call, gate.clock.now());
        }
        match self.input_sha256.as_deref() {
            Some(hash) if gate.releases.may_have(hash) => Box::pin(self.take(unique)).await,
            _ => Ok(Unanswered(unique)),
        }
    }

    /// Takes the released answer of this very call, if there is one: in the store one of those
    /// who come at once gets it.
    async fn take(&mut self, unique: Unique) -> Result<Unanswered, Refusal> {
        let repeated = RepeatedCall {
            caller: self.call.caller.name().to_owned(),
            tool: self.call.tool.clone(),
            input_sha256: self.input_sha256.clone().unwrap_or_default(),
        };
        let now = self.gate.clock.now();
        match self.gate.store.take_released(repeated, now).await {
            Ok(None) => Ok(Unanswered(unique)),
            Ok(Some(entry)) => Err(Refusal::Released(Box::new(entry))),
            // A person may have said that this call need not run again.
            Err(error) => Err(Failure::unavailable(&error).into()),
        }
    }
}
