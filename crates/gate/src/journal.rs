//! The append-only record of what happened, one JSON object a line.
//!
//! - A line is one `write` to a file opened for appending: it is there when the call is answered,
//!   survives the death of the process, and no lock of ours is taken for it.
//! - A call with effects has disk space for its lines before it lasts in any way (`Journal::reserve`), and a
//!   line that says that it begins before it runs (`Journal::started`). Where no space can be set aside (a
//!   pipe, a device, some network file systems), that line is written first of all.
//! - Those calls, events and the check of readiness look whether the file still lies at its path; where
//!   it was moved or removed, the file that belongs there is opened, or made.
//! - A regular file is replaced when it has grown to its limit; the old ones are numbered. A device
//!   or a pipe is only written to.

mod file;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwap;
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use file::{DiskSpace, JournalFile, may_be_replaced};

use crate::{ContractWarning, Timestamp};

/// One call, as it is written down.
#[derive(Debug, Serialize)]
pub(crate) struct ToolCallEntry<'a> {
    pub time: Timestamp,
    pub event: &'static str,
    pub request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<&'a str>,
    pub caller: &'a str,
    pub door: &'static str,
    pub tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_sha256: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<&'a RawValue>,
    pub code: &'a str,
    pub duration_ms: f64,
    pub output_bytes: u64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub warnings: &'a [ContractWarning],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub spilled: bool,
    /// The entry of the quarantine whose payload the caller was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub released: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'a str>,
}

/// The beginning of a call with effects. Without a later `tool_call` of the same request, the process
/// ended while it ran.
#[derive(Debug, Serialize)]
pub(crate) struct StartedCallEntry<'a> {
    pub time: Timestamp,
    pub event: &'static str,
    pub request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<&'a str>,
    pub caller: &'a str,
    pub door: &'static str,
    pub tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_sha256: Option<&'a str>,
}

/// The disk space that one call has for its lines, in bytes. It is given back with them.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct JournalRoom {
    start: u64,
    end: u64,
    /// True if the call has effects: what became of it must not go into a file that is gone.
    has_effects: bool,
    /// True if the line that it begins is written.
    started: bool,
}

/// The disk space for the line of a call, without its arguments.
const LINE_BYTES: u64 = 8_192;
/// The disk space for the line that a call begins.
const START_LINE_BYTES: u64 = 2_048;

/// The journal file.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    max_bytes: u64,
    max_files: u32,
    file: ArcSwap<JournalFile>,
    /// The disk space that running calls have for their lines.
    reserved: AtomicU64,
    /// A line was cut short, by a full disk for instance: the next begins a new one.
    torn: AtomicBool,
    /// The last line could not be written.
    failing: AtomicBool,
    failures: AtomicU64,
    /// From so many bytes on the file is rotated.
    rotate_at: AtomicU64,
    /// It could not be rotated when it last had to be.
    rotation_failing: AtomicBool,
    rotation_failures: AtomicU64,
    /// Held by whoever puts another file in the place of the open one.
    replacing: Mutex<()>,
}

impl Journal {
    /// Opens the journal for appending; grown to `max_bytes` it is put aside, and
    /// `max_files` of those are kept.
    pub fn open(path: &Path, max_bytes: u64, max_files: u32) -> io::Result<Self> {
        let (file, torn) = JournalFile::open(path)?;
        Ok(Self {
            path: file.own_path(path),
            max_bytes,
            max_files,
            file: ArcSwap::from_pointee(file),
            reserved: AtomicU64::new(0),
            torn: AtomicBool::new(torn),
            failing: AtomicBool::new(false),
            failures: AtomicU64::new(0),
            rotate_at: AtomicU64::new(max_bytes),
            rotation_failing: AtomicBool::new(false),
            rotation_failures: AtomicU64::new(0),
            replacing: Mutex::new(()),
        })
    }

    /// Writes an event that is not a call.
    pub fn event(&self, time: Timestamp, event: &str, mut fields: Value) {
        if let Value::Object(map) = &mut fields {
            map.shift_insert(0, "time".into(), Value::String(time.to_string()));
            map.shift_insert(1, "event".into(), Value::String(event.into()));
        }
        self.follow_or_tell();
        let _ = self.write(&fields, 0);
    }

