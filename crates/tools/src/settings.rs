//! What the operator decides about the built-in tools.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of all built-in tools, with paths that start at the root of the machine.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `read_file`, `write_file` and their neighbours.
    pub file_io: FileIo,
    /// `read_repo_file`.
    pub repo: Repo,
    /// `write_memory_entry`.
    pub memory: Memory,
    /// `list_hardware`, `list_software`, `diff_baseline`.
    pub sys_audit: SysAudit,
}

impl Settings {
    /// The same with every path made whole: relative ones start at `base`, and what the
    /// operator does not place lies in `data`.
    #[must_use]
    pub fn placed(mut self, base: &Path, data: &Path) -> Self {
        let whole = |path: &Path| base.join(path).components().collect::<PathBuf>();
        let root = self.file_io.root.as_deref().map(whole);
        self.file_io.root = Some(root.unwrap_or_else(|| data.join("files")));
        self.repo.root = whole(&self.repo.root);
        self.memory.dir = whole(&self.memory.dir);
        self
    }

    /// The same with every tool at work in this folder: for trying them out.
    #[must_use]
    pub fn within(mut self, folder: &Path) -> Self {
        self.file_io.root = Some(folder.to_owned());
        folder.clone_into(&mut self.repo.root);
        self.memory.dir = folder.join(Memory::default().dir);
        self
    }
}

/// The folder that an agent may read and write.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FileIo {
    /// The folder; `files` in the data folder where this is left out.
    pub root: Option<PathBuf>,
    /// The largest file that is read, in bytes.
    #[schemars(range(min = 1, max = 67_108_864))]
    pub max_read_bytes: u64,
    /// The largest file that is written, in bytes.
    #[schemars(range(min = 1, max = 67_108_864))]
    pub max_write_bytes: u64,
}

impl Default for FileIo {
    fn default() -> Self {
        Self { root: None, max_read_bytes: 5_242_880, max_write_bytes: 5_242_880 }
    }
}

/// The repository that an agent may read from.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Repo {
    /// The folder of the repository.
    pub root: PathBuf,
    /// Globs of what may be read.
    pub allow: Vec<String>,
    /// Globs of what may not, whatever `allow` says.
    pub deny: Vec<String>,
    /// The largest file that is read, in bytes.
    #[schemars(range(min = 1, max = 67_108_864))]
    pub max_bytes: u64,
}

impl Default for Repo {
    fn default() -> Self {
        let all = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect();
        Self {
            root: PathBuf::from("."),
            allow: all(&[
                "docs/**",
                "paths/**",
                "stacks/**",
                ".claude/memory/**",
                "README.md",
                "CLAUDE.md",
            ]),
            deny: all(&[".env*", "**/secrets/**", "**/.git/**"]),
            max_bytes: 1_048_576,
        }
    }
}

/// The memory that an agent may append to.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Memory {
    /// The folder of the memory files.
    pub dir: PathBuf,
    /// The files in it that may be appended to; the contract knows the two of the default.
    pub files: Vec<String>,
    /// The largest entry, in bytes of UTF-8.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub max_entry_bytes: u64,
    /// How many entries a file takes in an hour.
    #[schemars(range(min = 1))]
    pub max_entries_per_hour: u32,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            dir: PathBuf::from(".claude/memory"),
            files: vec!["progress_log.jsonl".into(), "decisions.jsonl".into()],
            max_entry_bytes: 10_240,
            max_entries_per_hour: 20,
        }
    }
}

/// What the audit of this machine looks at.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SysAudit {}
