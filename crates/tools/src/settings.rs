//! The settings of the built-in tools.

mod mlx;
mod search;
mod web_fetch;

use std::path::{Path, PathBuf};

pub use mlx::MlxSettings;
pub(crate) use mlx::is_repository;
use schemars::JsonSchema;
pub use search::{SearchProvider, SearchSettings, SearchToolIn};
use serde::{Deserialize, Serialize};
pub use web_fetch::WebFetchSettings;

/// The settings of all built-in tools, with paths that start at the root of the machine.
#[derive(Debug, Clone, Default)]
pub struct ToolSettings {
    /// `search.web`.
    pub search: SearchSettings,
    /// `read_file`, `write_file` and their neighbours.
    pub file_io: FileIoSettings,
    /// `read_repo_file`.
    pub repo: RepoSettings,
    /// `write_memory_entry`.
    pub memory: MemorySettings,
    /// `mlx.load` and `mlx.unload`.
    pub mlx: MlxSettings,
    /// `list_hardware`, `list_software`, `diff_baseline`.
    pub sys_audit: SysAuditSettings,
    /// `transcript.clean`.
    pub transcript: TranscriptSettings,
    /// The language model that tools may ask.
    pub llm: llm::LlmSettings,
    /// `fetch_url` and its neighbours.
    pub web_fetch: WebFetchSettings,
}

impl ToolSettings {
    /// The same with every path made whole: relative ones start at `base`, and what the
    /// operator does not place lies in `data`.
    #[must_use]
    pub fn placed(mut self, base: &Path, data: &Path) -> Self {
        let whole = |path: &Path| base.join(path).components().collect::<PathBuf>();
        let root = self.file_io.root.as_deref().map(whole);
        self.file_io.root = Some(root.unwrap_or_else(|| data.join("files")));
        self.repo.root = whole(&self.repo.root);
        self.memory.dir = whole(&self.memory.dir);
        self.memory.times_dir = data.join("memory");
        self.mlx.place(base, data);
        let authorities = self.web_fetch.extra_ca.iter_mut();
        for path in authorities.chain(&mut self.search.extra_ca).chain(&mut self.llm.extra_ca) {
            *path = whole(path);
        }
        self
    }

    /// The same with every tool at work in this folder: for trying them out.
    #[must_use]
    pub fn within(mut self, folder: &Path) -> Self {
        self.file_io.root = Some(folder.to_owned());
        folder.clone_into(&mut self.repo.root);
        self.memory.dir = folder.join(MemorySettings::default().dir);
        self.memory.times_dir = folder.join("data/memory");
        self.mlx =
            MlxSettings { dir: folder.join("mlx"), stand_in: true, ..MlxSettings::default() };
        self.search = SearchSettings::of_examples(folder);
        // What a model would answer cannot be foreseen.
        self.transcript.mode = TranscriptMode::Rules;
        // Not under the operator's rules: what is shown is what the tool does without any.
        self.web_fetch =
            WebFetchSettings { stand_in: Some(folder.to_owned()), ..WebFetchSettings::default() };
        self
    }
}

/// The folder that an agent may read and write.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FileIoSettings {
    /// The folder; `files` in the data folder where this is left out.
    pub root: Option<PathBuf>,
    /// The largest file that is read, in bytes.
    #[schemars(range(min = 1, max = 67_108_864))]
    pub max_read_bytes: u64,
    /// The largest file that is written, in bytes.
    #[schemars(range(min = 1, max = 67_108_864))]
    pub max_write_bytes: u64,
    /// The most names that one search looks at.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub max_search_entries: usize,
    /// The most that one search reads, in bytes.
    #[schemars(range(min = 1, max = 10_737_418_240_u64))]
    pub max_search_bytes: u64,
}

impl Default for FileIoSettings {
    fn default() -> Self {
        Self {
            root: None,
            max_read_bytes: 5_242_880,
            max_write_bytes: 5_242_880,
            max_search_entries: 20_000,
            max_search_bytes: 104_857_600,
        }
    }
}

