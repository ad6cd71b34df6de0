//! How fast a file may grow, remembered across processes and restarts.
//!
//! The times of the latest entries stand in a file of their own, each in a record of sixteen bytes:
//! milliseconds since 1970 and a line end. A new entry is allowed if the one that came `max` entries
//! before it is older than the window, so only the end of that file ever matters. It is the time of
//! the append that counts, not what the entry says about itself.

use std::{
    fs::File,
    io,
    os::{fd::AsFd as _, unix::fs::FileExt as _},
    path::PathBuf,
    time::{Duration, Instant},
};

use rustix::{
    fs::{Mode, OFlags, fstat, open},
    io::Errno,
};

use super::{
    LedgerError,
    file::{Lock, lock},
};
use crate::files::{Folder, kinds::require_regular};

const RECORD_BYTES: u64 = 16;
/// How many superfluous bytes are kept before they are cleared away.
const SLACK_BYTES: u64 = 65_536;
const FILE_MODE: Mode = Mode::from_raw_mode(0o600);

/// How many entries a file takes in a window of time.
pub struct Pace {
    folder: PathBuf,
    max: u32,
    window_ms: u64,
    now_ms: Box<dyn Fn() -> i64 + Send + Sync>,
}

impl Pace {
    /// At most `max` entries in each `window`. The times are kept in `folder`, which is made when
    /// needed; `now_ms` tells the time in milliseconds since 1970.
    pub fn new(
        folder: PathBuf,
        max: u32,
        window: Duration,
        now_ms: impl Fn() -> i64 + Send + Sync + 'static,
    ) -> Self {
        let window_ms = u64::try_from(window.as_millis()).unwrap_or(u64::MAX);
        Self { folder, max, window_ms, now_ms: Box::new(now_ms) }
    }

    /// Keeps others from taking places until what it gives is dropped.
    pub(super) fn lock(&self, name: &str, wait: Duration) -> Result<Times, LedgerError> {
        let folder = Folder::open_or_create(&self.folder)?;
        let name = format!("{name}.times");
        let flags = OFlags::RDWR
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::NOCTTY
            | OFlags::CLOEXEC;
        let file = File::from(open(folder.path().join(&name), flags, FILE_MODE)?);
        require_regular(&fstat(&file)?).map_err(|_| LedgerError::NotRegular(name.clone()))?;
        if !lock(file.as_fd(), Instant::now() + wait)? {
            tracing::warn!(file = %folder.path().join(&name).display(), "a file stays locked");
            return Err(LedgerError::Locked { name, wait });
        }
        Ok(Times { file: Lock(file) })
    }

    /// Whether one more entry would be taken now. Makes, takes and locks nothing.
    pub(super) fn look(&self, name: &str) -> Result<(), LedgerError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let name = format!("{name}.times");
        let file = match open(self.folder.join(&name), flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let stat = fstat(&file)?;
        require_regular(&stat).map_err(|_| LedgerError::NotRegular(name))?;
        let written = u64::try_from(stat.st_size).unwrap_or(0) / RECORD_BYTES;
        self.refusal(&file, written, 0, (self.now_ms)())?.map_or(Ok(()), Err)
    }

    /// Takes places for as many entries as may be written now. They are written down before the
    /// entries are: after a crash an entry may be counted that is not there, but none is there that
    /// is not counted.
    pub(super) fn reserve(&self, times: Times, wanted: usize) -> Result<Reserved, LedgerError> {
        let before = times.clear_away(u64::from(self.max))?;
        let now = (self.now_ms)();
        let mut reserved = Reserved { times, before, count: 0, refusal: None };
        let written = before / RECORD_BYTES;
        while reserved.count < wanted {
            let file = &reserved.times.file.0;
            reserved.refusal = self.refusal(file, written, reserved.count as u64, now)?;
            if reserved.refusal.is_some() {
                break;
            }
            reserved.count += 1;
        }
        let records = format!("{:015}\n", now.max(0)).repeat(reserved.count);
        if let Err(error) = reserved.times.file.0.write_all_at(records.as_bytes(), before) {
            reserved.give_back();
            return Err(error.into());
        }
        Ok(reserved)
    }

    /// Why one more entry may not be written after the `written` ones and so many new ones.
    fn refusal(
        &self,
        times: &File,
        written: u64,
        new: u64,
        now: i64,
    ) -> io::Result<Option<LedgerError>> {
        let refusal = |retry_after_ms| LedgerError::TooOften {
            max: self.max,
            window_ms: self.window_ms,
            retry_after_ms,
        };
        let Some(index) = (written + new).checked_sub(u64::from(self.max)) else {
            return Ok(None);
        };
        if index >= written {
            return Ok(Some(refusal(self.window_ms)));
        }
        // What cannot be read, or lies further ahead than the window is long, is no time of an
        // entry: the clock was wrong. It would shut everybody out until then.
        let Some(time) = time(times, index)? else { return Ok(None) };
        let window = i64::try_from(self.window_ms).unwrap_or(i64::MAX);
        let free_at = time.saturating_add(window);
        let counts = free_at > now && time <= now.saturating_add(window);
        let wait = || u64::try_from(free_at.saturating_sub(now)).unwrap_or(0);
        Ok(counts.then(|| refusal(wait())))
    }
}

/// Places for entries that are about to be written.
pub(super) struct Reserved {
    times: Times,
    before: u64,
    count: usize,
    refusal: Option<LedgerError>,
}

impl Reserved {
    /// How many entries may be written.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Why not more.
    pub(super) fn refusal(&self) -> Option<&LedgerError> {
        self.refusal.as_ref()
    }

    /// The entries were not written after all.
    pub(super) fn give_back(self) {
        if let Err(error) = self.times.file.0.set_len(self.before) {
            tracing::warn!(%error, "entries that were not written are counted all the same");
        }
    }
}

/// The time of an entry; none where it cannot be read.
fn time(times: &File, index: u64) -> io::Result<Option<i64>> {
    let mut record = [0; 16];
    times.read_exact_at(&mut record, index * RECORD_BYTES)?;
    Ok(std::str::from_utf8(&record).ok().and_then(|text| text.trim_end().parse().ok()))
}

/// The times of entries, locked.
pub(super) struct Times {
    file: Lock<File>,
}

impl Times {
    /// Cuts off what is no whole record, and drops what will never be looked at again when that has
    /// become much; the length after that.
    fn clear_away(&self, max: u64) -> io::Result<u64> {
        let file = &self.file.0;
        let length = file.metadata()?.len();
        let whole = length - length % RECORD_BYTES;
        if whole != length {
            file.set_len(whole)?;
        }
        let kept = max * RECORD_BYTES;
        if whole <= 2 * kept + SLACK_BYTES {
            return Ok(whole);
        }
        // The end of the file is whole at every moment, and only the end matters.
        let mut latest = vec![0; usize::try_from(kept).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut latest, whole - kept)?;
        file.write_all_at(&latest, 0)?;
        file.set_len(kept)?;
        Ok(kept)
    }
}
