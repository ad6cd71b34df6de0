//! Step 5 of 9: take a released output. One that a person has released from quarantine is given to
//! its caller, and nothing runs again for it.

use super::{CallRefusal, CallState, check_input::CheckedInput, claim_key::ClaimedKey};
use crate::{Failure, quarantine::RepeatedCall};

/// A call for which no output is recorded or released.
pub(crate) struct UnreleasedCall(ClaimedKey);

impl UnreleasedCall {
    pub(super) fn into_checked(self) -> CheckedInput {
        self.0.into_checked()
    }
}

impl CallState {
    pub(crate) async fn take_release(
        &mut self,
        claimed: ClaimedKey,
    ) -> Result<UnreleasedCall, CallRefusal> {
        let (gate, call) = (&self.gate, self.began);
        if gate.releases.is_stale(call) {
            gate.releases.look(&*gate.store, call, gate.clock.now());
        }
        match self.input_sha256.as_deref() {
            Some(hash) if gate.releases.may_have(hash) => Box::pin(self.take(claimed)).await,
            _ => Ok(UnreleasedCall(claimed)),
        }
    }

    /// Takes the released output of this very call, if there is one. Of several calls at once one
    /// gets it: the store decides.
    async fn take(&mut self, claimed: ClaimedKey) -> Result<UnreleasedCall, CallRefusal> {
        let repeated = RepeatedCall {
            caller: self.call.caller.name().to_owned(),
            tool: self.call.tool.clone(),
            input_sha256: self.input_sha256.clone().unwrap_or_default(),
        };
        let now = self.gate.clock.now();
        match self.gate.store.take_released(repeated, now).await {
            Ok(None) => Ok(UnreleasedCall(claimed)),
            Ok(Some(entry)) => Err(CallRefusal::Released(Box::new(entry))),
            // A person may have said that this call need not run again.
            Err(error) => Err(Failure::unavailable(&error).into()),
        }
    }
}
