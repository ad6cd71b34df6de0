//! One open directory.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _, OpenOptions, OpenOptionsExt as _};
use rustix::fs::{AtFlags, Mode, OFlags, Stat, fstat, openat, statat};

use super::{FileStatus, file_types, plain_name, remove};

/// The number of entries that a folder may have to be listed.
pub const MAX_ENTRIES: usize = 100_000;

/// Only this user: a call's files are nobody else's business.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// An open directory, and the way to everything in it.
#[derive(Debug)]
pub struct Folder {
    dir: Dir,
    path: PathBuf,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// The name, which a tool chose and which need not be text.
    pub name: OsString,
    /// The status of what it names; a symbolic link is one, wherever it leads.
    pub status: FileStatus,
}

impl Folder {
    /// Opens the folder at a path of the operator's, with its symbolic links, and creates it and its
    /// parents if it is missing. The one place where a path string is trusted.
    pub fn open_or_create(path: &Path) -> io::Result<Folder> {
        std::fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)?;
        let path = path.canonicalize()?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
        Ok(Folder { dir, path })
    }

    /// Where it was when it was opened: for messages, and for a child to start in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a folder that only this user may enter. Fails if the name is taken.
    pub fn create_dir(&self, name: &str) -> io::Result<Folder> {
        check(name)?;
        self.dir.create_dir_with(name, DirBuilder::new().mode(FOLDER_MODE))?;
        self.open_dir(name)
    }

    /// Opens a folder, and not through a symbolic link.
    pub fn open_dir(&self, name: &str) -> io::Result<Folder> {
        check(name)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = openat(&self.dir, name, flags, Mode::empty())?;
        Ok(Folder { dir: Dir::from_std_file(File::from(handle)), path: self.path.join(name) })
    }

    /// Writes a new file. Fails if the name is taken; leaves nothing behind when it fails.
    ///
    /// The bytes are handed to the kernel, not forced to the disk: see [`Folder::sync`].
    pub fn write_new(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        check(name)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(FILE_MODE);
        let mut file = self.dir.open_with(name, &options)?;
        let written = file.write_all(bytes);
        if written.is_err() {
            let _ = self.dir.remove_file(name);
        }
        written
    }

    /// Writes a file as a whole: whoever reads it meets what was there before, or all of this. Only a regular
    /// file is replaced.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        check(name)?;
        match statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => require_regular(name, &stat)?,
            Err(rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let temporary = format!("{name}.{}-{number}.new", std::process::id());
        self.write_new(&temporary, bytes)?;
        let moved = self.rename_into(&temporary, self, name);
        if moved.is_err() {
            let _ = self.remove_file(&temporary);
        }
        moved
    }

    /// Opens a file that is only there to be locked, and creates it if it is missing.
    pub fn open_lock(&self, name: &str) -> io::Result<File> {
        check(name)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = openat(&self.dir, name, flags, Mode::RUSR | Mode::WUSR)?;
        require_regular(name, &fstat(&handle)?)?;
        Ok(File::from(handle))
    }

    /// Moves what has this name, itself and not what it may link to, into another folder on the same
    /// file system. Replaces a file that has the new name.
    pub fn rename_into(&self, name: &str, target: &Folder, new_name: &str) -> io::Result<()> {
        check(name)?;
        check(new_name)?;
        self.dir.rename(name, &target.dir, new_name)
    }

    /// Moves a regular file into another folder, also on another file system. Fails if the name is taken there.
    pub fn move_file_into(&self, name: &str, target: &Folder) -> io::Result<()> {
        check(name)?;
        match self.dir.rename(name, &target.dir, name) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
            moved => return moved,
        }
        let mut source = self.open_regular(name)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(FILE_MODE);
        let mut copy = target.dir.open_with(name, &options)?;
        io::copy(&mut source, &mut copy)?;
        self.dir.remove_file(name)
    }

    /// Removes what has this name with everything below it, however deep, even where a tool took
    /// away its own permissions. Follows no symbolic link. A missing name is fine.
    pub fn remove_tree(&self, name: &str) -> io::Result<()> {
        check(name)?;
        remove::tree(&self.dir, name)
    }

    /// The entries of the folder, sorted by name. Fails beyond [`MAX_ENTRIES`].
    pub fn entries(&self) -> io::Result<Vec<FolderEntry>> {
        let mut entries = Vec::new();
        for found in self.dir.entries()? {
            let name = found?.file_name();
            match statat(&self.dir, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => entries.push(FolderEntry { name, status: FileStatus::of(&stat) }),
                // Removed since it was listed.
                Err(rustix::io::Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
            if entries.len() > MAX_ENTRIES {
                let path = self.path.display();
                let text = format!("`{path}` holds more than {MAX_ENTRIES} entries");
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
            }
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    /// Opens a regular file for reading. Anything else is refused, and so is a symbolic link to one.
    pub fn open_regular(&self, name: &str) -> io::Result<File> {
        check(name)?;
        // Looked at first because opening a device can already do something.
        require_regular(name, &statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW)?)?;
        // It may have been exchanged meanwhile: without NONBLOCK a pipe would hold us.
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let handle = openat(&self.dir, name, flags, Mode::empty())?;
        require_regular(name, &fstat(&handle)?)?;
        Ok(File::from(handle))
    }

    /// Removes one name of a file or of a symbolic link.
    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        check(name)?;
        self.dir.remove_file(name)
    }

    /// Lets us, and nobody else, read and write a file. Not for a folder that somebody else
    /// still changes: the name is looked up once more.
    pub fn make_readable(&self, name: &str) -> io::Result<()> {
        check(name)?;
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        self.dir.set_permissions(name, cap_std::fs::Permissions::from_std(permissions))
    }

    /// Forces the folder's names to the disk. A file's bytes are forced by `sync_all` on the file.
    pub fn sync(&self) -> io::Result<()> {
        // The handle may be one that only serves to find other files by, and cannot be synced itself.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = openat(&self.dir, ".", flags, Mode::empty())?;
        Ok(rustix::fs::fsync(handle)?)
    }
}

fn check(name: &str) -> io::Result<()> {
    plain_name(name).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}

fn require_regular(name: &str, stat: &Stat) -> io::Result<()> {
    file_types::require_regular(stat).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidInput, format!("`{name}` is not a regular file"))
    })
}
