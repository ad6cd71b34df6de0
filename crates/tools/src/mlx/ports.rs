//! Finds the process that holds a port.

use std::{
    io::ErrorKind,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener},
    ops::RangeInclusive,
    time::Duration,
};

use guard::process::{Listener, listeners};
use tokio::time::{Instant, sleep};

/// The ports of model servers: those of the contract.
pub const PORTS: RangeInclusive<u16> = 8100..=8139;

/// The time that the kernel may take to free the port of a server that is gone.
const FREEING_PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks at whether it has.
const PAUSE: Duration = Duration::from_millis(20);

/// True if nobody listens on the port, here or on all addresses of this machine.
pub(super) fn is_free(port: u16) -> bool {
    let held = |address: SocketAddr| {
        TcpListener::bind(address).is_err_and(|error| error.kind() == ErrorKind::AddrInUse)
    };
    !held((Ipv4Addr::LOCALHOST, port).into()) && !held((Ipv6Addr::LOCALHOST, port).into())
}

/// The process that listens on the port, by name as far as we may see it.
pub(super) fn holder_now(port: u16) -> Option<String> {
    let on_port: Vec<_> = listeners().into_iter().filter(|one| one.port == port).collect();
    let owner = on_port.iter().find_map(Listener::owner);
    match owner {
        Some((pid, name)) => Some(format!("`{name}` (process {pid})")),
        None if on_port.is_empty() => None,
        None => Some("a process of another user".to_owned()),
    }
}

/// The same, off the threads that answer calls: every process of the machine is looked at.
pub(super) async fn holder(port: u16) -> Option<String> {
    tokio::task::spawn_blocking(move || holder_now(port)).await.unwrap_or_default()
}

/// The holder of a port, as a sentence.
pub(super) async fn held_by(port: u16) -> String {
    match holder(port).await {
        Some(holder) => format!("port {port} is held by {holder}"),
        None => format!("the server says that port {port} is taken"),
    }
}

/// Waits until the port is free, for a moment.
pub(super) async fn freed(port: u16) -> bool {
    let deadline = Instant::now() + FREEING_PATIENCE;
    while !is_free(port) {
        if Instant::now() >= deadline {
            return false;
        }
        sleep(PAUSE).await;
    }
    true
}
