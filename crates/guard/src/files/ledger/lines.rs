//! How many lines a growing file has, without reading it again for every entry.

use std::{fs::File, io, os::unix::fs::FileExt as _};

use rustix::fs::fstat;

use crate::files::tree::{Id, id};

/// How much is read at a time.
const CHUNK_BYTES: usize = 131_072;
/// How much of the end of what was counted is remembered, to notice that it was exchanged.
const END_BYTES: usize = 256;

/// The lines of a file, up to a place in it.
#[derive(Default)]
pub(super) struct Counted {
    file: Option<Id>,
    bytes: u64,
    newlines: u64,
    /// The last bytes before that place.
    end: Vec<u8>,
}

impl Counted {
    /// Counts what came to the file since the last time; all of it where the file is another one,
    /// is shorter, or does not go on as it did.
    pub(super) fn update(&mut self, file: &File) -> io::Result<()> {
        let length = u64::try_from(fstat(file)?.st_size).unwrap_or(0);
        self.update_to(file, length)
    }

    /// The same up to a place that the file reaches.
    pub(super) fn update_to(&mut self, file: &File, length: u64) -> io::Result<()> {
        let identity = id(&fstat(file)?);
        if self.file != Some(identity) || length < self.bytes || !self.goes_on(file)? {
            *self = Self { file: Some(identity), ..Self::default() };
        }
        if self.bytes == length {
            return Ok(());
        }
        let mut chunk = vec![0; CHUNK_BYTES];
        while self.bytes < length {
            let rest = usize::try_from(length - self.bytes).unwrap_or(usize::MAX);
            let most = chunk.len().min(rest);
            match file.read_at(&mut chunk[..most], self.bytes) {
                // It was cut while it was read. What is there is what counts.
                Ok(0) => break,
                Ok(read) => self.advance(&chunk[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    *self = Self::default();
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Counts bytes that are known to come next.
    pub(super) fn advance(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        if bytes.len() >= END_BYTES {
            self.end.clear();
        }
        self.end.extend_from_slice(&bytes[bytes.len().saturating_sub(END_BYTES)..]);
        let superfluous = self.end.len().saturating_sub(END_BYTES);
        self.end.drain(..superfluous);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn newlines(&self) -> u64 {
        self.newlines
    }

    /// Whether the last line has no end.
    pub(super) fn ends_within_a_line(&self) -> bool {
        self.end.last().is_some_and(|last| *last != b'\n')
    }

    /// Whether what was counted last is still there.
    fn goes_on(&self, file: &File) -> io::Result<bool> {
        let mut found = [0; END_BYTES];
        let found = &mut found[..self.end.len()];
        match file.read_exact_at(found, self.bytes - self.end.len() as u64) {
            Ok(()) => Ok(*found == self.end[..]),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }
}
