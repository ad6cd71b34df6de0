//! The processor time that a server has used, found by the port that it listens on.
//!
//! Other work on the machine changes how many calls a second there are, but hardly what a call costs.

use std::{fs, path::Path, time::Duration};

/// The length of a tick of the kernel's accounts: it is the same on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// A server whose time is looked at.
pub struct Processor {
    stat: String,
}

impl Processor {
    /// The server that listens on this port of this machine, if it can be found.
    pub fn of_listener(port: u16) -> Option<Self> {
        let socket = format!("socket:[{}]", inode(port)?);
        let processes = fs::read_dir("/proc").ok()?.flatten();
        let owner =
            processes.map(|process| process.path()).find(|process| holds(process, &socket))?;
        Some(Self { stat: owner.join("stat").to_str()?.to_owned() })
    }

    /// The time that it has used until now.
    pub fn used(&self) -> Duration {
        let stat = fs::read_to_string(&self.stat).unwrap_or_default();
        // The name, which may have spaces, ends with the last bracket; behind it the times of
        // the process in user and in kernel mode are the 12th and 13th field.
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let ticks: u32 =
            fields.skip(11).take(2).filter_map(|field| field.parse::<u32>().ok()).sum();
        TICK * ticks
    }
}

/// The socket that listens on this port.
fn inode(port: u16) -> Option<String> {
    /// The state of a socket that listens, as the kernel writes it.
    const LISTENS: &str = "0A";
    let table = fs::read_to_string("/proc/net/tcp").ok()?;
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let own = fields.get(1)?.ends_with(&format!(":{port:04X}")) && *fields.get(3)? == LISTENS;
        own.then(|| fields.get(9).map(|inode| (*inode).to_owned()))?
    })
}

fn holds(process: &Path, socket: &str) -> bool {
    let Ok(files) = fs::read_dir(process.join("fd")) else { return false };
    files.flatten().any(|file| fs::read_link(file.path()).is_ok_and(|to| to.as_os_str() == socket))
}
