//! The folder of one port: a record and a log of its server, and a lock that says whether the server is there.

use std::{
    fs::{File, TryLockError},
    io::{self, Read},
    path::{Path, PathBuf},
};

use guard::{
    files::Folder,
    process::{ProcessIdentity, log_tail},
};
use serde::{Deserialize, Serialize};

const LOCK: &str = "lock";
const RECORD: &str = "server.json";
const LOG: &str = "log";
const WORK: &str = "work";
/// A record is a few hundred bytes.
const MAX_RECORD_BYTES: u64 = 65_536;

pub(super) struct PortFolder {
    folder: Folder,
    pub(super) port: u16,
}

/// The record of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ServerRecord {
    /// The process that stays with it; none where there never was one.
    pub(super) keeper: Option<ProcessIdentity>,
    /// The model, as it was asked for.
    pub(super) model: String,
    /// The same as the server was told.
    pub(super) target: String,
    /// The phase that it is in.
    pub(super) phase: ServerPhase,
    /// Since when, in milliseconds since 1970.
    pub(super) since: i64,
}

/// The phase of a server's life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ServerPhase {
    Loading,
    Ready,
    Unloading,
    /// It did not come to be, for this reason.
    Failed(String),
}

/// The state of a port: free, or held by a server of ours.
pub(super) enum PortOccupant {
    /// No server of ours is there, and none can come as long as the lock is held. A server that was
    /// there, or was to be, may have left its record.
    Free { lock: File, left: Option<ServerRecord> },
    /// One is there, or on its way, with its keeper; at the very beginning nothing is known of it, nor where
    /// somebody only looks.
    Held(Option<(ServerRecord, ProcessIdentity)>),
}

impl PortFolder {
    /// Opens the folder of a port, and makes it if it is missing.
    pub(super) fn open(dir: &Path, port: u16) -> io::Result<PortFolder> {
        let folder = Folder::open_or_create(&dir.join(port.to_string()))?;
        Ok(PortFolder { folder, port })
    }

    /// The folder of a port where something was loaded once.
    pub(super) fn existing(dir: &Path, port: u16) -> io::Result<Option<PortFolder>> {
        if dir.join(port.to_string()).is_dir() { Self::open(dir, port).map(Some) } else { Ok(None) }
    }

    /// Looks who is there. What a server has left that died with its keeper, by `kill -9`, is cleared up.
    pub(super) fn look(&self) -> io::Result<PortOccupant> {
        let lock = self.folder.open_lock(LOCK)?;
        match lock.try_lock() {
            Ok(()) => {
                let left = self.record();
                if let Some(keeper) = left.as_ref().and_then(|record| record.keeper) {
                    keeper.clear_up();
                }
                Ok(PortOccupant::Free { lock, left })
            }
            // A record of somebody who is gone says nothing about whoever has the lock now.
            Err(TryLockError::WouldBlock) => {
                let record = self.record();
                let alive = record
                    .as_ref()
                    .and_then(|record| record.keeper)
                    .filter(ProcessIdentity::is_alive);
                Ok(PortOccupant::Held(record.zip(alive)))
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// The record, if there is one that can be read.
    pub(super) fn record(&self) -> Option<ServerRecord> {
        let file = self.folder.open_regular(RECORD).ok()?;
        let mut text = Vec::new();
        file.take(MAX_RECORD_BYTES).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    pub(super) fn write(&self, record: &ServerRecord) -> io::Result<()> {
        let text = serde_json::to_vec(record)?;
        // What could not be read again must not be written.
        if text.len() as u64 >= MAX_RECORD_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.folder.replace(RECORD, &text)
    }

    /// Forgets whoever was there. The log stays until the next server comes.
    pub(super) fn forget(&self) {
        let _ = self.folder.remove_file(RECORD);
    }

    /// A folder for the server to start in: whatever it leaves there is in nobody's way.
    pub(super) fn work_folder(&self) -> io::Result<PathBuf> {
        match self.folder.create_dir(WORK) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.folder.open_dir(WORK)
            }
            made => made,
        }
        .map(|folder| folder.path().to_owned())
    }

    pub(super) fn log_path(&self) -> PathBuf {
        self.folder.path().join(LOG)
    }

    /// The end of what the server has printed.
    pub(super) fn log(&self, max_bytes: u64) -> String {
        String::from_utf8_lossy(&log_tail(&self.log_path(), max_bytes)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(phase: ServerPhase) -> ServerRecord {
        let keeper = Some(ProcessIdentity { pid: 1, started: u64::MAX });
        ServerRecord { keeper, model: "m".into(), target: "o/m".into(), phase, since: 3 }
    }

    #[test]
    fn a_record_survives_and_the_lock_says_whether_it_counts() {
        let folder = tempfile::tempdir().unwrap();
        let place = PortFolder::open(folder.path(), 8100).unwrap();
        assert!(matches!(place.look().unwrap(), PortOccupant::Free { left: None, .. }));
        for phase in [ServerPhase::Loading, ServerPhase::Ready, ServerPhase::Failed("x".into())] {
            place.write(&record(phase.clone())).unwrap();
            let PortOccupant::Free { lock, left } = place.look().unwrap() else {
                panic!("nobody is there")
            };
            assert_eq!(left, Some(record(phase)));
            assert!(
                matches!(place.look().unwrap(), PortOccupant::Held(None)),
                "its keeper is not there"
            );
            drop(lock);
        }
        place.forget();
        assert_eq!(place.record(), None);
    }

    #[test]
    fn what_is_no_record_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let place = PortFolder::open(folder.path(), 8100).unwrap();
        for text in ["", "{", "[]", "{\"phase\":\"x\"}"] {
            std::fs::write(folder.path().join("8100").join(RECORD), text).unwrap();
            assert_eq!(place.record(), None);
        }
    }
}
