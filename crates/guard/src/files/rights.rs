//! The rights on a file that takes another's place: nobody has more than before.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{
    Gid, Mode, OFlags, Stat, Uid, XattrFlags, fchmod, fchown, fremovexattr, fsetxattr, fstat,
    getxattr, openat,
};
use rustix::io::Errno;

use super::FileError;

/// Where Linux keeps a list of users and groups who may use a file, beyond its mode.
const ACL: &str = "system.posix_acl_access";
/// The largest value that Linux keeps there, in bytes.
const MAX_ACL_BYTES: usize = 65_536;
/// The bits of a replaced file's mode that are kept: a file with new content must not run as its owner.
const KEPT_MODE: u32 = 0o777;
/// The part of it that is the owner's.
const OWNER_MODE: u32 = 0o700;

/// The list of the file that is replaced.
enum Acl {
    None,
    Some(Vec<u8>),
    /// There may be one.
    Unknown,
}

/// Gives a new file the group, the mode, the list of users and the owner of the one called `name`, as
/// far as we may. Where we may not, it is for fewer people than the old one.
pub(super) fn take_over(
    file: &File,
    folder: &OwnedFd,
    name: &str,
    old: &Stat,
) -> Result<(), FileError> {
    let own = fstat(file)?;
    // One at a time: whoever is not root may give a file to another group of theirs, and never to
    // another user. That we may not is no reason not to write.
    let group = Gid::from_raw(old.st_gid);
    let is_same_group = own.st_gid == old.st_gid || fchown(file.as_fd(), None, Some(group)).is_ok();
    let mode = old.st_mode & KEPT_MODE;
    match acl(folder, name) {
        Acl::None => {
            // A folder can give one to whatever is made in it, which the old file did not have.
            let is_plain =
                matches!(fremovexattr(file, ACL), Ok(()) | Err(Errno::NODATA | Errno::NOTSUP));
            let mode = match (is_plain, is_same_group) {
                (true, true) => mode,
                (true, false) => without_group(mode),
                (false, _) => mode & OWNER_MODE,
            };
            fchmod(file, Mode::from_raw_mode(mode))?;
        }
        // It holds the mode, too. The bits of the group are not the group's then, so they are never
        // set by themselves.
        Acl::Some(acl)
            if is_same_group && fsetxattr(file, ACL, &acl, XattrFlags::empty()).is_ok() => {}
        Acl::Some(_) | Acl::Unknown => fchmod(file, Mode::from_raw_mode(mode & OWNER_MODE))?,
    }
    // Last, because the rest is for the owner to do.
    if own.st_uid != old.st_uid {
        let _ = fchown(file.as_fd(), Some(Uid::from_raw(old.st_uid)), None);
    }
    Ok(())
}

/// The rights of all others on a file of another group: those that both the old group and all others had, because
/// any of them may be in either now.
fn without_group(mode: u32) -> u32 {
    let both = mode & (mode >> 3) & 0o007;
    (mode & OWNER_MODE) | (both << 3) | both
}

fn acl(folder: &OwnedFd, name: &str) -> Acl {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(handle) = openat(folder, name, flags, Mode::empty()) else { return Acl::Unknown };
    // By the handle's path: a file that we may not read cannot be opened in any other way.
    let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
    let mut value = vec![0; MAX_ACL_BYTES];
    match getxattr(path, ACL, &mut value[..]) {
        Ok(length) => {
            value.truncate(length);
            Acl::Some(value)
        }
        Err(Errno::NODATA | Errno::NOTSUP) => Acl::None,
        Err(_) => Acl::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_group_gets_nothing_that_it_did_not_have() {
        for (mode, expected) in [
            (0o600, 0o600),
            (0o640, 0o600),
            (0o660, 0o600),
            (0o644, 0o644),
            (0o664, 0o644),
            (0o755, 0o755),
            (0o604, 0o600),
            (0o606, 0o600),
            (0o666, 0o666),
        ] {
            assert_eq!(without_group(mode), expected, "{mode:o}");
        }
    }
}
