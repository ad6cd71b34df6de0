//! The append-only record of what happened, one JSON object a line.
//!
//! - A line is one `write` to a file opened for appending: it is there when the call is answered,
//!   survives the death of the process, and no lock of ours is taken for it.
//! - A call with effects has disk space for its line before it runs (`Journal::reserve`). Where
//!   none can be set aside (a pipe, a device, some network file systems), a line says that it begins.
//! - A regular file is replaced when it has grown to its limit; the old ones are numbered. A device
//!   or a pipe is only written to.

mod file;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
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

/// The beginning of a call, where no disk space can be set aside for its line.
#[derive(Debug, Serialize)]
pub(crate) struct StartedCallEntry<'a> {
    pub time: Timestamp,
    pub event: &'static str,
    pub request_id: &'a str,
    pub caller: &'a str,
    pub door: &'static str,
    pub tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_sha256: Option<&'a str>,
}

/// The disk space that one call has for its line, in bytes. It is given back with the line.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct JournalRoom(u64);

/// The disk space for the line of a call, without its arguments.
const LINE_BYTES: u64 = 8_192;

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
    rotating: Mutex<()>,
}

impl Journal {
    /// Opens the journal for appending; grown to `max_bytes` it is put aside, and
    /// `max_files` of those are kept.
    pub fn open(path: &Path, max_bytes: u64, max_files: u32) -> io::Result<Self> {
        let (file, torn) = JournalFile::open(path)?;
        Ok(Self {
            path: path.to_owned(),
            max_bytes,
            max_files,
            file: ArcSwap::from_pointee(file),
            reserved: AtomicU64::new(0),
            torn: AtomicBool::new(torn),
            failing: AtomicBool::new(false),
            failures: AtomicU64::new(0),
            rotate_at: AtomicU64::new(max_bytes),
            rotating: Mutex::new(()),
        })
    }

    /// Writes an event that is not a call.
    pub fn event(&self, time: Timestamp, event: &str, mut fields: Value) {
        if let Value::Object(map) = &mut fields {
            map.shift_insert(0, "time".into(), Value::String(time.to_string()));
            map.shift_insert(1, "event".into(), Value::String(event.into()));
        }
        let _ = self.write(&fields, 0);
    }

    /// Makes sure that the line of a call, with arguments of so many bytes, can be written when the call
    /// is over. Where that cannot be known, the beginning of the call is written down.
    pub(crate) fn reserve(
        &self,
        arguments: u64,
        started: &StartedCallEntry<'_>,
    ) -> io::Result<JournalRoom> {
        let room = LINE_BYTES + arguments;
        let reserved = self.reserved.fetch_add(room, Ordering::Relaxed) + room;
        let space = self.file.load().allocate(reserved);
        if matches!(space, Ok(DiskSpace::Allocated)) {
            return Ok(JournalRoom(room));
        }
        self.reserved.fetch_sub(room, Ordering::Relaxed);
        space.and_then(|_| self.write(started, 0)).map(|()| JournalRoom(0))
    }

    /// Writes the line of a call, into the room that it has.
    pub(crate) fn call(&self, call: &ToolCallEntry<'_>, room: &mut JournalRoom) {
        let bytes = std::mem::take(&mut room.0);
        let _ = self.write(call, bytes);
        self.reserved.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The number of lines that could not be written.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Checks that a line could be written now.
    pub fn check(&self) -> io::Result<()> {
        let reserved = self.reserved.load(Ordering::Relaxed);
        match self.file.load().allocate(reserved + LINE_BYTES)? {
            DiskSpace::Unknown if self.failing.load(Ordering::Relaxed) => {
                Err(io::Error::other("the last line could not be written"))
            }
            DiskSpace::Allocated | DiskSpace::Unknown => Ok(()),
        }
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
        let Ok(_guard) = self.rotating.try_lock() else { return };
        let file = self.file.load();
        if file.bytes() < self.rotate_at.load(Ordering::Relaxed) {
            return;
        }
        match self.rotated(&file) {
            Ok(file) => {
                self.file.store(Arc::new(file));
                self.rotate_at.store(self.max_bytes, Ordering::Relaxed);
            }
            Err(error) => {
                // Go on with the file we have rather than lose a line; try again later.
                self.rotate_at.store(file.bytes() + self.max_bytes, Ordering::Relaxed);
                tracing::error!(path = %self.path.display(), %error, "the journal cannot be rotated");
            }
        }
    }

    /// Puts the file aside, and opens a new one with room for the calls that are running.
    fn rotated(&self, file: &JournalFile) -> io::Result<JournalFile> {
        let numbered = |number: u32| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        // Another process may have rotated it; anything else that lies there now is not ours.
        if file.is_at(&self.path) {
            for number in (1..=self.max_files).map(numbered) {
                if !may_be_replaced(&number)? {
                    let message = format!("`{}` is not a journal", number.display());
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
                }
            }
            for number in (1..self.max_files).rev() {
                rename_if_there(&numbered(number), &numbered(number + 1))?;
            }
            rename_if_there(&self.path, &numbered(1))?;
        }
        let (next, _) = JournalFile::open(&self.path)?;
        next.allocate(self.reserved.load(Ordering::Relaxed))?;
        Ok(next)
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
    use super::*;
    use serde_json::json;

    fn lines(path: &Path) -> Vec<String> {
        std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
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
        for number in 0..10 {
            journal.event(Timestamp(number), "tick", json!({}));
        }
        assert_eq!(journal.failures(), 0);
        // A pipe that nobody reads is full at some time, and holds up nobody.
        for number in 0..3_000 {
            journal.event(Timestamp(number), "tick", json!({}));
        }
        assert!(journal.failures() > 0 && journal.check().is_err());
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
        let started = StartedCallEntry {
            time: Timestamp(0),
            event: "tool_call_started",
            request_id: "req_1",
            caller: "local",
            door: "rest",
            tool: "write_file",
            input_sha256: None,
        };
        assert!(journal.reserve(0, &started).is_err() && journal.check().is_err());

        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal.jsonl"), 1_000, 1).unwrap();
        let room = journal.reserve(100, &started).unwrap();
        assert_eq!(room.0, LINE_BYTES + 100);
        assert_eq!(journal.reserved.load(Ordering::Relaxed), room.0);
    }
}
