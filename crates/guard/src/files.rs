//! Files below an open directory.
//!
//! A path string means whatever the tree happens to look like when it is used. A [`Folder`] is an
//! open directory handle, and everything in it is reached by one plain name at a time, so that no
//! `..`, no absolute path and no symbolic link leads out of it, whatever a tool leaves there.
//!
//! A [`Ledger`] is a file that only grows, one line at a time, by many writers at once.
//!
//! All methods block unless they are async; an async caller uses `spawn_blocking` for more than a few names.

mod folder;
mod ledger;
mod name;
mod remove;

pub use folder::{Entry, EntryKind, Folder, MAX_ENTRIES};
pub use ledger::{Ledger, LedgerError, MAX_WAITING, Pace};
pub use name::{NameError, plain_name};
