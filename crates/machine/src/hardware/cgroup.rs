//! The limits of the control groups around this process, in both of their versions.
//!
//! `/sys/fs/cgroup` may be the one hierarchy of version 2, or a tmpfs with one folder for each
//! controller of version 1, with or without version 2 beside them. So nothing is guessed from
//! that path: `/proc/self/cgroup` says in which group this process is, the table of mounts says
//! where that hierarchy is to be found, and the smallest limit from there upwards counts.

use std::path::{Path, PathBuf};

use super::mounts::{Mount, below};
use crate::{MachineEnvironment, read};

/// The number of groups around this one that are looked at.
const MAX_DEPTH: usize = 64;

/// From here on version 1 means that there is no limit; it says so with the largest whole page.
const NO_LIMIT_BYTES: u64 = 1 << 62;

/// The limits of control groups.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct CgroupLimits {
    /// Processors' worth of time.
    pub cpus: Option<f64>,
    /// Bytes of memory.
    pub memory: Option<u64>,
}

/// The limits that control groups set for this process.
pub(super) fn read(machine: &MachineEnvironment, mounts: &[Mount], groups: &str) -> CgroupLimits {
    let mut allowed = CgroupLimits::default();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        if controllers.is_empty() {
            let mount = mounts.iter().rfind(|mount| mount.kind == "cgroup2");
            for folder in upwards(machine, mount, path) {
                smaller(&mut allowed.cpus, cpu_max(&folder));
                smaller(&mut allowed.memory, bytes(&folder.join("memory.max")));
            }
            continue;
        }
        let has = |list: &str, name: &str| list.split(',').any(|one| one == name);
        let mount = |name: &str| {
            mounts.iter().rfind(|mount| mount.kind == "cgroup" && has(&mount.options, name))
        };
        if has(controllers, "cpu") {
            for folder in upwards(machine, mount("cpu"), path) {
                smaller(&mut allowed.cpus, cpu_quota(&folder));
            }
        }
        if has(controllers, "memory") {
            for folder in upwards(machine, mount("memory"), path) {
                smaller(&mut allowed.memory, bytes(&folder.join("memory.limit_in_bytes")));
            }
        }
    }
    allowed
}

/// The folder of a group and of those around it, up to what is mounted.
fn upwards(machine: &MachineEnvironment, mount: Option<&Mount>, path: &str) -> Vec<PathBuf> {
    let Some(mount) = mount else { return Vec::new() };
    let group = below(mount, Path::new(path));
    let inside = |path: &&Path| path.starts_with(&mount.point);
    let here = |path: &Path| machine.at(path.strip_prefix("/").unwrap_or(path));
    group.ancestors().take_while(inside).take(MAX_DEPTH).map(here).collect()
}

/// A limit of memory, if there is one.
fn bytes(file: &Path) -> Option<u64> {
    read::number(file).filter(|bytes| *bytes < NO_LIMIT_BYTES)
}

/// `cpu.max`: a quota or `max`, and the period that it is for.
fn cpu_max(folder: &Path) -> Option<f64> {
    let text = read::text(&folder.join("cpu.max"))?;
    let mut words = text.split_whitespace();
    let quota = words.next()?.parse().ok()?;
    share(quota, words.next().map_or(Ok(100_000), str::parse).ok()?)
}

fn cpu_quota(folder: &Path) -> Option<f64> {
    // No limit is -1, which is no such number.
    let quota = read::number(&folder.join("cpu.cfs_quota_us"))?;
    share(quota, read::number(&folder.join("cpu.cfs_period_us"))?)
}

#[allow(clippy::cast_precision_loss)] // Microseconds of a second.
fn share(quota: u64, period: u64) -> Option<f64> {
    (quota > 0 && period > 0).then(|| quota as f64 / period as f64)
}

/// The smaller of two limits, where there are any.
fn smaller<T: PartialOrd>(kept: &mut Option<T>, found: Option<T>) {
    if kept.is_none() || found.is_some() && found < *kept {
        *kept = found;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::tests::{tree, write};

    fn allowed(mountinfo: &str, groups: &str, files: &[(&str, &str)]) -> CgroupLimits {
        let folder = tree(&[("proc/self/mountinfo", mountinfo)]);
        write(&folder.path().join("sys/fs/cgroup"), files);
        let machine = MachineEnvironment::under(folder.path());
        read(&machine, &crate::hardware::mounts::read(&machine), groups)
    }

    const UNIFIED: &str = "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn version_2_takes_the_smallest_limit_on_the_way_up() {
        let files = [
            ("a.slice/memory.max", "4294967296\n"),
            ("a.slice/cpu.max", "max 100000\n"),
            ("a.slice/b.service/memory.max", "max\n"),
            ("a.slice/b.service/cpu.max", "150000 100000\n"),
        ];
        let found = allowed(UNIFIED, "0::/a.slice/b.service\n", &files);
        assert_eq!(found, CgroupLimits { cpus: Some(1.5), memory: Some(1 << 32) });
    }

    #[test]
    fn version_2_in_a_namespace_of_its_own() {
        let files = [("memory.max", "1073741824\n"), ("cpu.max", "50000 100000\n")];
        let limits = CgroupLimits { cpus: Some(0.5), memory: Some(1 << 30) };
        assert_eq!(allowed(UNIFIED, "0::/\n", &files), limits);
        // The group is outside of what is mounted.
        assert_eq!(allowed(UNIFIED, "0::/../../x\n", &files), limits);
        let part = UNIFIED.replace(" / /sys", " /docker/abc /sys");
        assert_eq!(allowed(&part, "0::/docker/abc\n", &files), limits);
    }

    #[test]
    fn version_1_below_a_tmpfs() {
        let mountinfo = "\
31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
";
        let groups = "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n3:cpuset:/\n0::/\n";
        let files = [
            ("memory/memory.limit_in_bytes", "536870912\n"),
            ("cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
            ("cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            ("cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "25000\n"),
            ("cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n"),
        ];
        let found = allowed(mountinfo, groups, &files);
        assert_eq!(found, CgroupLimits { cpus: Some(0.25), memory: Some(1 << 29) });
    }

    #[test]
    fn no_limit_is_none() {
        let files = [("memory.max", "max\n"), ("cpu.max", "max 100000\n")];
        assert_eq!(allowed(UNIFIED, "0::/\n", &files), CgroupLimits::default());
        let mountinfo = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let files = [("memory/memory.limit_in_bytes", "9223372036854771712\n")];
        assert_eq!(allowed(mountinfo, "4:memory:/\n", &files), CgroupLimits::default());
        assert_eq!(allowed("", "4:memory:/\n0::/\n", &[]), CgroupLimits::default());
    }

    #[test]
    fn odd_limits_are_none() {
        for odd in ["0 0", "1 0", "-5 100000", "", "x y", "18446744073709551616 1"] {
            let found = allowed(UNIFIED, "0::/\n", &[("cpu.max", odd), ("memory.max", odd)]);
            assert_eq!(found.cpus, None, "{odd}");
        }
    }
}
