//! Which access a sandboxed process has where: one table, from the paths of a sandbox.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::ProcessSandbox;
use crate::files::PathLocation;

/// The paths that every program needs to run at all: programs, libraries, and what describes the machine.
/// They can be read and executed, and changed only where a sandbox names them. In `/proc` the kernel shows nothing more
/// of processes outside of the sandbox than everybody can see.
const SYSTEM_FOLDERS: [&str; 14] = [
    "/bin",
    "/etc",
    "/gnu/store",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/opt",
    "/proc",
    "/run/systemd/resolve",
    "/sbin",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/usr",
];

/// What the kernel obeys where it is written: read at most.
const KERNEL_FOLDERS: [&str; 1] = ["/sys"];

/// Devices that hold nothing, which can be read and written.
const DEVICES: [&str; 5] = ["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// Devices to calculate with, where there is access to everything: they hold nothing of others either.
const PROCESSORS: [&str; 4] = ["/dev/accel", "/dev/dri", "/dev/kfd", "/dev/nvidia"];

/// The folder whose entries are looked at one by one, because disks are among them, terminals and keyboards.
const DEVICE_FOLDER: &str = "/dev";

/// The folders in there that have files and no devices.
const FILES_BESIDE_DEVICES: [&str; 3] = ["/dev/hugepages", "/dev/mqueue", "/dev/shm"];

/// The access to a path and everything below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathAccess {
    None,
    /// It can be read and executed.
    Read,
    /// It can be changed, too.
    Write,
}

/// What a sandbox says about one path.
enum AccessRule {
    Exactly(PathAccess),
    AtMost(PathAccess),
    AtLeast(PathAccess),
}

/// The access to every path: that of the nearest entry above it.
pub(super) struct AccessMap {
    /// The paths where the access is another one than above.
    changes: BTreeMap<PathBuf, PathAccess>,
    /// The folders above them.
    above: BTreeSet<PathBuf>,
    /// The paths that the lists of the sandbox name.
    named: BTreeSet<PathBuf>,
}

impl AccessMap {
    /// The table of a sandbox around `program`. A later rule about the same path counts more: what is named in lists
    /// counts more than what is hidden.
    pub(super) fn of(sandbox: &ProcessSandbox, program: &Path) -> Self {
        let mut rules = RuleList::default();
        let existing = |path: &&&str| Path::new(path).exists();
        for path in KERNEL_FOLDERS.iter().filter(existing) {
            rules.add(Path::new(path), || AccessRule::AtMost(PathAccess::Read));
        }
        for path in SYSTEM_FOLDERS.iter().filter(existing) {
            rules.add(Path::new(path), || AccessRule::Exactly(PathAccess::Read));
        }
        for path in DEVICES.iter().filter(existing) {
            rules.add(Path::new(path), || AccessRule::Exactly(PathAccess::Write));
        }
        for path in &sandbox.fixed {
            rules.add_all(path, || AccessRule::AtMost(PathAccess::Read));
        }
        for path in &sandbox.hidden {
            rules.add_all(path, || AccessRule::AtMost(PathAccess::None));
        }
        for path in &sandbox.read {
            rules.add_direct(path, || AccessRule::Exactly(PathAccess::Read));
        }
        for path in &sandbox.write {
            rules.add_direct(path, || AccessRule::Exactly(PathAccess::Write));
        }
        rules.add(program, || AccessRule::AtLeast(PathAccess::Read));
        let mut map = rules.resolve();
        let lists = sandbox.read.iter().chain(&sandbox.write);
        let places = lists.filter_map(|path| PathLocation::of(path).ok());
        let direct = places.filter(PathLocation::is_direct);
        map.named = direct.map(|location| location.end().to_owned()).collect();
        map
    }

    /// The access to an entry of a folder with this access.
    pub(super) fn access(&self, path: &Path, inherited: PathAccess) -> PathAccess {
        self.changes.get(path).copied().unwrap_or(inherited)
    }

    /// The access to a path.
    pub(super) fn access_at(&self, path: &Path) -> PathAccess {
        let nearest = path.ancestors().find_map(|above| self.changes.get(above));
        nearest.copied().unwrap_or(PathAccess::None)
    }

    /// True if the access is another one somewhere below, or devices are there.
    pub(super) fn is_divided(&self, path: &Path) -> bool {
        let has_devices = path == Path::new(DEVICE_FOLDER)
            || path.starts_with(DEVICE_FOLDER)
                && !FILES_BESIDE_DEVICES.iter().any(|folder| path.starts_with(folder))
                && !self.names_above(path);
        self.above.contains(path) || has_devices
    }

    /// True if a sandbox names this very path.
    pub(super) fn names(&self, path: &Path) -> bool {
        self.named.contains(path)
    }

