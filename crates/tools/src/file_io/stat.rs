//! `stat`: what a path leads to.

use std::sync::Arc;

use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use guard::files::{FileError, FileKind, FileStatus, SafePath};
use serde_json::json;

use super::{AgentFolder, failure, time, word};
use crate::off_thread;

pub(crate) struct Stat(pub(crate) Arc<AgentFolder>);

impl Provider for Stat {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let (files, path) = (self.0.clone(), call.text("path").to_owned());
        Box::pin(off_thread(move || {
            let (path, status) =
                look(&files, &path).map_err(|error| failure::reading(&path, &error))?;
            Ok(answer(&path, &status))
        }))
    }
}

fn look(files: &AgentFolder, path: &str) -> Result<(SafePath, FileStatus), FileError> {
    let path = files.path(path)?;
    let status = files.tree.stat(&path)?;
    Ok((path, status))
}

fn answer(path: &SafePath, status: &FileStatus) -> ToolOutput {
    let kind = word(status.kind);
    let mut answer = ToolOutput::new(json!({
        "ok": true,
        "path": path.as_str(),
        "kind": kind,
        "bytes": status.bytes,
        "modified": time(status.modified),
        "mode": format!("{:04o}", status.mode),
    }));
    answer.summary = Some(match status.kind {
        FileKind::File => format!("{path} is a file of {} bytes.", status.bytes),
        FileKind::Directory => format!("{path} is a directory."),
        FileKind::Symlink => format!("{path} is a symbolic link."),
        FileKind::Other => format!("{path} is a pipe, socket or device."),
    });
    answer
}
