//! An output that is too large to hand over becomes an artifact, and a pointer takes its place.

use std::io;

use serde_json::{json, value::RawValue};

use super::CallState;
use crate::{Artifact, Failure, blobs::artifact_path};

/// The name of the artifact.
const NAME: &str = "output.json";

impl CallState {
    /// Writes the result into the folder of the call, and yields what points to it.
    pub(super) async fn spill(&mut self, json: Box<RawValue>) -> Result<Box<RawValue>, Failure> {
        let (job, blobs) = (self.job_id(), self.gate.blobs.clone());
        let text: Box<str> = json.into();
        let (length, bytes) = (text.len() as u64, String::from(text).into_bytes());
        let unavailable = |error: io::Error| Failure::unavailable(&error);
        self.workspace.get_or_try_init(|| blobs.begin(&job)).await.map_err(unavailable)?;
        let mut name = NAME.to_owned();
        let mut written = blobs.write(&job, &name, bytes.clone()).await;
        // The tool may have left a file of that name.
        if matches!(&written, Err(error) if error.kind() == io::ErrorKind::AlreadyExists) {
            name = format!("output-{job}.json");
            written = blobs.write(&job, &name, bytes).await;
        }
        written.map_err(unavailable)?;
        let artifact = Artifact {
            path: artifact_path(&job, &name),
            mime_type: "application/json".into(),
            bytes: length,
            name,
        };
        let pointer = json!({ "artifact": artifact });
        self.spilled = Some(artifact.name);
        self.flags.spilled = true;
        Ok(serde_json::value::to_raw_value(&pointer).unwrap_or_default())
    }
}
