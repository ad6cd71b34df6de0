//! The toolset `file-io`: a folder for an agent to read and write.
//!
//! One file for each tool. What they share is here: the folder, and in [`failure`] the few texts
//! and codes that they fail with.

mod diff;
mod edit_file;
mod failure;
mod list_dir;
mod read_file;
mod search_text;
mod stat;
mod write_file;

use std::{sync::Arc, time::SystemTime};

use gate::RunningCall;
use guard::files::{FileError, FileKind, FileTree, SafePath};
use serde_json::Value;

use crate::{integer, json_size::AROUND_BYTES, settings::FileIoSettings};

pub(crate) use edit_file::EditFile;
pub(crate) use list_dir::ListDir;
pub(crate) use read_file::ReadFile;
pub(crate) use search_text::SearchText;
pub(crate) use stat::Stat;
pub(crate) use write_file::WriteFile;

/// The agent's folder and what the operator decided about it.
pub(crate) struct AgentFolder {
    tree: FileTree,
    settings: FileIoSettings,
}

impl AgentFolder {
    /// The folder of the settings. It is opened, and made if it is missing, when a tool is called.
    pub(crate) fn new(settings: &FileIoSettings) -> Arc<Self> {
        // Settings that were not placed name no folder; then there is nothing to open.
        let root = settings.root.clone().unwrap_or_default();
        Arc::new(Self { tree: FileTree::new(root).create_root(), settings: settings.clone() })
    }

    fn path(&self, text: &str) -> Result<SafePath, FileError> {
        self.tree.path(text)
    }
}

/// A whole number that the contract guarantees.
fn number(call: &RunningCall, name: &str) -> usize {
    let number = integer::argument(call, name).unwrap_or_default();
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn flag(call: &RunningCall, name: &str) -> bool {
    call.input.get(name).and_then(Value::as_bool).unwrap_or_default()
}

/// The word of the contracts for what a name stands for.
fn word(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
        FileKind::Other => "other",
    }
}

/// The time as RFC 3339, if it lies where that reaches.
fn time(time: Option<SystemTime>) -> Value {
    let stamp = time.and_then(|time| jiff::Timestamp::try_from(time).ok());
    stamp.map_or(Value::Null, |stamp| Value::String(format!("{stamp:.3}")))
}

/// The beginning of a list that fits into a result, so that a result which is merely long does not
/// end in quarantine.
struct BoundedList {
    items: Vec<Value>,
    bytes_left: u64,
}

impl BoundedList {
    fn new(max_output_bytes: u64, around: usize) -> Self {
        let bytes_left = max_output_bytes.saturating_sub(AROUND_BYTES + around as u64);
        Self { items: Vec::new(), bytes_left }
    }

    /// True if there was room for it.
    fn push(&mut self, item: Value) -> bool {
        // With the comma that follows.
        let bytes = item.to_string().len() as u64 + 1;
        let fits = bytes <= self.bytes_left;
        if fits {
            self.bytes_left -= bytes;
            self.items.push(item);
        }
        fits
    }
}
