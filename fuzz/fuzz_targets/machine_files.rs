//! Whatever the files of a machine hold: its hardware and software are told, and nothing panics. The
//! first byte picks the file, or the folder in which something gets a name.
#![no_main]

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt, path::Path};

use libfuzzer_sys::fuzz_target;
use machine::{MachineEnvironment, Selection};

/// Files with any bytes in them.
const FILES: [&str; 12] = [
    "etc/os-release",
    "lib/apk/db/installed",
    "proc/cpuinfo",
    "proc/driver/nvidia/gpus/0/information",
    "proc/meminfo",
    "proc/self/cgroup",
    "proc/self/mountinfo",
    "sys/devices/system/cpu/online",
    "usr/lib/python3.11/site-packages/a.dist-info/METADATA",
    "usr/share/misc/pci.ids",
    "var/lib/dpkg/status",
    "var/lib/rpm/rpmdb.sqlite",
];

/// Folders with a folder of any name in them.
const FOLDERS: [&str; 4] = [
    "opt/homebrew/Cellar",
    "usr/lib/python3.11/site-packages",
    "usr/local/Cellar",
    "var/lib/pacman/local",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let choice = usize::from(*first) % (FILES.len() + FOLDERS.len());
    plant(folder.path(), choice, rest);
    let places = MachineEnvironment::under(folder.path());
    let software = machine::software(&places, &Selection::all());
    assert!(software.packages.is_sorted());
    machine::hardware(&places);
});

fn plant(root: &Path, choice: usize, bytes: &[u8]) {
    if let Some(file) = FILES.get(choice) {
        let path = root.join(file);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
        return;
    }
    let name: Vec<u8> = bytes.iter().copied().filter(|byte| !b"/\0".contains(byte)).collect();
    // A name that the system does not take says nothing about us.
    let _ = fs::create_dir_all(
        root.join(FOLDERS[choice - FILES.len()]).join(OsStr::from_bytes(&name)),
    );
}