/// The repository that an agent may read from.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RepoSettings {
    /// The folder of the repository.
    pub root: PathBuf,
    /// Globs of what may be read. `*` stays within a name, `**` is any number of folders.
    pub allow: Vec<String>,
    /// Globs of what may not, whatever `allow` says. Case does not matter, and a glob without a
    /// slash means that name at any depth.
    pub deny: Vec<String>,
    /// The largest file that is read, in bytes.
    #[schemars(range(min = 1, max = 67_108_864))]
    pub max_bytes: u64,
    /// Folders and files that are nobody's to read, whatever the lists say.
    #[serde(skip)]
    pub hidden: Vec<PathBuf>,
}

impl Default for RepoSettings {
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
            hidden: Vec::new(),
        }
    }
}

impl RepoSettings {
    /// The globs that mean nothing: the key and the place in its list, and what is wrong.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let mut mistakes = Vec::new();
        for (key, globs) in [("allow", &self.allow), ("deny", &self.deny)] {
            for (index, glob) in globs.iter().enumerate() {
                if let Err(error) = guard::files::check_glob(glob) {
                    mistakes.push((format!("{key}/{index}"), error.to_string()));
                }
            }
        }
        mistakes
    }
}

/// The memory that an agent may append to.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MemorySettings {
    /// The folder of the memory files.
    pub dir: PathBuf,
    /// The files in it that may be appended to: some of the two that the contract knows.
    pub files: Vec<MemoryFile>,
    /// The largest entry, in bytes of UTF-8.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub max_entry_bytes: u64,
    /// The entries that a file takes in an hour, from all processes on this data folder together.
    #[schemars(range(min = 1))]
    pub max_entries_per_hour: u32,
    /// The folder for the times of the latest entries. Not set by hand: it lies in the data folder.
    #[serde(skip)]
    pub times_dir: PathBuf,
}

/// A memory file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MemoryFile {
    /// The things that were done.
    #[serde(rename = "progress_log.jsonl")]
    ProgressLog,
    /// The decisions, and their reasons.
    #[serde(rename = "decisions.jsonl")]
    Decisions,
}

impl MemoryFile {
    pub fn name(self) -> &'static str {
        match self {
            MemoryFile::ProgressLog => "progress_log.jsonl",
            MemoryFile::Decisions => "decisions.jsonl",
        }
    }
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            dir: PathBuf::from(".claude/memory"),
            files: vec![MemoryFile::ProgressLog, MemoryFile::Decisions],
            max_entry_bytes: 10_240,
            max_entries_per_hour: 20,
            times_dir: PathBuf::from("data/memory"),
        }
    }
}

/// The settings of `transcript.clean`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TranscriptSettings {
    /// The way of cleaning: by rules alone, or with a language model for punctuation.
    pub mode: TranscriptMode,
    /// The largest text that is cleaned, in bytes of UTF-8.
    #[schemars(range(min = 1, max = 33_554_432))]
    pub max_input_bytes: usize,
    /// With a model: the longest piece that it is asked about at once, in characters. A small model keeps to
    /// the words of short pieces better.
    #[schemars(range(min = 100, max = 20_000))]
    pub max_chunk_characters: usize,
}

impl Default for TranscriptSettings {
    fn default() -> Self {
        Self {
            mode: TranscriptMode::default(),
            max_input_bytes: 5_242_880,
            max_chunk_characters: 500,
        }
    }
}

impl TranscriptSettings {
    /// The mistakes that the schema cannot see: the setting of each, and a message.
    pub fn mistakes(&self, llm: &llm::LlmSettings) -> Vec<(String, String)> {
        let lacks_model = self.mode == TranscriptMode::Model && llm.base_url.is_none();
        let words = "`model` needs a language model: set `llm.base_url`";
        lacks_model.then(|| ("mode".to_owned(), words.to_owned())).into_iter().collect()
    }
}

/// The settings of `transcript.clean`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TranscriptMode {
    /// By rules, on this machine, without a network.
    #[default]
    Rules,
    /// By rules, and then punctuation, capitals and paragraphs by the model of `llm`, which may not change a word.
    Model,
}

/// The audit of this machine.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SysAuditSettings {
    /// The packages that are listed where not all are asked for, whichever package manager has
    /// them. A name may end with `*`.
    #[schemars(length(max = 1_000), inner(length(min = 1, max = 200)))]
    pub key_packages: Vec<String>,
}

impl Default for SysAuditSettings {
    fn default() -> Self {
        Self { key_packages: machine::default_key_packages().map(str::to_owned).collect() }
    }
}
