//! Processes of this machine: which ones run, and what they take.

#[allow(clippy::disallowed_types)] // Programs of the system, as a person starts them.
type Command = std::process::Command;

/// The command lines that have these words, with blanks between their own. A zombie has none.
pub fn running(words: &str) -> Vec<String> {
    let lines = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        // A process may end while it is being looked at.
        let line = std::fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.filter(|line| line.contains(words)).collect()
}

/// Sends a signal, as in `-TERM`; false where there is no such process any more.
pub fn signal(process: u32, name: &str) -> bool {
    let kill = Command::new("kill").args([name, &process.to_string()]).output();
    kill.is_ok_and(|output| output.status.success())
}

/// The memory that a process takes now, in bytes.
pub fn resident_bytes(process: u32) -> u64 {
    memory(process, "VmRSS:")
}

/// The part of it that is not its program, in bytes.
pub fn anonymous_bytes(process: u32) -> u64 {
    memory(process, "RssAnon:")
}

/// The most memory that a process ever took, in bytes.
pub fn peak_bytes(process: u32) -> u64 {
    memory(process, "VmHWM:")
}

/// From now on [`peak_bytes`] is about what the process takes from now on.
pub fn forget_peak(process: u32) {
    std::fs::write(format!("/proc/{process}/clear_refs"), "5").unwrap();
}

fn memory(process: u32, field: &str) -> u64 {
    status(process, field) * 1_024
}

/// The number of threads of a process.
pub fn threads(process: u32) -> u64 {
    status(process, "Threads:")
}

fn status(process: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
