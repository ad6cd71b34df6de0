//! Files of our own, at paths of the operator's.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::OFlags;

/// Opens a regular file for reading, also behind symbolic links. A pipe in its place would hold us until somebody writes
/// to it.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Looked at first because opening a device can already do something.
    let is_regular = path.metadata()?.is_file();
    // It may have been exchanged meanwhile.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let open = || OpenOptions::new().read(true).custom_flags(flags).open(path);
    match is_regular.then(open).transpose()? {
        Some(file) if file.metadata()?.is_file() => Ok(file),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}
