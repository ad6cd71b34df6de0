//! An operator's folder, below which the paths of callers are resolved.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use rustix::fs::{OFlags, Stat, fstat, stat};

use super::leftovers::Sweeper;
use super::{FileError, LinkPolicy, PathError, PinnedFolder, Resolver, SafePath, resolve};

/// The number of writes that can go on at once without one having to wait for another by chance.
const LOCKS: usize = 64;
/// The pause of a write that waits for another one, at first and at most.
const SHORTEST_PAUSE: Duration = Duration::from_micros(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// A folder of the operator's and everything below it, for callers who are not trusted.
///
/// The folder's own path is trusted, with its symbolic links, when this is made. It is opened at the first use and kept
/// open; if another folder has taken its place since, nothing is ([`PinnedFolder`]). Everything below is
/// reached through the open handle, by a [`SafePath`].
///
/// ```
/// use guard::files::{FileError, FileTree};
///
/// # fn example() -> Result<(), FileError> {
/// # let folder = tempfile::tempdir().unwrap();
/// let tree = FileTree::new(folder.path());
/// let path = tree.path("notes/today.txt")?;
/// tree.write(&path, b"hello", &|| true)?;
/// assert_eq!(tree.read_text(&path, 1_000)?, "hello");
/// assert!(matches!(tree.path("../secret"), Err(FileError::Denied(_))));
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
#[derive(Debug)]
pub struct FileTree {
    root: PinnedFolder,
    creates_root: bool,
    links: LinkPolicy,
    /// Found out when the folder is opened, unless it is set.
    resolver: Option<Resolver>,
    open: Mutex<Option<Arc<OpenRoot>>>,
    locks: [Mutex<()>; LOCKS],
    hasher: RandomState,
    pub(super) sweeper: Sweeper,
}

/// The open folder.
#[derive(Debug)]
pub(super) struct OpenRoot {
    handle: OwnedFd,
    id: FileId,
    /// Its path without symbolic links.
    canonical: PathBuf,
    links: LinkPolicy,
    resolver: Resolver,
}

/// Device and inode, which tell a file or folder from all others of this machine.
pub(super) type FileId = (u64, u64);

#[allow(clippy::unnecessary_cast, reason = "shorter on some processors")]
pub(super) fn id(stat: &Stat) -> FileId {
    (stat.st_dev as u64, stat.st_ino as u64)
}

impl FileTree {
    /// The folder at a path of the operator's. It must be there when it is used; symbolic links
    /// below it are followed as long as they stay below it.
    pub fn new(root: impl Into<PinnedFolder>) -> Self {
        Self {
            root: root.into(),
            creates_root: false,
            links: LinkPolicy::Inside,
            resolver: None,
            open: Mutex::new(None),
            locks: [const { Mutex::new(()) }; LOCKS],
            hasher: RandomState::new(),
            sweeper: Sweeper::default(),
        }
    }

    /// The same, and the folder is made with its parents when it is used and is not there.
    #[must_use]
    pub fn create_root(mut self) -> Self {
        self.creates_root = true;
        self
    }

    /// The same with another rule for symbolic links.
    #[must_use]
    pub fn links(mut self, links: LinkPolicy) -> Self {
        self.links = links;
        self
    }

    /// The same with paths resolved in this way, whatever the kernel can do.
    #[must_use]
    pub fn resolver(mut self, resolver: Resolver) -> Self {
        self.resolver = Some(resolver);
        self
    }

    /// The folder's path, as the operator wrote it.
    pub fn root_path(&self) -> &Path {
        self.root.path()
    }

    /// Reads a caller's text as a path below the folder. An absolute one is taken if it begins with
    /// the folder's path, as the operator wrote it or without its symbolic links.
    pub fn path(&self, text: &str) -> Result<SafePath, FileError> {
        let parsed = if text.starts_with('/') {
            let mut roots = vec![names(self.root.path())];
            // Without the folder there is only the path as it was written.
            if let Ok(root) = self.open_root() {
                roots.push(names(&root.canonical));
            }
            let roots: Vec<_> = roots.into_iter().flatten().collect();
            SafePath::parse_absolute(text, &roots)
        } else {
            SafePath::parse(text)
        };
        parsed.map_err(FileError::from)
    }

    /// The open folder. It is opened anew where it was removed and made again by us.
    pub(super) fn open_root(&self) -> Result<Arc<OpenRoot>, FileError> {
        let mut kept = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(root) = &*kept
            && stat(self.root.path()).is_ok_and(|now| id(&now) == root.id)
        {
            return Ok(root.clone());
        }
        // The old one stays open for whoever still uses it.
        let root = Arc::new(self.find_root().map_err(|error| self.root_error(&error))?);
        *kept = Some(root.clone());
        Ok(root)
    }

    fn find_root(&self) -> io::Result<OpenRoot> {
        let handle = if self.creates_root { self.root.open_or_create() } else { self.root.open() }?;
        let canonical = self.root.place().unwrap_or(self.root.path()).to_owned();
        let resolver = self.resolver.unwrap_or_else(|| Resolver::detect(handle.as_fd()));
        let id = id(&fstat(&handle)?);
        Ok(OpenRoot { handle, id, canonical, links: self.links, resolver })
    }

    /// The error of a folder that cannot be opened. It is not the caller's fault, so it is none of their kinds.
    fn root_error(&self, error: &io::Error) -> FileError {
        let text = format!("the folder `{}` cannot be used: {error}", self.root.path().display());
        FileError::Io(io::Error::new(error.kind(), text))
    }

    /// Keeps other writers of this process from what has this name in this folder. Waits for them
    /// as long as `may_continue` says yes.
    pub(super) fn lock(
        &self,
        folder: &OwnedFd,
        name: &str,
        may_continue: &dyn Fn() -> bool,
    ) -> Result<MutexGuard<'_, ()>, FileError> {
        let hash = self.hasher.hash_one((id(&fstat(folder)?), name));
        #[allow(clippy::cast_possible_truncation, reason = "any part of a hash is one")]
        let lock = &self.locks[hash as usize % LOCKS];
        let mut pause = SHORTEST_PAUSE;
        loop {
            match lock.try_lock() {
                Ok(guard) => return Ok(guard),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if !may_continue() => return Err(FileError::Stopped),
                Err(TryLockError::WouldBlock) => std::thread::sleep(pause),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

impl OpenRoot {
    /// Opens what the path leads to.
    pub fn open(&self, path: &SafePath, flags: OFlags) -> Result<OwnedFd, FileError> {
        Ok(resolve::open(self.handle.as_fd(), path, flags, self.links, self.resolver)?)
    }

    /// Opens a folder, only to find other things by.
    pub fn open_folder(&self, path: &SafePath) -> Result<OwnedFd, FileError> {
        self.open(path, OFlags::PATH | OFlags::DIRECTORY)
    }
}

impl From<PathError> for FileError {
    fn from(error: PathError) -> Self {
        Self::denied(error.to_string())
    }
}

/// The names of an absolute path, if they are text and none of them goes up.
fn names(path: &Path) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::RootDir => {}
            Component::Normal(name) => names.push(name.to_str()?.to_owned()),
            _ => return None,
        }
    }
    path.is_absolute().then_some(names)
}
