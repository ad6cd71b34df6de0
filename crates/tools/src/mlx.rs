//! The toolset `mlxctl`: servers of language models on this machine, started and stopped.
//!
//! A model server outlives the call that started it, and the process that took the call. So nothing about it is
//! remembered in memory: each port has a `place` on disk, whose lock is held as long as a server of ours is
//! there (`guard::process::DetachedLaunch`). Whoever looks, this process or another, sees the same.

mod diagnosis;
mod environment;
mod failure;
mod health;
mod load;
mod log;
mod model;
mod port_folder;
mod ports;
mod ready;
mod simulated;
mod status;
mod unload;

pub use diagnosis::{MlxDiagnosis, diagnose};
pub use health::ModelServerHealth;
pub(crate) use load::MlxLoad;
pub use ports::PORTS;
pub use status::{ModelServer, ModelServerState, status};
pub(crate) use unload::MlxUnload;

use std::time::Duration;

use gate::{RunningCall, ToolError};

/// The time that another call may hold a port without a record.
const BEGINNING_PATIENCE: Duration = Duration::from_secs(5);

/// The port that the contract has let pass, however it is written.
fn port_of(call: &RunningCall) -> Result<u16, ToolError> {
    let port = crate::integer::argument(call, "port");
    let port = port.and_then(|port| u16::try_from(port).ok());
    // For a call that is not held to its contract.
    port.filter(|port| ports::PORTS.contains(port)).ok_or_else(|| {
        let (first, last) = (ports::PORTS.start(), ports::PORTS.end());
        ToolError::new("invalid_port", format!("the port must be one of {first} to {last}"))
    })
}
