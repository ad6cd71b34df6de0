//! Storage: jobs, idempotency keys, approvals and quarantine in SQLite, artifacts in
//! folders on the local disk.
//!
//! - [`Sqlite`] is the embedded store. Writes share transactions, and each is
//!   acknowledged only when it survives the death of the process.
//! - [`LocalBlobs`] keeps artifacts under the data folder.
//! - [`DataFolder`] opens the folder that holds both, once per server.
//!
//! Durability:
//!
//! - A caller that finds the connection free writes everything that waits in one transaction (`sqlite/writer.rs`).
//! - A job that is over when it is first written goes to a spool file by one `write`. A thread moves the spool into
//!   the database in batches; after a crash that is done first (`sqlite/spool.rs`). With
//!   [`Durability::Power`] there is no spool, and every commit is flushed to the disk.
//! - An artifact is written to the work folder of its call, outside of the data folder, and moved to `artifacts/<job>` by a
//!   rename before the row that lists it is written. Files that no
//!   row lists are not served. A start never removes them: the database may be another one than they belong to. They go
//!   when they are as old as finished jobs may become.
//! - The file of the database is whole after a stop: the log beside it is folded and cut off (`sqlite/fold.rs`).
//! - Our databases carry a mark (`application_id`). One of somebody else is never opened for writing.
//! - The tables are the result of a list of migrations (`sqlite/schema.rs`): steps are added, never changed.

mod data_folder;
mod local_blobs;
mod sqlite;
mod work_folder;

pub use data_folder::{DataFolder, DataFolderError, DataFolderLock, DataFolderVisit};
pub use local_blobs::LocalBlobs;
pub use sqlite::{DatabaseCopy, Durability, RecordCounts, SCHEMA_VERSION, Sqlite};
pub use work_folder::{work_folders, work_folders_in_use};
