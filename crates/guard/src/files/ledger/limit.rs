//! A limit on the entries of an hour, remembered across processes and restarts.
//!
//! The times of the latest entries stand in a file of their own, each in a record of sixteen bytes:
//! milliseconds since 1970 and a line end. A new entry is allowed if the one that came `max` entries
//! before it is older than an hour, so only the end of that file ever matters. It is the time of
//! the append that counts, not what the entry says about itself.

use std::{fs::File, io, os::unix::fs::FileExt as _, path::PathBuf};

use rustix::{
    fs::{Mode, OFlags, fstat, open},
    io::Errno,
};

use super::LedgerError;
use crate::files::{Folder, file_types::require_regular};

const HOUR_MS: i64 = 3_600_000;
const RECORD_BYTES: u64 = 16;
/// The superfluous bytes that are kept before they are removed.
const SLACK_BYTES: u64 = 65_536;
const FILE_MODE: Mode = Mode::from_raw_mode(0o600);

/// The number of entries that a file takes in an hour.
pub struct HourlyLimit {
    folder: PathBuf,
    max: u32,
    now_ms: Box<dyn Fn() -> i64 + Send + Sync>,
}

impl HourlyLimit {
    /// At most `max` entries in any hour. The times are kept in `folder`, which is made when
    /// needed; `now_ms` tells the time in milliseconds since 1970.
    pub fn new(
        folder: PathBuf,
        max: u32,
        now_ms: impl Fn() -> i64 + Send + Sync + 'static,
    ) -> Self {
        Self { folder, max, now_ms: Box::new(now_ms) }
    }

    /// Opens the times of a ledger's entries, made if they are missing.
    pub(super) fn open(&self, ledger: &str) -> Result<File, LedgerError> {
        let folder = Folder::open_or_create(&self.folder)?;
        let name = file_name(ledger);
        let flags = OFlags::RDWR
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::NOCTTY
            | OFlags::CLOEXEC;
        let file = File::from(open(folder.path().join(&name), flags, FILE_MODE)?);
        require_regular(&fstat(&file)?).map_err(|_| LedgerError::NotRegular(name))?;
        Ok(file)
    }

    /// Refuses where one more entry would not be taken now. Makes, takes and locks nothing.
    pub(super) fn check(&self, ledger: &str) -> Result<(), LedgerError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let name = file_name(ledger);
        let file = match open(self.folder.join(&name), flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        require_regular(&fstat(&file)?).map_err(|_| LedgerError::NotRegular(name))?;
        let records = file.metadata()?.len() / RECORD_BYTES;
        self.require_room(&file, records, (self.now_ms)())
    }

    /// Writes down the time of one more entry, unless the hour is full. `times` is locked. Returns
    /// the length to which `times` is cut if the entry is not written after all.
    pub(super) fn take(&self, times: &File) -> Result<u64, LedgerError> {
        let length = self.remove_superfluous(times)?;
        let now = (self.now_ms)();
        self.require_room(times, length / RECORD_BYTES, now)?;
        let record = format!("{:015}\n", now.max(0));
        if let Err(error) = times.write_all_at(record.as_bytes(), length) {
            times.set_len(length)?;
            return Err(error.into());
        }
        Ok(length)
    }

    fn require_room(&self, times: &File, records: u64, now: i64) -> Result<(), LedgerError> {
        let refused = |retry_after_ms: i64| LedgerError::TooMany {
            max: self.max,
            retry_after_ms: u64::try_from(retry_after_ms).unwrap_or(0),
        };
        let Some(index) = records.checked_sub(u64::from(self.max)) else { return Ok(()) };
        if index == records {
            // The limit is zero.
            return Err(refused(HOUR_MS));
        }
        let mut record = [0; 16];
        times.read_exact_at(&mut record, index * RECORD_BYTES)?;
        // What cannot be read, or lies more than an hour ahead, is no time of an entry: the clock
        // was wrong. It would refuse all entries until then.
        let time = std::str::from_utf8(&record).ok().and_then(|text| text.trim_end().parse().ok());
        let Some(time): Option<i64> = time else { return Ok(()) };
        let free_at = time.saturating_add(HOUR_MS);
        if free_at > now && time <= now.saturating_add(HOUR_MS) {
            return Err(refused(free_at.saturating_sub(now)));
        }
        Ok(())
    }

    /// Cuts off what is no whole record, and removes what will never be looked at again when that
    /// has become much. Returns the length after that.
    fn remove_superfluous(&self, times: &File) -> io::Result<u64> {
        let length = times.metadata()?.len();
        let whole = length - length % RECORD_BYTES;
        if whole != length {
            times.set_len(whole)?;
        }
        let kept = u64::from(self.max) * RECORD_BYTES;
        if whole <= 2 * kept + SLACK_BYTES {
            return Ok(whole);
        }
        // The end of the file is whole at every moment, and only the end matters.
        let mut latest = vec![0; usize::try_from(kept).unwrap_or(usize::MAX)];
        times.read_exact_at(&mut latest, whole - kept)?;
        times.write_all_at(&latest, 0)?;
        times.set_len(kept)?;
        Ok(kept)
    }
}

fn file_name(ledger: &str) -> String {
    format!("{ledger}.times")
}
