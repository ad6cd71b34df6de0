//! `write_file`: a file gets new content, all of it or none.

use std::sync::Arc;

use gate::{Answer, BoxFuture, Provider, Running, ToolError};
use guard::files::FileError;
use serde_json::json;

use super::{Files, diff, failure, off_thread};

pub(crate) struct WriteFile(pub(crate) Arc<Files>);

impl Provider for WriteFile {
    fn run<'a>(&'a self, call: &'a Running) -> BoxFuture<'a, Result<Answer, ToolError>> {
        let files = self.0.clone();
        let (path, content) = (call.text("path").to_owned(), call.text("content").to_owned());
        let stop = call.stop.clone();
        Box::pin(off_thread(move || {
            fits(&files, content.len())?;
            let go_on = || !stop.is_cancelled();
            let written = files
                .path(&path)
                .and_then(|path| files.tree.write(&path, content.as_bytes(), &go_on))
                .map_err(|error| failure::writing(&path, &error))?;
            let bytes = written.bytes;
            let mut answer = Answer::new(json!({ "ok": true, "bytes_written": bytes }));
            let word = if written.created { "Created" } else { "Replaced" };
            answer.summary = Some(format!("{word} {path} ({bytes} bytes)."));
            answer.metrics.insert("bytes_written".into(), json!(bytes));
            Ok(answer)
        }))
    }

    fn preview<'a>(&'a self, call: &'a Running) -> BoxFuture<'a, Option<String>> {
        let files = self.0.clone();
        let (path, content) = (call.text("path").to_owned(), call.text("content").to_owned());
        Box::pin(async move {
            let shown = off_thread(move || {
                fits(&files, content.len())?;
                preview(&files, &path, &content).map_err(|error| failure::writing(&path, &error))
            });
            Some(shown.await.unwrap_or_else(|error| diff::would_fail(&error)))
        })
    }
}

/// Refuses content of so many bytes if that is more than the operator allows.
pub(super) fn fits(files: &Files, bytes: usize) -> Result<(), ToolError> {
    let limit = files.settings.max_write_bytes;
    if bytes as u64 > limit {
        return Err(failure::too_large(format!(
            "the content has more than {limit} bytes (tools.file_io.max_write_bytes)"
        )));
    }
    Ok(())
}

fn preview(files: &Files, path: &str, content: &str) -> Result<String, FileError> {
    let path = files.path(path)?;
    match files.tree.read_text(&path, files.settings.max_read_bytes) {
        Ok(old) => Ok(diff::shown(Some(&old), content, path.as_str())),
        Err(FileError::NotFound) => Ok(diff::shown(None, content, path.as_str())),
        Err(FileError::NotText) => {
            Ok(format!("replaces a binary file by {} bytes of text", content.len()))
        }
        Err(FileError::TooLarge { limit }) => Ok(format!(
            "replaces a file of more than {limit} bytes by {} bytes of text",
            content.len()
        )),
        Err(error) => Err(error),
    }
}
