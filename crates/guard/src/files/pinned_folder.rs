//! A folder of the operator's that stays the one that it was at first, whatever its path leads to later.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{CWD, Mode, OFlags, fstat, fsync, mkdirat, openat, stat};
use rustix::io::Errno;

use super::PathLocation;
use super::file_tree::{FileId, id};

/// What the user's umask leaves of this.
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o777);
const ONLY_TO_FIND: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A folder that was looked at when this was made. The symbolic links of its path were followed then; later the same folder
/// is opened, or none: who may change a folder above it could lead us elsewhere. What was missing may be made later,
/// at the place where it was missing.
#[derive(Debug, Clone)]
pub struct PinnedFolder {
    /// As the operator wrote it.
    path: PathBuf,
    /// Where the path led; nowhere if it was a loop of links, or empty.
    location: Option<PathLocation>,
    /// The folder; none as long as there is none.
    known: Arc<Mutex<Option<FileId>>>,
}

impl<P: Into<PathBuf>> From<P> for PinnedFolder {
    fn from(path: P) -> Self {
        let path = path.into();
        let location = PathLocation::of(&path).ok();
        let found = location
            .as_ref()
            .and_then(|location| openat(CWD, location.end(), NO_LINK, Mode::empty()).ok());
        let known = found.and_then(|folder| Some(id(&fstat(&folder).ok()?)));
        Self { path, location, known: Arc::new(Mutex::new(known)) }
    }
}

const NO_LINK: OFlags = ONLY_TO_FIND.union(OFlags::NOFOLLOW);

impl PinnedFolder {
    /// The path, as the operator wrote it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path without symbolic links.
    pub(super) fn place(&self) -> Option<&Path> {
        self.location.as_ref().map(PathLocation::end)
    }

    /// Opens the folder, only to find other things by.
    pub(super) fn open(&self) -> io::Result<OwnedFd> {
        self.find(false)
    }

    /// The same; it is made with its parents where it is missing, so that it stays.
    pub(super) fn open_or_create(&self) -> io::Result<OwnedFd> {
        self.find(true)
    }

    fn find(&self, creates: bool) -> io::Result<OwnedFd> {
        let location = self.location.as_ref().ok_or(Errno::NOENT)?;
        // A link that leads nowhere is not made to lead somewhere.
        let creates = creates && location.links().iter().all(|link| stat(link).is_ok());
        // Held to the end: of two who make it, the second finds what the first has made.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut folder = openat(CWD, "/", ONLY_TO_FIND, Mode::empty())?;
        let mut is_ours = false;
        for component in location.end().components() {
            let Component::Normal(name) = component else { continue };
            let name = Path::new(name);
            (folder, is_ours) = match openat(&folder, name, NO_LINK, Mode::empty()) {
                Err(Errno::NOENT) if creates => made(&folder, name)?,
                opened => (opened.map_err(|error| named(&folder, name, error))?, false),
            };
        }
        let found = id(&fstat(&folder)?);
        // What we made ourselves just now is new and empty.
        if known.is_some_and(|known| known != found) && !is_ours {
            return Err(replaced());
        }
        // Its path may lead elsewhere by now.
        if id(&stat(&self.path)?) != found {
            return Err(replaced());
        }
        *known = Some(found);
        Ok(folder)
    }
}

/// Makes a folder and opens it; also says whether it was us who made it.
fn made(above: &OwnedFd, name: &Path) -> io::Result<(OwnedFd, bool)> {
    let is_ours = match mkdirat(above, name, FOLDER_MODE) {
        Ok(()) => {
            fsync(openat(above, ".", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?)?;
            true
        }
        Err(Errno::EXIST) => false,
        Err(error) => return Err(error.into()),
    };
    let folder = openat(above, name, NO_LINK, Mode::empty());
    Ok((folder.map_err(|error| named(above, name, error))?, is_ours))
}

/// A symbolic link where there was none.
fn named(folder: &OwnedFd, name: &Path, error: Errno) -> io::Error {
    if rustix::fs::readlinkat(folder, name, Vec::new()).is_ok() { replaced() } else { error.into() }
}

fn replaced() -> io::Error {
    io::Error::other("the folder was replaced since the server started; restart it")
}
