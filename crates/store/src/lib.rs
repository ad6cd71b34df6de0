//! Where state is kept: jobs, idempotency keys and quarantine in SQLite, artifacts in
//! folders on the local disk.
//!
//! - [`Sqlite`] is the embedded store. One thread writes, in batches, and acknowledges
//!   a write only when its transaction is committed.
//! - [`LocalBlobs`] keeps artifacts under the data folder.
//! - [`DataFolder`] opens the folder that holds both, once per server.

mod data_folder;
mod local_blobs;
mod sqlite;

pub use data_folder::{DataFolder, DataFolderError, Lock};
pub use local_blobs::LocalBlobs;
pub use sqlite::{Durability, Sqlite};
