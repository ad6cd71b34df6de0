//! The mounted file systems: `/proc/self/mountinfo`.

use std::{
    ffi::OsString,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

use crate::{MachineEnvironment, read};

/// The largest table that is read, in bytes: some hundred thousand mounts.
const MAX_BYTES: u64 = 33_554_432;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    /// The number of the device, as `major:minor`.
    pub device: String,
    /// The folder of the file system that is mounted.
    pub root: PathBuf,
    /// Where.
    pub point: PathBuf,
    /// The type of the file system.
    pub kind: String,
    /// The source of the mount: a device, or any word.
    pub source: String,
    /// The options of the file system; for a control group, its controllers.
    pub options: String,
}

/// Everything that is mounted; what is no line of the table is left out.
pub(super) fn read(machine: &MachineEnvironment) -> Vec<Mount> {
    let bytes = read::bytes(&machine.at("proc/self/mountinfo"), MAX_BYTES).unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').filter_map(mount).collect()
}

/// `36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/sda1 rw,errors=continue`
fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let device = text(fields.nth(2)?);
    let root = path(fields.next()?);
    let point = path(fields.next()?);
    fields.by_ref().find(|field| field == b"-")?;
    let kind = text(fields.next()?);
    let source = text(fields.next()?);
    let options = text(fields.next().unwrap_or_default());
    Some(Mount { device, root, point, kind, source, options })
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(&unescape(field)).into_owned()
}

fn path(field: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(field)))
}

/// The kernel writes a space as `\040`, and so on.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, more)) = rest.split_first() {
        let digits = more.get(..3).filter(|_| *first == b'\\');
        let value = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match value.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[3..];
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    bytes
}

/// Where a path of a control group (or of anything else that is mounted in part) is to be found.
pub(super) fn below(mount: &Mount, path: &Path) -> PathBuf {
    // A process in a namespace of its own may be outside what is mounted; then the mount itself
    // is all that can be seen.
    match path.strip_prefix(&mount.root) {
        Ok(rest)
            if rest.components().all(|part| matches!(part, std::path::Component::Normal(_))) =>
        {
            mount.point.join(rest)
        }
        _ => mount.point.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_taken_apart() {
        let line = br"36 35 98:0 /a /my\040disk rw,noatime shared:1 master:2 - ext4 /dev/sda1 rw";
        let found = mount(line).unwrap();
        assert_eq!(found.point, Path::new("/my disk"));
        assert_eq!((&*found.device, &*found.kind, &*found.source), ("98:0", "ext4", "/dev/sda1"));
        assert_eq!(mount(b""), None);
        assert_eq!(mount(b"36 35 98:0 / / rw"), None);
    }

    proptest! {
        #[test]
        fn any_line_is_read(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            mount(&line);
            prop_assert!(unescape(&line).len() <= line.len());
        }

        #[test]
        fn nothing_is_found_outside_a_mount(path in "(/|[.]{1,2}|[a-z])*") {
            let mount = mount(b"1 1 0:1 /a /sys/fs/cgroup rw - cgroup2 cgroup2 rw").unwrap();
            let found = below(&mount, Path::new(&path));
            prop_assert!(found.starts_with("/sys/fs/cgroup"));
            prop_assert!(!found.components().any(|part| part.as_os_str() == ".."));
        }
    }
}
