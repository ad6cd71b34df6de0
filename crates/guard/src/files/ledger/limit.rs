//! A limit on the entries of an hour, remembered across processes and restarts.
//!
//! The times of the entries of the last hour are in a file of their own, one a line, in milliseconds
//! since 1970. It is the time of the append that counts, not what the entry says about itself.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    os::unix::fs::FileExt as _,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use rustix::{
    fs::{Mode, OFlags, fstat, open},
    io::Errno,
};

use super::{LedgerError, ledger_state::LedgerState};
use crate::files::{Folder, file_types::require_regular};

const HOUR_MS: i64 = 3_600_000;
/// The bytes of a time in the file.
const RECORD_BYTES: usize = 16;
/// The most times that are kept: more than any sensible limit.
const MAX_TIMES: usize = 65_536;
/// The most bytes of the file that are read: its end.
const MAX_READ_BYTES: u64 = (2 * MAX_TIMES * RECORD_BYTES) as u64;
const FILE_MODE: Mode = Mode::from_raw_mode(0o600);
/// Neither through a link, nor waiting for the other end of a pipe.
const FLAGS: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The number of entries that a file takes in an hour.
pub struct HourlyLimit {
    folder: PathBuf,
    max: u32,
    now_ms: Box<dyn Fn() -> i64 + Send + Sync>,
    /// The times in the file when one was last written.
    known: Mutex<Option<(Vec<i64>, LedgerState)>>,
}

impl HourlyLimit {
    /// At most `max` entries in any hour. The times are kept in `folder`, which is made when
    /// needed; `now_ms` tells the time in milliseconds since 1970.
    pub fn new(
        folder: PathBuf,
        max: u32,
        now_ms: impl Fn() -> i64 + Send + Sync + 'static,
    ) -> Self {
        Self { folder, max, now_ms: Box::new(now_ms), known: Mutex::default() }
    }

    /// Opens the times of a ledger's entries, made if they are missing.
    pub(super) fn open(&self, ledger: &str) -> Result<File, LedgerError> {
        let folder = Folder::open_or_create(&self.folder)?;
        let name = file_name(ledger);
        let flags = FLAGS | OFlags::RDWR | OFlags::CREATE;
        let file = File::from(open(folder.path().join(&name), flags, FILE_MODE)?);
        require_regular(&fstat(&file)?).map_err(|_| LedgerError::NotRegular(name))?;
        Ok(file)
    }

    /// Refuses where one more entry would not be taken now. Makes, takes and locks nothing.
    pub(super) fn check(&self, ledger: &str) -> Result<(), LedgerError> {
        let name = file_name(ledger);
        let file = match open(self.folder.join(&name), FLAGS | OFlags::RDONLY, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        require_regular(&fstat(&file)?).map_err(|_| LedgerError::NotRegular(name))?;
        let now = (self.now_ms)();
        self.require_room(&last_hour(&file, now)?, now)
    }

    /// Writes down the time of one more entry, unless the hour is full. `times` is locked. Returns
    /// the length to which `times` is cut if the entry is not written after all.
    pub(super) fn take(&self, times: &File) -> Result<u64, LedgerError> {
        let now = (self.now_ms)();
        let state = LedgerState::of(times)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = match known.take().filter(|(_, of)| *of == state) {
            Some((kept, _)) => in_last_hour(kept, now),
            None => last_hour(times, now)?,
        };
        if kept.len() >= 2 * MAX_TIMES {
            kept.drain(..MAX_TIMES);
        }
        self.require_room(&kept, now)?;
        let record = |time: &i64| format!("{time:015}\n");
        let length = (kept.len() * RECORD_BYTES) as u64;
        // Times that no longer count are dropped. Cut last: after a crash an old one may be there once more.
        if state.bytes != length {
            let text: String = kept.iter().map(record).collect();
            times.write_all_at(text.as_bytes(), 0)?;
            times.set_len(length)?;
        }
        let time = now.max(0);
        if let Err(error) = times.write_all_at(record(&time).as_bytes(), length) {
            times.set_len(length)?;
            return Err(error.into());
        }
        kept.insert(kept.partition_point(|earlier| *earlier <= time), time);
        *known = LedgerState::of(times).ok().map(|state| (kept, state));
        Ok(length)
    }

    /// Refuses where the hour is full of these times, which are sorted.
    fn require_room(&self, times: &[i64], now: i64) -> Result<(), LedgerError> {
        let Some(index) = times.len().checked_sub(self.max as usize) else { return Ok(()) };
        // Without one the limit is zero.
        let free_in = times.get(index).map_or(HOUR_MS, |time| time + HOUR_MS - now);
        let retry_after_ms = u64::try_from(free_in).unwrap_or(0);
        Err(LedgerError::TooMany { max: self.max, retry_after_ms })
    }
}

/// The times of the last hour, sorted.
fn last_hour(mut times: &File, now: i64) -> io::Result<Vec<i64>> {
    let length = times.metadata()?.len();
    times.seek(SeekFrom::Start(length.saturating_sub(MAX_READ_BYTES)))?;
    let mut bytes = Vec::new();
    times.take(MAX_READ_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut found: Vec<i64> = text.lines().filter_map(|line| line.parse().ok()).collect();
    found.sort_unstable();
    Ok(in_last_hour(found, now))
}

/// Those of the times, which are sorted, that count. A time more than an hour ahead is not one of an entry: the
/// clock was wrong, and it would refuse all entries until then.
fn in_last_hour(mut times: Vec<i64>, now: i64) -> Vec<i64> {
    times.truncate(times.partition_point(|time| *time <= now + HOUR_MS));
    times.drain(..times.partition_point(|time| *time <= now.saturating_sub(HOUR_MS)));
    times
}

fn file_name(ledger: &str) -> String {
    format!("{ledger}.times")
}
