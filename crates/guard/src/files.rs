//! Files below an open directory.
//!
//! A path string means whatever the tree happens to look like when it is used. Here everything is
//! reached from an open directory handle, so that no `..`, no absolute path and no symbolic link leads
//! out of it, whatever somebody puts there, and however quickly they exchange it.
//!
//! - [`Folder`] is for our own files: everything in it is reached by one plain name at a time.
//! - [`FileTree`] is for the operator's files and callers' paths: a caller's text becomes a [`SafePath`]
//!   once, and what that leads to is found by the kernel (`openat2`), which does not leave the tree.
//!   Only regular files of ordinary file systems are opened, and none that has a second name.
//!   [`Globs`] say which paths there may be opened at all.
//! - [`Ledger`] is for a file of the operator's that only grows, one line at a time, also by
//!   several processes at once.
//!
//! All methods block unless they are async; an async caller uses `spawn_blocking` for more than a few
//! names.

mod error;
mod file_tree;
mod file_types;
mod folder;
mod globs;
mod ledger;
mod leftovers;
mod list;
mod location;
mod name;
mod path;
mod pinned_folder;
mod read;
mod regular_file;
mod remove;
mod replace;
mod resolve;
mod rights;
mod step_resolver;
mod write_preview;

pub use error::FileError;
pub use file_tree::FileTree;
pub use folder::{Folder, FolderEntry, MAX_ENTRIES};
pub use globs::{GlobError, Globs, check_glob};
pub use ledger::{HourlyLimit, Ledger, LedgerError};
pub use list::{FolderListing, FoundFile, ListingEntry, WalkSummary};
pub use location::PathLocation;
pub use name::{NameError, plain_name};
pub use path::{MAX_DEPTH, MAX_NAME_BYTES, MAX_PATH_BYTES, PathError, SafePath};
pub use pinned_folder::PinnedFolder;
pub use read::{FileKind, FileStatus, OpenFile};
pub use regular_file::open_regular;
pub use replace::{TEMPORARY_PREFIX, WriteOutcome};
pub use resolve::{LinkPolicy, Resolver};
pub use write_preview::WriteTarget;
