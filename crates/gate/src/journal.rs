//! The append-only record of what happened, one JSON object a line.
//!
//! A line is one `write` to a file opened for appending: it is there when the call is
//! answered, survives the death of the process, and no lock of ours is taken for it.
//! The file is replaced when it has grown to its limit; the old ones are numbered.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwap;
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use crate::{ContractWarning, Timestamp};

/// One call, as it is written down.
#[derive(Debug, Serialize)]
pub(crate) struct ToolCallEntry<'a> {
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

/// The journal file.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    max_bytes: u64,
    max_files: u32,
    file: ArcSwap<File>,
    bytes: AtomicU64,
    /// A line was cut short, by a full disk for instance: the next begins a new one.
    torn: AtomicBool,
    failures: AtomicU64,
    rotating: Mutex<()>,
}

impl Journal {
    /// Opens the journal for appending; grown to `max_bytes` it is put aside, and
    /// `max_files` of those are kept.
    pub fn open(path: &Path, max_bytes: u64, max_files: u32) -> io::Result<Self> {
        let (file, bytes, torn) = open(path)?;
        Ok(Self {
            path: path.to_owned(),
            max_bytes,
            max_files,
            file: ArcSwap::from_pointee(file),
            bytes: AtomicU64::new(bytes),
            torn: AtomicBool::new(torn),
            failures: AtomicU64::new(0),
            rotating: Mutex::new(()),
        })
    }

    /// Writes an event that is not a call.
    pub fn event(&self, time: Timestamp, event: &str, mut fields: Value) {
        if let Value::Object(map) = &mut fields {
            map.shift_insert(0, "time".into(), Value::String(time.to_string()));
            map.shift_insert(1, "event".into(), Value::String(event.into()));
        }
        self.write(&fields);
    }

    pub(crate) fn call(&self, call: &ToolCallEntry<'_>) {
        self.write(call);
    }

    /// The number of lines that could not be written.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    fn write(&self, line: &impl Serialize) {
        let mut bytes = Vec::with_capacity(512);
        if self.torn.swap(false, Ordering::Relaxed) {
            bytes.push(b'\n');
        }
        if serde_json::to_writer(&mut bytes, line).is_err() {
            self.failures.fetch_add(1, Ordering::Relaxed);
            return;
        }
        bytes.push(b'\n');
        let file = self.file.load();
        match append(&file, &bytes) {
            Ok(()) => {
                let written = bytes.len() as u64;
                let total = self.bytes.fetch_add(written, Ordering::Relaxed) + written;
                if total >= self.max_bytes {
                    drop(file);
                    self.rotate();
                }
            }
            Err(error) => {
                self.torn.store(true, Ordering::Relaxed);
                self.failures.fetch_add(1, Ordering::Relaxed);
                tracing::error!(path = %self.path.display(), %error, "the journal cannot be written");
            }
        }
    }

    fn rotate(&self) {
        // Whoever comes second finds the work done.
        let Ok(_guard) = self.rotating.try_lock() else { return };
        if self.bytes.load(Ordering::Relaxed) < self.max_bytes {
            return;
        }
        let numbered = |number: u32| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        let result = (|| {
            for number in (1..self.max_files).rev() {
                rename_if_there(&numbered(number), &numbered(number + 1))?;
            }
            rename_if_there(&self.path, &numbered(1))?;
            open(&self.path)
        })();
        match result {
            Ok((file, bytes, _)) => {
                self.file.store(Arc::new(file));
                self.bytes.store(bytes, Ordering::Relaxed);
            }
            Err(error) => {
                // Go on with the file we have rather than lose a line; try again later.
                self.bytes.store(0, Ordering::Relaxed);
                tracing::error!(path = %self.path.display(), %error, "the journal cannot be rotated");
            }
        }
    }
}

/// The time that a line that another process writes may be seen in part.
const MIDDLE_OF_A_LINE: std::time::Duration = std::time::Duration::from_millis(5);

/// The open file, its length, and whether its last line was cut short.
fn open(path: &Path) -> io::Result<(File, u64, bool)> {
    use std::os::unix::fs::{FileExt, OpenOptionsExt};
    let file = OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(path)?;
    let look = || -> io::Result<(u64, bool)> {
        let bytes = file.metadata()?.len();
        let mut last = [b'\n'];
        if bytes > 0 {
            file.read_exact_at(&mut last, bytes - 1)?;
        }
        Ok((bytes, last != [b'\n']))
    };
    let (mut bytes, mut torn) = look()?;
    if torn {
        // Another process may be in the middle of a line.
        std::thread::sleep(MIDDLE_OF_A_LINE);
        (bytes, torn) = look()?;
    }
    Ok((file, bytes, torn))
}

fn append(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    // One system call: lines of many threads and processes do not mix.
    match file.write(bytes)? {
        written if written == bytes.len() => Ok(()),
        _ => Err(io::Error::from(io::ErrorKind::WriteZero)),
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
        std::fs::write(&path, "{\"event\":\"whole\"}\n{\"event\":\"to").unwrap();
        let journal = Journal::open(&path, 10_000, 1).unwrap();
        journal.event(Timestamp(0), "next", json!({}));
        let lines = lines(&path);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[2], r#"{"time":"1970-01-01T00:00:00.000Z","event":"next"}"#);
    }
}
