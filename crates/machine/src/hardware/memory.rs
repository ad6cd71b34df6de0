//! The memory, as `/proc/meminfo` has it.

use super::{Ram, ram};
use crate::{MachineEnvironment, read};

pub(super) fn read(machine: &MachineEnvironment) -> Ram {
    let text = read::text(&machine.at("proc/meminfo")).unwrap_or_default();
    let (total, available) = parse(&text);
    ram(total, available)
}

/// Total and available bytes.
fn parse(text: &str) -> (u64, u64) {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
        kibibytes.checked_mul(1_024)
    };
    let total = field("MemTotal").unwrap_or(0);
    // Kernels before 3.14 do not estimate; what is free or caches files comes near.
    let available = field("MemAvailable").unwrap_or_else(|| {
        ["MemFree", "Buffers", "Cached"]
            .iter()
            .filter_map(|name| field(name))
            .fold(0, u64::saturating_add)
    });
    (total, available)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_caches_files_is_free() {
        let text = "MemTotal: 8388608 kB\nMemFree: 1048576 kB\nMemAvailable: 6291456 kB\n";
        let (total, available) = parse(text);
        let found = ram(total, available);
        assert_eq!((found.total, found.used, found.free), (8.0, 2.0, 6.0));
        let old = "MemTotal: 4096 kB\nMemFree: 1024 kB\nBuffers: 512 kB\nCached: 512 kB\n";
        assert_eq!(parse(old), (4_194_304, 2_097_152));
    }
}