    /// Makes sure that the lines of a call, with arguments of so many bytes, can be written: when it
    /// begins to run, and when it is over. Where that cannot be known, its beginning is written down now.
    pub(crate) fn reserve(
        &self,
        arguments: u64,
        started: &StartedCallEntry<'_>,
    ) -> io::Result<JournalRoom> {
        self.follow()?;
        let mut room = JournalRoom { has_effects: true, ..JournalRoom::default() };
        let (start, end) = (START_LINE_BYTES, LINE_BYTES + arguments);
        let reserved = self.reserved.fetch_add(start + end, Ordering::Relaxed) + start + end;
        let space = self.file.load().allocate(reserved);
        if matches!(space, Ok(DiskSpace::Allocated)) {
            return Ok(JournalRoom { start, end, ..room });
        }
        self.reserved.fetch_sub(start + end, Ordering::Relaxed);
        space?;
        self.started(started, &mut room)?;
        Ok(room)
    }

    /// Writes down that a call begins to run, once.
    pub(crate) fn started(
        &self,
        call: &StartedCallEntry<'_>,
        room: &mut JournalRoom,
    ) -> io::Result<()> {
        if std::mem::replace(&mut room.started, true) {
            return Ok(());
        }
        let bytes = std::mem::take(&mut room.start);
        let written = self.write(call, bytes);
        self.reserved.fetch_sub(bytes, Ordering::Relaxed);
        written
    }

    /// Writes the line of a call, into the room that it has.
    pub(crate) fn call(&self, call: &ToolCallEntry<'_>, room: &mut JournalRoom) {
        if room.has_effects {
            self.follow_or_tell();
        }
        let room = std::mem::take(room);
        let bytes = room.start + room.end;
        let _ = self.write(call, bytes);
        self.reserved.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The number of lines that could not be written.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// How often the file had to be rotated and could not be.
    pub(crate) fn rotation_failures(&self) -> u64 {
        self.rotation_failures.load(Ordering::Relaxed)
    }

    /// Checks that a line could be written now, into the file that lies at the path.
    pub fn check(&self) -> io::Result<()> {
        self.follow()?;
        let reserved = self.reserved.load(Ordering::Relaxed);
        let file = self.file.load();
        let space = match file.allocate(reserved + LINE_BYTES)? {
            DiskSpace::Unknown => file.takes_lines()?,
            allocated @ DiskSpace::Allocated => allocated,
        };
        if space == DiskSpace::Unknown && self.failing.load(Ordering::Relaxed) {
            return Err(io::Error::other("the last line could not be written"));
        }
        Ok(())
    }

    /// Opens the file that lies at the path in the place of ours, or makes one where none does.
    fn follow(&self) -> io::Result<()> {
        if self.file.load().is_at(&self.path) {
            return Ok(());
        }
        let _guard = self.replacing.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.file.load();
        // Whoever comes second finds the work done.
        if file.is_at(&self.path) {
            return Ok(());
        }
        self.replace(&file).map_err(|error| {
            let message =
                format!("it is not at its path any more, and none can be opened: {error}");
            io::Error::new(error.kind(), message)
        })?;
        tracing::warn!(
            path = %self.path.display(),
            "the journal was moved or removed; from now on the one at its path is written"
        );
        Ok(())
    }

    /// The same for a line that is written in any case.
    fn follow_or_tell(&self) {
        if let Err(error) = self.follow() {
            self.failures.fetch_add(1, Ordering::Relaxed);
            tracing::error!(path = %self.path.display(), %error, "the journal cannot be written");
        }
    }

    /// Goes on in the file at the path, with room for the calls that are running.
    fn replace(&self, file: &JournalFile) -> io::Result<()> {
        let (next, torn) = file.open_again(&self.path)?;
        next.allocate(self.reserved.load(Ordering::Relaxed))?;
        self.torn.store(torn, Ordering::Relaxed);
        self.rotate_at.store(self.max_bytes, Ordering::Relaxed);
        self.file.store(Arc::new(next));
        Ok(())
    }

    /// Writes a line, into room of so many bytes that was reserved for it.
    fn write(&self, line: &impl Serialize, room: u64) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(512);
        if self.torn.swap(false, Ordering::Relaxed) {
            bytes.push(b'\n');
        }
        let file = self.file.load();
        let written =
            serde_json::to_writer(&mut bytes, line).map_err(io::Error::from).and_then(|()| {
                bytes.push(b'\n');
                // The room of others stays theirs.
                let reserved = self.reserved.load(Ordering::Relaxed).saturating_sub(room);
                file.allocate(reserved + bytes.len() as u64)?;
                file.append(&bytes).inspect_err(|_| self.torn.store(true, Ordering::Relaxed))
            });
        self.failing.store(written.is_err(), Ordering::Relaxed);
        if let Err(error) = &written {
            self.failures.fetch_add(1, Ordering::Relaxed);
            tracing::error!(path = %self.path.display(), %error, "the journal cannot be written");
        } else if file.is_regular() && file.bytes() >= self.rotate_at.load(Ordering::Relaxed) {
            drop(file);
            self.rotate();
        }
        written
    }

