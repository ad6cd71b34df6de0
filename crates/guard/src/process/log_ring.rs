//! The output of a command that runs for long, on disk and bounded: the latest of it is kept.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Two files that take turns: the one that is written, and the one before it.
pub(super) struct LogRing {
    path: PathBuf,
    file: Option<File>,
    written: u64,
    max_file_bytes: u64,
}

impl LogRing {
    /// Begins a new log; what an earlier command wrote is gone.
    pub(super) fn begin(path: PathBuf, max_bytes: u64) -> io::Result<LogRing> {
        let file = Some(create(&path)?);
        let earlier = earlier(&path);
        if is_regular(&earlier) {
            let _ = std::fs::remove_file(earlier);
        }
        Ok(LogRing { path, file, written: 0, max_file_bytes: (max_bytes / 2).max(1) })
    }

    /// Takes note of some output. What cannot be written is lost: a full disk must not stop the command.
    pub(super) fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.written >= self.max_file_bytes {
                self.turn();
            }
            let room = usize::try_from(self.max_file_bytes - self.written).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(bytes.len().min(room));
            if let Some(file) = &mut self.file {
                let _ = file.write_all(now);
            }
            self.written += now.len() as u64;
            bytes = later;
        }
    }

    fn turn(&mut self) {
        self.file = None;
        let earlier = earlier(&self.path);
        // The command may have put anything there.
        if is_regular(&self.path) && (is_regular(&earlier) || !earlier.exists()) {
            let _ = std::fs::rename(&self.path, earlier);
        }
        self.file = create(&self.path).ok();
        self.written = 0;
    }
}

/// Opens an empty log. Only a regular file is emptied.
fn create(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags(OFlags::NONBLOCK))
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the log is not a regular file"));
    }
    file.set_len(0)?;
    Ok(file)
}

fn is_regular(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

/// Not through a symbolic link, whatever else.
fn flags(more: OFlags) -> i32 {
    i32::try_from((OFlags::NOFOLLOW | more).bits()).unwrap_or_default()
}

fn earlier(path: &Path) -> PathBuf {
    path.with_added_extension("1")
}

/// The end of the log at `path`: at most this many bytes, from the beginning of a line on where that can be.
pub fn log_tail(path: &Path, max_bytes: u64) -> Vec<u8> {
    let mut tail = end_of(path, max_bytes);
    let missing = max_bytes.saturating_sub(tail.len() as u64);
    if missing > 0 {
        let mut before = end_of(&earlier(path), missing);
        before.append(&mut tail);
        tail = before;
    }
    if tail.len() as u64 == max_bytes
        && let Some(end) = tail.iter().position(|byte| *byte == b'\n')
        && end + 1 < tail.len()
    {
        tail.drain(..=end);
    }
    tail
}

fn end_of(path: &Path, max_bytes: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = || -> io::Result<()> {
        // The command may have put anything there: neither followed nor waited for.
        let mut file =
            OpenOptions::new().read(true).custom_flags(flags(OFlags::NONBLOCK)).open(path)?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(max_bytes)))?;
        file.take(max_bytes).read_to_end(&mut bytes)?;
        Ok(())
    };
    // A log that is not there yet, or no more, says nothing.
    let _ = { read }();
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_is_kept_and_the_rest_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut ring = LogRing::begin(path.clone(), 1_000).unwrap();
        for number in 0..1_000 {
            ring.write(format!("line {number}\n").as_bytes());
        }
        let on_disk: u64 = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .sum();
        assert!(on_disk <= 1_000, "{on_disk}");
        let tail = String::from_utf8(log_tail(&path, 100)).unwrap();
        assert!(tail.starts_with("line 9") && tail.ends_with("line 999\n"), "{tail}");
        assert!(tail.len() <= 100 && tail.len() > 80);
        assert!(log_tail(&path, 600).len() > 500, "both files are read");
    }

    #[test]
    fn one_write_larger_than_all_of_it_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut ring = LogRing::begin(path.clone(), 1_000).unwrap();
        ring.write(&vec![b'x'; 100_000]);
        assert_eq!(log_tail(&path, 10_000).len(), 1_000);
    }

    #[test]
    fn a_new_log_has_nothing_of_the_old_one_and_a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        LogRing::begin(path.clone(), 8).unwrap().write(b"old and long");
        LogRing::begin(path.clone(), 8).unwrap().write(b"new");
        assert_eq!(log_tail(&path, 100), b"new");
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(folder.path().join("other"), &path).unwrap();
        assert!(LogRing::begin(path, 8).is_err());
    }

    #[test]
    fn only_regular_files_are_emptied_renamed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let pipe = |path: &Path| rustix::fs::mkfifoat(rustix::fs::CWD, path, 0o600.into()).unwrap();
        pipe(&earlier(&path));
        let mut ring = LogRing::begin(path.clone(), 8).unwrap();
        ring.write(b"much more than there is room for");
        assert!(!is_regular(&earlier(&path)) && earlier(&path).exists());
        std::fs::remove_file(&path).unwrap();
        pipe(&path);
        assert!(LogRing::begin(path.clone(), 8).is_err());
        let _reader =
            OpenOptions::new().read(true).custom_flags(flags(OFlags::NONBLOCK)).open(&path);
        let refused = LogRing::begin(path, 8).err().unwrap().to_string();
        assert!(refused.contains("not a regular file"), "{refused}");
    }
}
