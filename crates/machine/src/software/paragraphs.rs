//! Databases that are a file of paragraphs, one for each package: those of dpkg and apk.

use std::path::Path;

use super::{SourceState, collect::Collector};
use crate::{read, read::ReadError};

/// The largest file that is read, in bytes. That of a full desktop has 10 million.
pub(super) const MAX_BYTES: u64 = 67_108_864;

/// The states of a package that is there. One that waits for the trigger of another is.
const INSTALLED: &[&[u8]] = &[b"installed", b"triggers-awaited", b"triggers-pending"];

/// The beginnings of the lines that tell something.
pub(super) struct ParagraphFormat {
    pub name: &'static [u8],
    pub version: &'static [u8],
    /// The state of a package, where one that was removed stays in the file.
    pub status: Option<&'static [u8]>,
}

/// The fields of a paragraph that tell something.
#[derive(Default)]
struct Paragraph<'a> {
    name: Option<&'a [u8]>,
    version: Option<&'a [u8]>,
    status: Option<&'a [u8]>,
    /// True if there was anything but empty lines.
    begun: bool,
}

impl ParagraphFormat {
    /// Takes the packages of a file; nothing where there is none.
    pub(super) fn read(&self, path: &Path, collector: &mut Collector) -> Option<SourceState> {
        match read::bytes(path, MAX_BYTES) {
            Ok(bytes) => {
                self.paragraphs(&bytes, collector);
                Some(SourceState::Read)
            }
            Err(ReadError::Absent) => None,
            Err(ReadError::TooLarge) => Some(SourceState::TooLarge),
            Err(ReadError::Unreadable) => Some(SourceState::Unreadable),
        }
    }

    /// One pass over the bytes. Most lines are of no interest.
    pub(super) fn paragraphs(&self, bytes: &[u8], collector: &mut Collector) {
        let mut paragraph = Paragraph::default();
        let mut start = 0;
        while start < bytes.len() {
            let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
            let line = &bytes[start..end];
            start = end + 1;
            if line.is_empty() {
                std::mem::take(&mut paragraph).end(collector);
                continue;
            }
            paragraph.begun = true;
            let value = |field: &[u8]| line.strip_prefix(field).map(<[u8]>::trim_ascii);
            if let Some(name) = value(self.name) {
                paragraph.name = Some(name);
            } else if let Some(version) = value(self.version) {
                paragraph.version = Some(version);
            } else if let Some(status) = self.status.and_then(value) {
                paragraph.status = Some(status);
            }
        }
        paragraph.end(collector);
    }
}

impl Paragraph<'_> {
    /// A package that was removed stays in the file for as long as its settings do.
    fn end(self, collector: &mut Collector) {
        let state = self.status.and_then(|status| status.rsplit(|byte| *byte == b' ').next());
        let installed = state.is_none_or(|state| INSTALLED.contains(&state));
        match (self.name, self.version) {
            _ if !self.begun || !installed => {}
            (Some(name), Some(version)) => collector.take(name, version),
            _ => collector.skip(),
        }
    }
}
