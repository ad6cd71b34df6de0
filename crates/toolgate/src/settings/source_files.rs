//! The files that settings are made of: each is read once, and its stamp is taken before, so that what was checked is what is
//! used, and whoever follows the files knows them all.

use std::{
    collections::BTreeMap,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use crate::files;

/// The files that settings are made of, as they were when they were read.
#[derive(Debug, Default)]
pub struct SourceFiles(Mutex<BTreeMap<PathBuf, SourceFile>>);

#[derive(Debug)]
struct SourceFile {
    state: FileState,
    /// The text, where it was a document.
    text: Option<String>,
}

/// The state of a file or a folder, to notice changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// None where there is no file.
    File(Option<FileStamp>),
    /// The contracts in a folder; none where there is no folder.
    Folder(Option<Vec<PathBuf>>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStamp {
    modified: Option<SystemTime>,
    bytes: u64,
    /// A file that was replaced has another inode, even within one tick of the clock.
    inode: u64,
}

impl SourceFiles {
    /// The text of a document. It must be UTF-8.
    pub fn document_text(&self, path: &Path) -> anyhow::Result<String> {
        self.note(path);
        if let Some(text) = self.lock().get(path).and_then(|known| known.text.clone()) {
            return Ok(text);
        }
        let text = files::read_document_text(path)?;
        if let Some(known) = self.lock().get_mut(path) {
            known.text = Some(text.clone());
        }
        Ok(text)
    }

    /// The text of a contract, which is a regular file.
    pub fn contract_text(&self, path: &Path) -> anyhow::Result<String> {
        if !path.metadata()?.is_file() {
            anyhow::bail!("it is not a regular file");
        }
        self.document_text(path)
    }

    /// Takes the stamp of a file that is about to be read.
    pub fn note(&self, path: &Path) {
        let known = || SourceFile { state: FileState::File(FileStamp::of(path)), text: None };
        self.lock().entry(path.to_owned()).or_insert_with(known);
    }

    /// Every `.yaml`, `.yml` and `.json` of a folder, sorted.
    pub fn contract_files(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        if let Some(FileState::Folder(Some(known))) = self.lock().get(folder).map(|one| &one.state)
        {
            return Ok(known.clone());
        }
        let found = files::contracts_in(folder);
        let state = FileState::Folder(found.as_ref().ok().cloned());
        self.lock().insert(folder.to_owned(), SourceFile { state, text: None });
        found
    }

    /// True if contracts were found in a folder or below it.
    pub fn has_contracts_below(&self, folder: &Path) -> bool {
        self.lock().iter().any(|(path, known)| {
            let is_used =
                matches!(&known.state, FileState::Folder(Some(files)) if !files.is_empty());
            is_used && path.starts_with(folder)
        })
    }

    /// The states in which the files were read.
    pub fn states(&self) -> BTreeMap<PathBuf, FileState> {
        self.lock().iter().map(|(path, known)| (path.clone(), known.state.clone())).collect()
    }

    /// The states of the same files now.
    pub fn states_now(&self) -> BTreeMap<PathBuf, FileState> {
        let known = self.states().into_iter();
        let now = |(path, state): (PathBuf, FileState)| {
            let now = match state {
                FileState::File(_) => FileState::File(FileStamp::of(&path)),
                FileState::Folder(_) => FileState::Folder(files::contracts_in(&path).ok()),
            };
            (path, now)
        };
        known.map(now).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, SourceFile>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FileStamp {
    pub fn of(path: &Path) -> Option<Self> {
        // A pipe is read once, whatever happens to it.
        let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        let modified = metadata.modified().ok();
        Some(Self { modified, bytes: metadata.len(), inode: metadata.ino() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once_and_what_changes_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        std::fs::write(&file, "a: 1\n").unwrap();
        let sources = SourceFiles::default();
        assert_eq!(sources.contract_files(folder.path()).unwrap(), [file.as_path()]);
        assert_eq!(sources.document_text(&file).unwrap(), "a: 1\n");
        assert!(sources.has_contracts_below(folder.path()));
        assert!(sources.contract_files(&folder.path().join("none")).is_err());
        assert_eq!(sources.states(), sources.states_now());

        std::fs::write(&file, "a: 22\n").unwrap();
        assert_eq!(sources.document_text(&file).unwrap(), "a: 1\n");
        assert_ne!(sources.states(), sources.states_now());
        std::fs::write(&file, "a: 1\n").unwrap();
        std::fs::write(folder.path().join("notes.swp"), "").unwrap();
        let before = sources.states_now();
        std::fs::write(folder.path().join("b.yaml"), "").unwrap();
        assert_ne!(before, sources.states_now());
        std::fs::remove_file(folder.path().join("b.yaml")).unwrap();
        std::fs::create_dir(folder.path().join("none")).unwrap();
        assert_ne!(before, sources.states_now());
    }
}
