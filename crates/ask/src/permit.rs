//! The right to make one call.

use std::sync::Arc;

use gate::{BoxFuture, Call, Gate, Outcome};

/// The right to make one call. A run is given one when it begins; it cannot be copied or made anywhere else, and a
/// call consumes it. So however often a model changes its mind, there is no second call.
#[derive(Debug)]
pub(crate) struct CallPermit(());

impl CallPermit {
    /// The permit of a run; made once, where it begins.
    pub(crate) fn of_a_run() -> Self {
        Self(())
    }

    /// The one call. This is the only place in this crate that calls the gate.
    pub(crate) fn spend(self, gate: &Arc<Gate>, call: Call) -> BoxFuture<'static, Outcome> {
        gate.call(call)
    }
}
