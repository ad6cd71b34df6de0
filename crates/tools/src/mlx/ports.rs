//! Who holds a port.

use std::{
    io::ErrorKind,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener},
    ops::RangeInclusive,
    time::Duration,
};

use guard::process::listeners;
use tokio::time::{Instant, sleep};

/// The ports of model servers: those of the contract.
pub(super) const PORTS: RangeInclusive<u16> = 8100..=8139;

/// How long the kernel may take to free the port of a server that is gone.
const FREEING_PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);

/// Whether nobody listens on the port, here or on all addresses of this machine.
pub(super) fn is_free(port: u16) -> bool {
    let held = |address: SocketAddr| {
        TcpListener::bind(address).is_err_and(|error| error.kind() == ErrorKind::AddrInUse)
    };
    !held((Ipv4Addr::LOCALHOST, port).into()) && !held((Ipv6Addr::LOCALHOST, port).into())
}

/// Whoever listens on the port, by name, as far as we may see.
pub(super) fn holder(port: u16) -> String {
    let mut on_port = listeners().into_iter().filter(|one| one.port == port);
    match on_port.find_map(|one| one.owner()) {
        Some((pid, name)) => format!("`{name}` (process {pid})"),
        None => "a process of another user".to_owned(),
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
