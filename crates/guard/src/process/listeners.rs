//! The sockets that listen on TCP ports of this machine, read from `/proc`.

use std::collections::HashSet;

use rustix::process::Pid;

use super::ProcessIdentity;
use super::process_table;

/// The state of a listening socket in the kernel's table.
const LISTEN: &str = "0A";

/// The addresses in the kernel's table that accept connections to 127.0.0.1: itself, all, and both in IPv6.
const LOOPBACK: [&str; 4] = [
    "0100007F",
    "00000000",
    "0000000000000000FFFF00000100007F",
    "00000000000000000000000000000000",
];

/// A socket that waits for connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Listener {
    pub port: u16,
    /// True if it accepts connections to 127.0.0.1.
    pub on_loopback: bool,
    inode: u64,
}

/// Every socket that waits for connections, over IPv4 and IPv6.
pub fn listeners() -> Vec<Listener> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(std::fs::read_to_string);
    tables.into_iter().flatten().flat_map(|table| parse(&table)).collect()
}

fn parse(table: &str) -> Vec<Listener> {
    let line = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, local, _, LISTEN, _, _, _, _, _, inode, ..] = fields[..] else { return None };
        let (address, port) = local.rsplit_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        Some(Listener {
            port,
            on_loopback: LOOPBACK.contains(&address),
            inode: inode.parse().ok()?,
        })
    };
    table.lines().skip(1).filter_map(line).collect()
}

impl Listener {
    /// The process that it belongs to, as far as we may see: its number and its name.
    pub fn owner(&self) -> Option<(i32, String)> {
        let holds =
            |process: &process_table::Process| sockets_of(process.pid).contains(&self.inode);
        let owner = process_table::all().into_iter().find(holds)?;
        let name = std::fs::read_to_string(format!("/proc/{}/comm", owner.pid.as_raw_nonzero()));
        Some((owner.pid.as_raw_nonzero().get(), name.unwrap_or_default().trim().to_owned()))
    }
}

impl ProcessIdentity {
    /// The sockets that wait for connections and belong to this process or one below it.
    pub fn listeners(&self) -> Vec<Listener> {
        let Some(process) = self.process() else { return Vec::new() };
        let below = process_table::descendants_of(process.pid).into_iter().map(|one| one.pid);
        let held: HashSet<u64> =
            below.chain([process.pid]).flat_map(|pid| sockets_of(pid).into_iter()).collect();
        if held.is_empty() {
            return Vec::new();
        }
        listeners().into_iter().filter(|listener| held.contains(&listener.inode)).collect()
    }
}

/// The inodes of the sockets that a process has open.
fn sockets_of(pid: Pid) -> HashSet<u64> {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())) else {
        return HashSet::new();
    };
    let inode = |entry: std::io::Result<std::fs::DirEntry>| {
        let target = std::fs::read_link(entry.ok()?.path()).ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    entries.filter_map(inode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_of_ours_is_found_with_its_owner() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let found = listeners().into_iter().find(|one| one.port == port).unwrap();
        assert_eq!(found.owner().unwrap().0, i32::try_from(std::process::id()).unwrap());
        let me = ProcessIdentity::of(rustix::process::getpid()).unwrap();
        assert!(me.listeners().contains(&found));
        drop(socket);
        assert!(!listeners().iter().any(|one| one.port == port));
    }

    #[test]
    fn both_families_are_read_and_connections_are_not_listeners() {
        let table = "  sl  local_address rem_address   st tx_queue …\n   \
            0: 0100007F:1FA4 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 123 1 0\n   \
            1: 0100007F:1FA5 0100007F:9999 01 00000000:00000000 00:00000000 00000000 0 0 124 1 0\n   \
            2: 00000000000000000000000001000000:1FA6 00000000000000000000000000000000:0000 0A \
            00000000:00000000 00:00000000 00000000 0 0 125 1 0\n  garbage\n";
        let found: Vec<_> = parse(table).iter().map(|one| (one.port, one.on_loopback)).collect();
        assert_eq!(found, [(8100, true), (8102, false)]);
    }
}
