//! Callers' paths below an operator's folder: nothing outside it is read or written.
//!
//! Everything here is tried in both ways in which a path can be resolved, and what lies outside is
//! compared before and after.

mod arbitrary_paths;
mod crash;
mod disk;
mod editing;
mod kernel;
mod listing;
pub mod path_property;
mod paths;
mod races;
mod reading;
mod rights;
mod root;
mod writing;

use std::{collections::BTreeMap, path::Path};

use guard::files::{FileError, FileTree, LinkPolicy, Resolver};
use rustix::fs::{CWD, FileType, Mode, mkfifoat, mknodat};
use tempfile::TempDir;

use path_property::plant;

/// A folder with everything in it that should not lead anywhere, beside what must not be touched.
pub struct TreeFixture {
    folder: TempDir,
    /// Keeps the socket in the folder alive.
    _socket: std::os::unix::net::UnixListener,
    before: Snapshot,
}

/// Every path below a folder, and what is there.
type Snapshot = BTreeMap<String, String>;

impl TreeFixture {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        plant(folder.path());
        let root = folder.path().join("root");
        mkfifoat(CWD, root.join("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
        // Only root can make one; where it cannot be made the path is simply not there.
        let null = rustix::fs::makedev(1, 3);
        let _ = mknodat(CWD, root.join("device"), FileType::CharacterDevice, Mode::RUSR, null);
        let before = outside(folder.path());
        Self { folder, _socket: socket, before }
    }

    pub fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("root")
    }

    pub fn outside(&self) -> &Path {
        self.folder.path()
    }

    /// The folder as the kernel resolves it, and as we do ourselves.
    pub fn trees(&self, links: LinkPolicy) -> [FileTree; 2] {
        let tree = || FileTree::new(self.root()).links(links);
        [tree(), tree().resolver(Resolver::Steps)]
    }

    /// Nothing outside was changed, and nothing of ours is left inside.
    pub fn is_untouched(&self, what: &str) {
        assert_eq!(outside(self.folder.path()), self.before, "{what}: something outside changed");
        let left: Vec<_> =
            snapshot(&self.root()).into_keys().filter(|path| path.contains(".toolgate")).collect();
        assert!(left.is_empty(), "{what}: {left:?} is left");
    }
}

/// Everything beside the root.
fn outside(folder: &Path) -> Snapshot {
    let mut all = snapshot(folder);
    all.retain(|path, _| !path.starts_with("root/") && path != "root");
    all
}

/// What lies below a folder, with contents; follows no link.
pub fn snapshot(folder: &Path) -> Snapshot {
    fn look(folder: &Path, prefix: &str, found: &mut Snapshot) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let told = if kind.is_symlink() {
                format!("link to {}", std::fs::read_link(&path).unwrap().display())
            } else if kind.is_dir() {
                look(&path, &format!("{name}/"), found);
                "folder".to_owned()
            } else if kind.is_file() {
                let bytes = std::fs::read(&path).unwrap();
                format!("{} bytes: {:?}", bytes.len(), String::from_utf8_lossy(&bytes))
            } else {
                "special".to_owned()
            };
            found.insert(name, told);
        }
    }
    let mut found = Snapshot::new();
    look(folder, "", &mut found);
    found
}

/// What came of it, in one word.
pub fn word<T>(result: &Result<T, FileError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(FileError::NotFound) => "missing",
        Err(FileError::Denied(_)) => "denied",
        Err(FileError::IsADirectory) => "folder",
        Err(FileError::NotADirectory) => "no folder",
        Err(FileError::NotAFile(_)) => "special",
        Err(FileError::TooLarge { .. }) => "too large",
        Err(FileError::NotText) => "no text",
        Err(FileError::ReadOnly) => "read-only",
        Err(FileError::Changed) => "changed",
        Err(FileError::Stopped) => "stopped",
        Err(FileError::NotSynced(_)) => "not synced",
        Err(error) if error.is_full() => "full",
        Err(error) if error.is_forbidden() => "forbidden",
        Err(FileError::Io(_)) => "io",
    }
}

pub fn always() -> bool {
    true
}
