//! Storage: jobs, idempotency keys, approvals and quarantine in SQLite, artifacts in
//! folders on the local disk.
//!
//! - [`Sqlite`] is the embedded store. Writes share transactions, and each is
//!   acknowledged only when it survives the death of the process.
//! - [`LocalBlobs`] keeps artifacts under the data folder.
//! - [`DataFolder`] opens the folder that holds both, once per server.

mod data_folder;
mod local_blobs;
mod sqlite;

pub use data_folder::{DataFolder, DataFolderError, DataFolderLock, DataFolderVisit};
pub use local_blobs::LocalBlobs;
pub use sqlite::{Durability, Sqlite};
