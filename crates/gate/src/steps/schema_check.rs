//! Checks a value against a schema: a small one at once, and one that takes long off the threads that serve
//! everybody, until the call's time is up or nobody waits for it.

use std::time::Duration;

use contract::{Interrupt, Interrupted, Schema, Violation};
use serde_json::Value;
use tokio::{runtime::Handle, task::JoinHandle};

use super::CallState;
use crate::beside_runtime::apart;

impl CallState {
    /// Every way in which a value of so many bytes does not match. There is time for that until the call's own is
    /// up, and in any case for as long as `grace`.
    pub(super) fn violations(
        &self,
        schema: &Schema,
        value: &Value,
        bytes: u64,
        grace: Duration,
    ) -> Result<Vec<Violation>, Interrupted> {
        if schema.is_heavy(bytes) {
            let interrupt = Interrupt::default();
            let timeout = Duration::from_millis(self.limits.timeout_ms);
            let time = timeout.saturating_sub(self.began.elapsed()).max(grace);
            let timer = self.fire_after(time, interrupt.clone());
            let checked = apart(|| schema.check(value, &interrupt));
            if let Some(timer) = timer {
                timer.abort();
            }
            return checked;
        }
        Ok(if schema.is_valid(value) { Vec::new() } else { schema.violations(value) })
    }

    fn fire_after(&self, time: Duration, interrupt: Interrupt) -> Option<JoinHandle<()>> {
        let (stop, halt) = (self.call.stop.clone(), self.gate.halt.clone());
        let runtime = Handle::try_current().ok()?;
        Some(runtime.spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(time) => {}
                () = stop.cancelled() => {}
                () = halt.cancelled() => {}
            }
            interrupt.fire();
        }))
    }
}
