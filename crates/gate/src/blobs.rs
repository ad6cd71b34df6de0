//! The storage of artifacts.
//!
//! A call works in a folder of its own; when it ends, what may stay is moved in one
//! step to where artifacts are served from. An artifact is there whole or not at all.

use std::path::PathBuf;

use contract::Limits;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncRead;

use crate::{BoxFuture, JobId};

/// A file that a call left, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its name: one plain file name.
    pub name: String,
    /// The path at which it is served.
    pub path: String,
    /// Its media type.
    pub mime_type: String,
    /// Its size.
    pub bytes: u64,
}

/// The artifacts of a call's folder, and counts of what was not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredArtifacts {
    /// Kept, sorted by name.
    pub artifacts: Vec<Artifact>,
    /// Not kept: larger than `max_artifact_bytes`.
    pub removed_oversize: u64,
    /// Not kept: more than `max_artifacts`.
    pub removed_count_cap: u64,
    /// Not kept: no plain file, or a name that cannot be served.
    pub ignored: u64,
}

/// An error of the artifact store.
pub type BlobError = std::io::Error;

/// A part of an artifact, to be streamed.
pub type BlobReader = Box<dyn AsyncRead + Send + Unpin>;

/// The storage of artifacts.
pub trait Blobs: Send + Sync {
    /// Makes the folder of a call and says where it is.
    fn begin(&self, job: &JobId) -> BoxFuture<'_, Result<PathBuf, BlobError>>;

    /// Writes a file into the folder of a call.
    fn write(
        &self,
        job: &JobId,
        name: &str,
        bytes: Vec<u8>,
    ) -> BoxFuture<'_, Result<(), BlobError>>;

    /// Ends the call: keeps what is within the limits and serves it from now on. Where there is
    /// not room for all, the one of that name is kept first.
    fn keep(
        &self,
        job: &JobId,
        limits: &Limits,
        first: Option<&str>,
    ) -> BoxFuture<'_, Result<StoredArtifacts, BlobError>>;

    /// Ends the call: keeps nothing. Does not wait.
    fn discard(&self, job: &JobId);

    /// A part of a kept artifact, or nothing where there is no such artifact.
    fn read(
        &self,
        job: &JobId,
        name: &str,
        start: u64,
        length: u64,
    ) -> BoxFuture<'_, Result<Option<BlobReader>, BlobError>>;

    /// Removes all artifacts of a job.
    fn remove(&self, job: &JobId) -> BoxFuture<'_, Result<(), BlobError>>;
}

/// The path under which an artifact is served: the same for the same job and name.
pub fn artifact_path(job: &JobId, name: &str) -> String {
    let mut path = format!("/v1/jobs/{job}/artifacts/");
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                path.push(byte as char);
            }
            _ => {
                const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
                path.push('%');
                path.push(DIGITS[usize::from(byte >> 4)] as char);
                path.push(DIGITS[usize::from(byte & 15)] as char);
            }
        }
    }
    path
}
