//! The state of a file, to be recognised later.

use std::{fs::File, io, os::unix::fs::MetadataExt as _};

/// What the system says of a file that nobody has changed: its identity, its length, and the time of its last change, which
/// no program can set back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LedgerState {
    pub(super) bytes: u64,
    file: (u64, u64),
    changed: (i64, i64),
}

impl LedgerState {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let now = file.metadata()?;
        let (file, changed) = ((now.dev(), now.ino()), (now.ctime(), now.ctime_nsec()));
        Ok(Self { bytes: now.len(), file, changed })
    }
}
