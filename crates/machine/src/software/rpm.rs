//! The books of rpm (Fedora, Red Hat, SUSE): a database whose format has changed twice. The
//! present one, a SQLite file with a binary header for each package, is read; the older ones
//! (Berkeley DB, and one of rpm's own) are not.

mod sqlite;

use self::sqlite::u32_at;
use super::{SourceState, collect::Collector};
use crate::{Places, read};

/// Where the books are; the second is the older place, and may be a link to the first.
const PLACES: &[&str] = &["usr/lib/sysimage/rpm", "var/lib/rpm"];

/// The names of the older databases.
const OLDER: &[&str] = &["Packages.db", "Packages"];

/// How much of a header is read, in bytes. Name and version are at its beginning; the lists of
/// files, which make it large, are not.
const HEADER_BYTES: usize = 16_384;

pub(super) fn read(places: &Places, collector: &mut Collector) -> Option<SourceState> {
    for place in PLACES {
        let folder = places.at(place);
        match read::open(&folder.join("rpmdb.sqlite")) {
            Ok(file) => {
                let read = sqlite::blobs(&file, "Packages", HEADER_BYTES, &mut |header| {
                    package(header, collector);
                });
                return Some(read.map_or(SourceState::Unreadable, |()| SourceState::Read));
            }
            Err(read::Unread::Absent) => {}
            Err(_) => return Some(SourceState::Unreadable),
        }
        if OLDER.iter().any(|name| folder.join(name).exists()) {
            return Some(SourceState::NotSupported);
        }
    }
    None
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

#[cfg(test)]
mod tests;
