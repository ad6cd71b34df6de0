//! Backups: gzipped tar files of regular files alone, so that ordinary tools open them.
//!
//! - The first file is [`INFO`]: who made the backup, and when. The last is [`SUMS`]: the SHA-256 of every other file, as
//!   `sha256sum -c` reads it.
//! - Nothing but what `toolgate backup` writes is read: one folder, link, device or unknown name ends a restore.
//! - Neither side holds more than a chunk of a file in memory.

pub mod reader;
mod tar;
pub mod writer;

use std::io::{self, Read};

use gate::{JobId, Timestamp};
use guard::files::plain_name;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::interrupts;

/// What a backup says about itself.
pub const INFO: &str = "backup.json";
/// The checksums of the other files.
pub const SUMS: &str = "SHA256SUMS";
/// The database.
pub const DATABASE: &str = "toolgate.db";
/// The journal; those that were rotated have a number behind it.
pub const JOURNAL: &str = "journal.jsonl";
/// The folder of the folders of jobs.
pub const ARTIFACTS: &str = "artifacts";

/// The form of the archive. A later one may have other files.
const FORMAT: u32 = 1;
/// The bytes that are copied at once.
const CHUNK: usize = 64 * 1_024;

/// Who made a backup, and when.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BackupInfo {
    pub format: u32,
    /// The version of Toolgate.
    pub toolgate: String,
    /// The version of the tables.
    pub schema: u32,
    pub created_at: String,
}

impl BackupInfo {
    /// A backup of this program.
    pub fn new(at: Timestamp) -> Self {
        Self {
            format: FORMAT,
            toolgate: env!("CARGO_PKG_VERSION").into(),
            schema: store::SCHEMA_VERSION,
            created_at: at.to_string(),
        }
    }

    /// True if a later version made it, so that there may be more in it than is known here.
    pub fn is_newer(&self) -> bool {
        self.format > FORMAT || self.schema > store::SCHEMA_VERSION
    }
}

/// True if a backup has files of this name. It is a path in the data folder.
pub fn is_expected(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match parts[..] {
        [name] => {
            let number = name.strip_prefix(JOURNAL).and_then(|rest| rest.strip_prefix('.'));
            let is_number = |text: &str| {
                (1..=9).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit())
            };
            SINGLE_FILES.contains(&name) || number.is_some_and(is_number)
        }
        [ARTIFACTS, job, name] => JobId::parse(job).is_some() && plain_name(name).is_ok(),
        _ => false,
    }
}

/// Files beside artifacts and rotated journals.
const SINGLE_FILES: [&str; 4] =
    [DATABASE, JOURNAL, crate::server_settings::OPERATOR_TOKEN, crate::server_settings::STATE_KEY];

/// Reads so many bytes, hands them on in chunks, and returns their SHA-256 in hexadecimal digits.
fn hashed(
    source: &mut impl Read,
    bytes: u64,
    unreadable: impl Fn(io::Error) -> anyhow::Error,
    mut hand_on: impl FnMut(&[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    let mut left = bytes;
    while left > 0 {
        interrupts::check()?;
        let chunk = &mut chunk[..usize::try_from(left).unwrap_or(CHUNK).min(CHUNK)];
        source.read_exact(chunk).map_err(&unreadable)?;
        hash.update(&*chunk);
        hand_on(chunk)?;
        left -= chunk.len() as u64;
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_files_of_a_data_folder_are_expected() {
        let job = "job_01ARZ3NDEKTSV4RRFFQ69G5FAV";
        for path in ["toolgate.db", "state.key", "journal.jsonl", "journal.jsonl.12"] {
            assert!(is_expected(path), "{path}");
        }
        assert!(is_expected(&format!("artifacts/{job}/report.csv")));
        for path in [
            "",
            "/",
            "..",
            "../toolgate.db",
            "/etc/passwd",
            "./toolgate.db",
            "toolgate.db/",
            "toolgate.yaml",
            "server.lock",
            "journal.jsonl.",
            "journal.jsonl.1a",
            "journal.jsonl.1234567890",
            "artifacts/x/y",
            "artifacts/../x",
            &format!("artifacts/{job}"),
            &format!("artifacts/{job}/.."),
            &format!("artifacts/{job}/a/b"),
            &format!("artifacts/{job}/a\\b"),
            &format!("artifacts//{job}"),
        ] {
            assert!(!is_expected(path), "{path}");
        }
    }
}
