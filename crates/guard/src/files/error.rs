//! Errors of work on files, in the few ways that a tool can tell apart.

use std::borrow::Cow;
use std::io;

use rustix::io::Errno;

/// The reason why a file below a [`FileTree`](super::FileTree) was not read, listed or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// There is nothing of that name.
    #[error("there is no such file or folder")]
    NotFound,
    /// We do not touch it; the text says why.
    #[error("{0}")]
    Denied(Cow<'static, str>),
    /// A folder stands where a file is wanted.
    #[error("it is a folder")]
    IsADirectory,
    /// A file stands where a folder is wanted.
    #[error("it is not a folder")]
    NotADirectory,
    /// A pipe, socket, device or the like stands where a file is wanted.
    #[error("it is {0} and not a regular file")]
    NotAFile(&'static str),
    /// There is more of it than asked for.
    #[error("it has more than {limit} bytes")]
    TooLarge {
        /// The most that was asked for, in bytes.
        limit: u64,
    },
    /// Its bytes are no text.
    #[error("it is not UTF-8 text")]
    NotText,
    /// Nobody may write to it.
    #[error("it is read-only")]
    ReadOnly,
    /// Somebody else wrote to it meanwhile.
    #[error("it was changed by somebody else meanwhile")]
    Changed,
    /// Nobody waits for the write any more.
    #[error("it was stopped before the file was changed")]
    Stopped,
    /// The file has its new content, and the disk did not say that it has it too.
    #[error("it was written, but it is not known to be on the disk ({})", .0.kind())]
    NotSynced(io::Error),
    /// Any other error of the operating system.
    #[error(transparent)]
    Io(io::Error),
}

impl FileError {
    /// A refusal with its reason.
    pub fn denied(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Denied(reason.into())
    }

    /// True if the operating system does not let us.
    pub fn is_forbidden(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::PermissionDenied)
    }

    /// True if there is no room.
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        matches!(self, Self::Io(error)
            if matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge))
    }
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(errno) => errno.into(),
            None => Self::Io(error),
        }
    }
}

impl From<Errno> for FileError {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOENT => Self::NotFound,
            Errno::ISDIR => Self::IsADirectory,
            Errno::NOTDIR => Self::NotADirectory,
            Errno::XDEV => Self::denied("a symbolic link in it leads out of the folder"),
            Errno::LOOP => Self::denied("a symbolic link in it must not be followed"),
            Errno::NAMETOOLONG => Self::denied("the path is too long"),
            // What the system has for a socket that is opened like a file, or a device without a driver.
            Errno::NXIO | Errno::NODEV => Self::NotAFile("a socket or a device"),
            Errno::ROFS => Self::ReadOnly,
            other => Self::Io(other.into()),
        }
    }
}
