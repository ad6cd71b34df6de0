//! Reading what others wrote: bounded, and never waiting for a pipe.

use std::{
    ffi::OsString,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use rustix::fs::{Mode, OFlags};

/// The largest of the small files (release notes, kernel values, metadata), in bytes.
const MAX_SMALL_BYTES: u64 = 1_048_576;

/// The bytes that are read at once.
const PAGE_BYTES: usize = 4_096;

/// The number of entries of a folder that are looked at.
pub(crate) const MAX_FOLDER_ENTRIES: usize = 100_000;

/// The reason why a file was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// There is none.
    Absent,
    /// It is larger than the limit.
    TooLarge,
    /// It may not be read, or is no file.
    Unreadable,
}

/// A file whole, unless it is larger than `max`.
pub(crate) fn bytes(path: &Path, max: u64) -> Result<Vec<u8>, ReadError> {
    let (file, size) = open_sized(path)?;
    if size > max {
        return Err(ReadError::TooLarge);
    }
    // Room for one byte more than there is: the end is seen without another round of growing.
    // Files of the kernel do not tell their size, and most fit into a page.
    let room = usize::try_from(size).unwrap_or(0).saturating_add(1).max(PAGE_BYTES);
    let mut bytes = Vec::with_capacity(room);
    file.take(max + 1).read_to_end(&mut bytes).map_err(|_| ReadError::Unreadable)?;
    if bytes.len() as u64 > max { Err(ReadError::TooLarge) } else { Ok(bytes) }
}

/// A small file as text; what is no UTF-8 in it is replaced.
pub(crate) fn text(path: &Path) -> Option<String> {
    let bytes = bytes(path, MAX_SMALL_BYTES).ok()?;
    Some(
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    )
}

/// The beginning of a file: files of the kernel are made while they are read, and the rest of
/// one costs time.
#[cfg(target_os = "linux")]
pub(crate) fn beginning(path: &Path, max: u64) -> Option<String> {
    let mut bytes = Vec::with_capacity(usize::try_from(max).unwrap_or(0));
    open(path).ok()?.take(max).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A file that holds a number.
#[cfg(target_os = "linux")]
pub(crate) fn number(path: &Path) -> Option<u64> {
    text(path)?.trim().parse().ok()
}

/// The names in a folder, sorted; nothing where there is no such folder.
pub(crate) fn names(folder: &Path) -> Option<Vec<OsString>> {
    let entries = std::fs::read_dir(folder).ok()?;
    let entries = entries.take(MAX_FOLDER_ENTRIES);
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort_unstable();
    Some(names)
}

/// The folders in a folder whose name begins with `prefix`, sorted.
pub(crate) fn folders(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut found = names(folder).unwrap_or_default();
    found.retain(|name| name.as_encoded_bytes().starts_with(prefix.as_bytes()));
    found.iter().map(|name| folder.join(name)).filter(|path| path.is_dir()).collect()
}

/// Opens a file for reading. A pipe with nobody at its other end would be waited for, and a
/// device may do anything: both are refused.
#[cfg(target_os = "linux")]
pub(crate) fn open(path: &Path) -> Result<File, ReadError> {
    open_sized(path).map(|(file, _)| file)
}

/// Opens a file as `open` does, and says how large it is, in bytes.
fn open_sized(path: &Path) -> Result<(File, u64), ReadError> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(opened) => File::from(opened),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Err(ReadError::Absent),
        Err(_) => return Err(ReadError::Unreadable),
    };
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok((file, metadata.len())),
        _ => Err(ReadError::Unreadable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert_eq!(bytes(&at("none"), 10), Err(ReadError::Absent));
        assert_eq!(bytes(folder.path(), 10), Err(ReadError::Unreadable));
        std::os::unix::fs::symlink("loop", at("loop")).unwrap();
        assert_eq!(bytes(&at("loop"), 10), Err(ReadError::Unreadable));
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert_eq!(bytes(&at("pipe"), 10), Err(ReadError::Unreadable));
        std::fs::write(at("file"), "0123456789").unwrap();
        assert_eq!(bytes(&at("file"), 10).unwrap(), b"0123456789");
        assert_eq!(bytes(&at("file"), 9), Err(ReadError::TooLarge));
    }

    #[test]
    fn a_huge_file_costs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("huge");
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(bytes(&path, 1 << 20), Err(ReadError::TooLarge));
        assert_eq!(text(&path), None);
    }
}