    fn rotate(&self) {
        // Whoever comes second finds the work done.
        let Ok(_guard) = self.replacing.try_lock() else { return };
        let file = self.file.load();
        if file.bytes() < self.rotate_at.load(Ordering::Relaxed) {
            return;
        }
        match self.put_aside(&file).and_then(|()| self.replace(&file)) {
            Ok(()) => {
                if self.rotation_failing.swap(false, Ordering::Relaxed) {
                    tracing::info!(path = %self.path.display(), "the journal is rotated again");
                }
            }
            Err(error) => {
                // Go on with the file we have rather than lose a line; try again later.
                self.rotate_at.store(file.bytes() + self.max_bytes, Ordering::Relaxed);
                self.rotation_failures.fetch_add(1, Ordering::Relaxed);
                if !self.rotation_failing.swap(true, Ordering::Relaxed) {
                    tracing::error!(
                        path = %self.path.display(), %error,
                        "the journal cannot be rotated, and grows"
                    );
                }
            }
        }
    }

    /// Gives the file the number 1, and older ones the next.
    fn put_aside(&self, file: &JournalFile) -> io::Result<()> {
        // Another process may have rotated it; anything else that lies there now is not ours.
        if !file.is_at(&self.path) {
            return Ok(());
        }
        let numbered = |number: u32| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        for number in (1..=self.max_files).map(numbered) {
            if !may_be_replaced(&number)? {
                let message = format!("`{}` is not a journal", number.display());
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
            }
        }
        for number in (1..self.max_files).rev() {
            rename_if_there(&numbered(number), &numbered(number + 1))?;
        }
        rename_if_there(&self.path, &numbered(1))
    }
}

fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::OpenOptionsExt;

    use super::*;
    use serde_json::json;

    fn lines(path: &Path) -> Vec<String> {
        std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
    }

    fn started() -> StartedCallEntry<'static> {
        StartedCallEntry {
            time: Timestamp(0),
            event: "call_started",
            request_id: "req_1",
            job_id: None,
            caller: "local",
            door: "rest",
            tool: "write_file",
            input_sha256: None,
        }
    }

    #[test]
    fn a_full_file_is_put_aside_and_only_so_many_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let journal = Journal::open(&path, 200, 2).unwrap();
        for number in 0..40 {
            journal.event(Timestamp(number), "tick", json!({ "number": number }));
        }
        let mut names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["journal.jsonl", "journal.jsonl.1", "journal.jsonl.2"]);
        for name in names {
            for line in lines(&folder.path().join(name)) {
                serde_json::from_str::<Value>(&line).unwrap();
            }
        }
    }

    #[test]
    fn a_line_that_was_cut_short_does_not_spoil_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        std::fs::write(&path, "{\"time\":\"whole\"}\n{\"time\":\"to").unwrap();
        let journal = Journal::open(&path, 10_000, 1).unwrap();
        journal.event(Timestamp(0), "next", json!({}));
        let lines = lines(&path);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[2], r#"{"time":"1970-01-01T00:00:00.000Z","event":"next"}"#);
    }

    #[test]
    fn what_is_not_a_regular_file_is_written_to_and_never_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, 0o600.into()).unwrap();
        let journal = Journal::open(&path, 100, 3).unwrap();
        // Without a reader it is no journal; with the first one it is.
        assert!(journal.check().is_err() && journal.reserve(0, &started()).is_err());
        let unread = journal.failures();
        let mut reading = std::fs::OpenOptions::new();
        reading.read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        let reader = reading.open(&path).unwrap();
        journal.check().unwrap();
        let _ = journal.reserve(0, &started()).unwrap();
        for number in 0..10 {
            journal.event(Timestamp(number), "tick", json!({}));
        }
        assert_eq!(journal.failures(), unread);
        // A pipe that nobody reads is full at some time, and holds up nobody.
        for number in 0..3_000 {
            journal.event(Timestamp(number), "tick", json!({}));
        }
        assert!(journal.failures() > unread && journal.check().is_err());
        drop(reader);
        assert!(journal.reserve(0, &started()).is_err());
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(names.len(), 1);
    }

    #[test]
    fn a_file_of_somebody_else_is_neither_written_nor_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        std::fs::write(&path, "name,age\n").unwrap();
        let refused = Journal::open(&path, 100, 3).unwrap_err().to_string();
        assert!(refused.contains("something else than a journal"), "{refused}");
        std::fs::remove_file(&path).unwrap();

        let theirs = folder.path().join("journal.jsonl.2");
        std::fs::write(&theirs, "a letter").unwrap();
        let journal = Journal::open(&path, 100, 3).unwrap();
        for number in 0..20 {
            journal.event(Timestamp(number), "tick", json!({}));
        }
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "a letter");
        assert_eq!((lines(&path).len(), journal.failures()), (20, 0));
    }

    #[test]
    fn a_call_that_cannot_be_recorded_gets_no_room() {
        let journal = Journal::open(Path::new("/dev/full"), 1_000, 1).unwrap();
        assert!(journal.reserve(0, &started()).is_err() && journal.check().is_err());

        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal.jsonl"), 1_000, 1).unwrap();
        let mut room = journal.reserve(100, &started()).unwrap();
        let reserved = || journal.reserved.load(Ordering::Relaxed);
        assert_eq!(reserved(), START_LINE_BYTES + LINE_BYTES + 100);
        for _ in 0..2 {
            journal.started(&started(), &mut room).unwrap();
            assert_eq!(reserved(), LINE_BYTES + 100);
        }
        assert_eq!(lines(&folder.path().join("journal.jsonl")).len(), 1);
    }

    #[test]
    fn a_file_that_was_moved_or_removed_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let journal = Journal::open(&path, 1 << 20, 3).unwrap();
        let call = || {
            journal
                .reserve(0, &started())
                .and_then(|mut room| journal.started(&started(), &mut room))
        };
        call().unwrap();
        let moved = folder.path().join("journal.old");
        std::fs::rename(&path, &moved).unwrap();
        call().unwrap();
        assert_eq!((lines(&moved).len(), lines(&path).len()), (1, 1));
        // Another journal is gone on with, a line that was cut short ended.
        std::fs::write(path.with_extension("new"), "{\"time\":1}\n{\"time\":").unwrap();
        std::fs::rename(path.with_extension("new"), &path).unwrap();
        call().unwrap();
        assert_eq!(lines(&path).len(), 3);
        std::fs::remove_file(&path).unwrap();
        journal.event(Timestamp(0), "tick", json!({}));
        assert_eq!(lines(&path).len(), 1);
        // What is something else is neither written nor replaced.
        let letter = folder.path().join("letter");
        std::fs::write(&letter, "a letter").unwrap();
        std::fs::remove_file(&path).unwrap();
        for place in [
            &|| std::fs::copy(&letter, &path).map(drop),
            &|| std::os::unix::fs::symlink(&moved, &path),
            &|| std::fs::create_dir(&path),
        ] as [&dyn Fn() -> io::Result<()>; 3]
        {
            place().unwrap();
            assert!(call().is_err() && journal.check().is_err());
            let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path));
        }
        assert_eq!((lines(&letter).len(), lines(&moved).len()), (1, 1));
        journal.check().unwrap();
        assert!(path.exists());
        // A link that was there at the start is the path of what it leads to.
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let journal = Journal::open(&link, 100, 1).unwrap();
        for number in 0..3 {
            journal.event(Timestamp(number), "tick", json!({ "text": "x".repeat(100) }));
        }
        assert!(link.is_symlink() && path.with_extension("jsonl.1").exists());
    }

    #[test]
    fn a_rotation_that_cannot_happen_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        std::fs::create_dir(path.with_extension("jsonl.1")).unwrap();
        let journal = Journal::open(&path, 100, 1).unwrap();
        for number in 0..20 {
            journal.event(Timestamp(number), "tick", json!({}));
        }
        assert_eq!((lines(&path).len(), journal.failures()), (20, 0));
        assert!(journal.rotation_failures() > 1);
        std::fs::remove_dir(path.with_extension("jsonl.1")).unwrap();
        for number in 0..20 {
            journal.event(Timestamp(number), "tick", json!({}));
        }
        assert!(lines(&path).len() < 20 && !journal.rotation_failing.load(Ordering::Relaxed));
    }
}