    /// True if access to the place of a device is access to the device: others write to the terminal of the operator, or
    /// read what is typed there.
    pub(super) fn opens_device(&self, path: &Path) -> bool {
        let known = || DEVICES.iter().any(|device| path == Path::new(device));
        let calculates = |device: &str| {
            path.starts_with(device)
                || path.parent() == Some(Path::new(DEVICE_FOLDER))
                    && path.as_os_str().as_encoded_bytes().starts_with(device.as_bytes())
        };
        known() || PROCESSORS.iter().any(|device| calculates(device)) || self.names_above(path)
    }

    /// True if a sandbox names this path, or one above it that is not `/`.
    fn names_above(&self, path: &Path) -> bool {
        let above = path.ancestors().filter(|above| above.parent().is_some());
        above.into_iter().any(|above| self.named.contains(above))
    }

    /// The names in a folder that lead to other access.
    pub(super) fn names_in(&self, folder: &Path) -> BTreeSet<OsString> {
        let known = self.changes.keys().chain(&self.above);
        let inside = known.filter(|path| path.parent() == Some(folder));
        inside.filter_map(|path| path.file_name().map(OsString::from)).collect()
    }
}

/// The rules by path. A path comes behind the folders above it.
#[derive(Default)]
struct RuleList(BTreeMap<PathBuf, Vec<AccessRule>>);

impl RuleList {
    /// A rule about what a path leads to.
    fn add(&mut self, path: &Path, rule: impl Fn() -> AccessRule) {
        if let Ok(location) = PathLocation::of(path) {
            self.0.entry(location.end().to_owned()).or_default().push(rule());
        }
    }

    /// A rule about a path without links. What was a folder when the path was chosen may be a link now, which somebody
    /// has put there and which leads to what is hidden.
    fn add_direct(&mut self, path: &Path, rule: impl Fn() -> AccessRule) {
        if PathLocation::of(path).is_ok_and(|location| location.is_direct()) {
            self.add(path, rule);
        }
    }

    /// A rule about what a path leads to, and about each link on the way.
    fn add_all(&mut self, path: &Path, rule: impl Fn() -> AccessRule) {
        let Ok(location) = PathLocation::of(path) else { return };
        for place in location.places() {
            self.0.entry(place.to_owned()).or_default().push(rule());
        }
    }

    fn resolve(self) -> AccessMap {
        let mut map =
            AccessMap { changes: BTreeMap::new(), above: BTreeSet::new(), named: BTreeSet::new() };
        for (path, rules) in self.0 {
            let inherited = path.parent().map_or(PathAccess::None, |above| map.access_at(above));
            let access = rules.iter().fold(inherited, |access, rule| match rule {
                AccessRule::Exactly(exactly) => *exactly,
                AccessRule::AtMost(most) => access.min(*most),
                AccessRule::AtLeast(least) => access.max(*least),
            });
            if access != inherited {
                map.above.extend(path.ancestors().skip(1).map(Path::to_owned));
                map.changes.insert(path, access);
            }
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_rule_counts() {
        let own = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let sandbox = ProcessSandbox {
            write: own(&["/", "/t/project/data/open"]),
            read: own(&["/t/project/docs"]),
            hidden: own(&["/t/project/data", "/t/project/docs"]),
            fixed: own(&["/t/project/lock", "/t/project/data/below"]),
            ..ProcessSandbox::default()
        };
        let map = AccessMap::of(&sandbox, Path::new("/t/bin/program"));
        for (path, expected) in [
            ("/t", PathAccess::Write),
            ("/t/project/new", PathAccess::Write),
            ("/t/bin/program", PathAccess::Write),
            ("/t/project/lock", PathAccess::Read),
            ("/t/project/docs/x", PathAccess::Read),
            ("/t/project/data/token", PathAccess::None),
            ("/t/project/data/below/x", PathAccess::None),
            ("/t/project/data/open/x", PathAccess::Write),
            ("/usr/bin", PathAccess::Read),
        ] {
            assert_eq!(map.access_at(Path::new(path)), expected, "{path}");
        }
        assert!(map.is_divided(Path::new("/t/project")) && map.is_divided(Path::new("/dev")));
        // What changes nothing divides nothing.
        assert!(!map.is_divided(Path::new("/t/bin")));
        let narrow = ProcessSandbox { fixed: own(&["/t/lock"]), ..ProcessSandbox::default() };
        let map = AccessMap::of(&narrow, Path::new("/t/bin/program"));
        assert_eq!(map.access(Path::new("/t/lock"), PathAccess::None), PathAccess::None);
        assert_eq!(map.access(Path::new("/t/bin/program"), PathAccess::None), PathAccess::Read);
    }
}
