//! The toolset `mlxctl`: servers of language models on this machine, started and stopped.
//!
//! A model server outlives the call that started it, and the process that took the call. So nothing about it is
//! remembered in memory: each port has a [`place`] on disk, whose lock is held as long as a server of ours is
//! there (`guard::process::Keep`). Whoever looks, this process or another, sees the same.

mod diagnosis;
mod environment;
mod failure;
mod load;
mod model;
mod place;
mod ports;
mod ready;
mod status;
mod unload;

pub use diagnosis::{Diagnosis, diagnose};
pub(crate) use load::Load;
pub use status::{Health, Server, State, status};
pub(crate) use unload::Unload;

use gate::Running;

/// The port that the contract has let pass.
fn port_of(call: &Running) -> u16 {
    let port = call.input.get("port").and_then(serde_json::Value::as_u64);
    port.and_then(|port| u16::try_from(port).ok()).unwrap_or_default()
}
