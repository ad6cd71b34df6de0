//! The database of rpm (Fedora, Red Hat, SUSE), whose format has changed twice. The present one, a
//! SQLite file with a binary header for each package, is read; the older ones (Berkeley DB, and one
//! of rpm's own) are not.
//!
//! SQLite opens the file as immutable: it takes no lock, which only root could, and writes nothing. What
//! a transaction has not yet brought into the file is not seen.

use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::{Connection, MAIN_DB, OpenFlags, limits::Limit};

use super::{SourceState, collect::Collector};
use crate::{MachineEnvironment, read};

/// The folders of the database; the second is the older one, and may be a link to the first.
const FOLDERS: &[&str] = &["usr/lib/sysimage/rpm", "var/lib/rpm"];

/// The names of the older databases.
const OLDER: &[&str] = &["Packages.db", "Packages"];

/// The part of a header that is read, in bytes. Name and version are at its beginning; the lists of
/// files, which make it large, are not.
const HEADER_BYTES: usize = 16_384;

/// The largest row that is looked at, in bytes. Others make the database unreadable.
const MAX_ROW_BYTES: i32 = 67_108_864;

/// The number of rows that are looked at. Beyond as many as are listed they are only counted.
const MAX_ROWS: i64 = 200_000;

/// The number of steps that SQLite may take, in units of [`STEPS`]: a hostile schema could take for ever.
const MAX_STEPS: u32 = 1_000;
const STEPS: i32 = 10_000;

pub(super) fn read(machine: &MachineEnvironment, collector: &mut Collector) -> Option<SourceState> {
    for folder in FOLDERS {
        let folder = machine.at(folder);
        let path = folder.join("rpmdb.sqlite");
        // Opened here first because SQLite would wait for a pipe.
        match read::open(&path) {
            Ok(_) => {
                let read = headers(&path, &mut |header| package(header, collector));
                return Some(read.map_or(SourceState::Unreadable, |()| SourceState::Read));
            }
            Err(read::ReadError::Absent) => {}
            Err(_) => return Some(SourceState::Unreadable),
        }
        if OLDER.iter().any(|name| folder.join(name).exists()) {
            return Some(SourceState::NotSupported);
        }
    }
    None
}

/// Calls `found` with the beginning of every header.
fn headers(path: &Path, found: &mut dyn FnMut(&[u8])) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut database = Connection::open_with_flags(uri(path), flags)?;
    database.pragma_update(None, "trusted_schema", false)?;
    database.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_ROW_BYTES)?;
    let mut steps = 0;
    database.progress_handler(
        STEPS,
        Some(move || {
            steps += 1;
            steps > MAX_STEPS
        }),
    )?;
    let mut rows = database.prepare("SELECT rowid FROM Packages LIMIT ?1")?;
    let mut rows = rows.query([MAX_ROWS])?;
    let mut header = [0; HEADER_BYTES];
    while let Some(row) = rows.next()? {
        let blob = database.blob_open(MAIN_DB, "Packages", "blob", row.get(0)?, true)?;
        let read = blob.read_at(&mut header[..blob.len().min(HEADER_BYTES)], 0)?;
        found(&header[..read]);
    }
    Ok(())
}

/// The path as SQLite takes it with options.
fn uri(path: &Path) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/');
    format!("file:{}?immutable=1", percent_encode(path.as_os_str().as_encoded_bytes(), KEPT))
}

/// The tags of a header that are wanted.
const NAME: u32 = 1_000;
const VERSION: u32 = 1_001;
const RELEASE: u32 = 1_002;
const EPOCH: u32 = 1_003;

/// A header: two counts, an index of 16 bytes for each tag, and the data that it points into.
fn package(header: &[u8], collector: &mut Collector) {
    let parsed = || {
        let text = |tag| {
            let data = data(header, tag)?;
            data.split(|byte| *byte == 0).next()
        };
        let (name, version, release) = (text(NAME)?, text(VERSION)?, text(RELEASE)?);
        let epoch = data(header, EPOCH).and_then(|data| u32_at(data, 0));
        let epoch = epoch.map(|epoch| format!("{epoch}:")).unwrap_or_default();
        Some((name, [epoch.as_bytes(), version, b"-", release].concat()))
    };
    match parsed() {
        Some((name, version)) => collector.take(name, &version),
        None => collector.skip(),
    }
}

/// The data of a tag, and all that follows.
fn data(header: &[u8], wanted: u32) -> Option<&[u8]> {
    let tags = usize::try_from(u32_at(header, 0)?).ok()?;
    let (index, store) = header.get(8..)?.split_at_checked(tags.checked_mul(16)?)?;
    let entry = index.chunks_exact(16).find(|entry| u32_at(entry, 0) == Some(wanted))?;
    store.get(usize::try_from(u32_at(entry, 8)?).ok()?..)
}

/// Four bytes, the largest first.
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|four| u32::from_be_bytes(*four))
}

#[cfg(test)]
mod tests;
