//! Reads a backup.

use std::{
    fs::File,
    io::{self, BufReader, Read, Write},
};

use anyhow::{Context, bail};
use flate2::bufread::GzDecoder;
use sha2::{Digest, Sha256};

use super::{BackupInfo, INFO, SUMS, hashed, is_expected, tar};

/// The largest [`INFO`], in bytes.
const MAX_INFO_BYTES: u64 = 64 * 1_024;

/// A backup that is being read. The lines of the checksums are hashed as they come together: they need not be kept.
pub struct ArchiveReader {
    archive: GzDecoder<BufReader<File>>,
    sums: Sha256,
}

impl ArchiveReader {
    /// Begins to read, and says who made the backup.
    pub fn open(file: File) -> anyhow::Result<(Self, BackupInfo)> {
        let archive = GzDecoder::new(BufReader::new(file));
        let mut reader = Self { archive, sums: Sha256::new() };
        let Some((name, bytes)) = tar::next(&mut reader.archive).map_err(damaged)? else {
            bail!("it is empty");
        };
        if name != INFO || bytes > MAX_INFO_BYTES {
            bail!("it is not a backup of Toolgate: it does not begin with `{INFO}`");
        }
        let mut info = Vec::new();
        reader.copy(&name, bytes, &mut info)?;
        let info = serde_json::from_slice(&info);
        let info = info.with_context(|| format!("`{INFO}` in it cannot be read"))?;
        Ok((reader, info))
    }

    /// The next file, for [`ArchiveReader::copy`]; none once all of them are as the checksums say.
    pub fn next(&mut self) -> anyhow::Result<Option<(String, u64)>> {
        let Some((name, bytes)) = tar::next(&mut self.archive).map_err(damaged)? else {
            bail!("it is cut short: its checksums are missing");
        };
        if name != SUMS {
            if !is_expected(&name) {
                bail!("it has a file `{name}`, which no backup has");
            }
            return Ok(Some((name, bytes)));
        }
        let expected = self.sums.clone().finalize();
        let mut found = Sha256::new();
        self.copy(&name, bytes, &mut HashWriter(&mut found))?;
        if found.finalize() != expected {
            bail!("it is damaged: its files are not as `{SUMS}` says");
        }
        self.end()?;
        Ok(None)
    }

    /// Copies the file that comes next.
    pub fn copy(&mut self, name: &str, bytes: u64, target: &mut impl Write) -> anyhow::Result<()> {
        let sum = hashed(&mut self.archive, bytes, damaged, |chunk| {
            target.write_all(chunk).with_context(|| format!("cannot write `{name}`"))
        })?;
        let padding = &mut [0; tar::BLOCK][..tar::padding(bytes)];
        self.archive.read_exact(padding).map_err(damaged)?;
        self.sums.update(format!("{sum}  {name}\n"));
        Ok(())
    }

    /// Nothing may come behind the checksums: it would not be checked.
    fn end(&mut self) -> anyhow::Result<()> {
        if tar::next(&mut self.archive).map_err(damaged)?.is_some() {
            bail!("it has a file behind `{SUMS}`");
        }
        // Zeros to the end of the last record, and the checksum of the compression.
        let mut rest = Vec::new();
        let most = tar::RECORD as u64;
        self.archive.by_ref().take(most).read_to_end(&mut rest).map_err(damaged)?;
        let mut behind = [0];
        let is_end = rest.len() < tar::RECORD
            && rest.iter().all(|byte| *byte == 0)
            && self.archive.get_mut().read(&mut behind).map_err(damaged)? == 0;
        if is_end { Ok(()) } else { bail!("there is something behind its end") }
    }
}

/// Hashes what is written to it.
struct HashWriter<'a>(&'a mut Sha256);

impl Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The error of an archive that cannot be read on.
fn damaged(error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => anyhow::anyhow!("it is cut short"),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            anyhow::anyhow!("it is damaged, or not a backup: {error}")
        }
        _ => error.into(),
    }
}
