//! Writes a backup.

use std::{
    fs::File,
    io::{self, Read, Seek, Write},
};

use anyhow::Context;
use flate2::{Compression, write::GzEncoder};

use super::{SUMS, hashed, tar};

/// A backup that is being written.
pub struct ArchiveWriter {
    archive: GzEncoder<File>,
    /// The lines of the checksums so far.
    sums: File,
    /// The time of every file, in seconds since 1970.
    seconds: u64,
    /// The bytes of all files.
    pub bytes: u64,
}

impl ArchiveWriter {
    /// Writes to this file; `sums` is for the checksums meanwhile.
    pub fn new(file: File, sums: File, seconds: u64) -> Self {
        let archive = GzEncoder::new(file, Compression::default());
        Self { archive, sums, seconds, bytes: 0 }
    }

    /// Adds a file of so many bytes: no more are read, even if it grows meanwhile.
    pub fn add(&mut self, name: &str, bytes: u64, source: &mut impl Read) -> anyhow::Result<()> {
        let sum = self.add_entry(name, bytes, source)?;
        self.bytes += bytes;
        writeln!(self.sums, "{sum}  {name}").context("cannot write the backup")
    }

    fn add_entry(
        &mut self,
        name: &str,
        bytes: u64,
        source: &mut impl Read,
    ) -> anyhow::Result<String> {
        const CANNOT: &str = "cannot write the backup";
        self.archive.write_all(&tar::header(name, bytes, self.seconds)).context(CANNOT)?;
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                anyhow::anyhow!("`{name}` became shorter while it was read; try again")
            }
            _ => anyhow::Error::from(error).context(format!("cannot read `{name}`")),
        };
        let archive = &mut self.archive;
        let sum =
            hashed(source, bytes, unreadable, |chunk| archive.write_all(chunk).context(CANNOT))?;
        self.archive.write_all(&[0; tar::BLOCK][..tar::padding(bytes)]).context(CANNOT)?;
        Ok(sum)
    }

    /// Adds the checksums, and writes everything to the disk. Returns the bytes of all files.
    pub fn finish(mut self) -> anyhow::Result<u64> {
        let mut sums = self.sums.try_clone().context("cannot read the checksums")?;
        let bytes = sums.stream_position()?;
        sums.rewind()?;
        self.add_entry(SUMS, bytes, &mut sums)?;
        let end = self.archive.write_all(&[0; 2 * tar::BLOCK]);
        let file = end.and_then(|()| self.archive.finish());
        let written = file.and_then(|file| file.sync_all());
        written.map(|()| self.bytes).context("cannot write the backup")
    }
}
