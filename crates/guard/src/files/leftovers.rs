//! Temporary files that a crash left behind.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{AtFlags, fstat, statat, unlinkat};

use super::file_tree::{FileId, id};
use super::list::read_folder;
use super::read::{FileKind, FileStatus};
use super::replace::is_temporary;

/// After this time nobody can still be writing to a temporary file.
const OLD: Duration = Duration::from_hours(1);
/// The number of times that a folder is looked through at most.
const INTERVAL: Duration = OLD;
/// The number of names of a folder that are looked at.
const MAX_NAMES: usize = 10_000;
/// Of how many folders we remember when they were looked through.
const MAX_FOLDERS: usize = 1_024;

/// Removes what crashes left in the folders that are written to.
#[derive(Debug, Default)]
pub(super) struct Sweeper {
    swept: Mutex<HashMap<FileId, Instant>>,
}

impl Sweeper {
    /// Removes the old temporary files of a folder, unless that was done lately. Nobody depends on it,
    /// so whatever goes wrong is left for the next time.
    pub fn sweep(&self, folder: &OwnedFd) {
        let Ok(stat) = fstat(folder) else { return };
        if !self.is_due(id(&stat)) {
            return;
        }
        let Ok(names) = read_folder(folder) else { return };
        for entry in names.take(MAX_NAMES).flatten() {
            let name = entry.file_name();
            if !name.to_str().is_ok_and(is_temporary) {
                continue;
            }
            let status = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
            if status.is_ok_and(|stat| is_old(&FileStatus::of(&stat))) {
                let _ = unlinkat(folder, name, AtFlags::empty());
            }
        }
    }

    fn is_due(&self, folder: FileId) -> bool {
        let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if swept.get(&folder).is_some_and(|at| now.duration_since(*at) < INTERVAL) {
            return false;
        }
        if swept.len() >= MAX_FOLDERS {
            swept.clear();
        }
        swept.insert(folder, now);
        true
    }
}

fn is_old(status: &FileStatus) -> bool {
    let age = status.modified.and_then(|at| SystemTime::now().duration_since(at).ok());
    status.kind == FileKind::File && age.is_some_and(|age| age > OLD)
}
