//! `write_file`: a file gets new content, all of it or none.

use std::sync::Arc;

use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use guard::files::{FileError, WriteTarget};
use serde_json::json;

use super::{AgentFolder, diff, failure};
use crate::off_thread;

pub(crate) struct WriteFile(pub(crate) Arc<AgentFolder>);

impl Provider for WriteFile {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
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
            let mut answer = ToolOutput::new(json!({ "ok": true, "bytes_written": bytes }));
            let word = if written.created { "Created" } else { "Replaced" };
            answer.summary = Some(format!("{word} {path} ({bytes} bytes)."));
            answer.metrics.insert("bytes_written".into(), json!(bytes));
            Ok(answer)
        }))
    }

    fn preview<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Option<String>> {
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
pub(super) fn fits(files: &AgentFolder, bytes: usize) -> Result<(), ToolError> {
    let limit = files.settings.max_write_bytes;
    if bytes as u64 > limit {
        return Err(failure::too_large(format!(
            "the content has more than {limit} bytes (tools.file_io.max_write_bytes)"
        )));
    }
    Ok(())
}

fn preview(files: &AgentFolder, path: &str, content: &str) -> Result<String, FileError> {
    let path = files.path(path)?;
    let bytes = content.len();
    let old = match files.tree.preview_write(&path)? {
        WriteTarget::Nothing => return Ok(diff::shown(None, content, path.as_str())),
        WriteTarget::Unreadable => {
            return Ok(format!("replaces a file that cannot be read by {bytes} bytes of text"));
        }
        WriteTarget::File(old) => old,
    };
    match old.read_text(files.settings.max_read_bytes) {
        Ok(old) => Ok(diff::shown(Some(&old), content, path.as_str())),
        Err(FileError::NotText) => Ok(format!("replaces a binary file by {bytes} bytes of text")),
        Err(FileError::TooLarge { limit }) => {
            Ok(format!("replaces a file of more than {limit} bytes by {bytes} bytes of text"))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::settings::FileIoSettings;

    #[test]
    fn what_is_shown_is_what_the_call_would_do() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("plain"), "old\n").unwrap();
        std::fs::hard_link(at("plain"), at("hard")).unwrap();
        symlink("plain", at("link")).unwrap();
        std::fs::write(at("fixed"), "old\n").unwrap();
        std::fs::set_permissions(at("fixed"), std::fs::Permissions::from_mode(0o444)).unwrap();
        std::fs::write(at("binary"), b"\xff").unwrap();
        let settings =
            FileIoSettings { root: Some(folder.path().to_owned()), ..FileIoSettings::default() };
        let files = AgentFolder::new(&settings);
        for (path, expected) in [
            ("hard", Ok("-old\n+new")),
            ("link", Err("it is a symbolic link")),
            ("fixed", Err("it is read-only")),
            ("binary", Ok("replaces a binary file by 4 bytes of text")),
            ("a/b/c", Ok("new file, 4 bytes")),
            ("plain/x", Err("it is not a folder")),
            ("../x", Err("the path contains `..`")),
        ] {
            match (preview(&files, path, "new\n"), expected) {
                (Ok(shown), Ok(words)) => assert!(shown.contains(words), "{path}: {shown}"),
                (Err(error), Err(words)) => assert_eq!(error.to_string(), words, "{path}"),
                (got, _) => panic!("{path}: {got:?}"),
            }
            let path = files.path(path);
            let done = path.and_then(|path| files.tree.write(&path, b"new\n", &|| true));
            assert_eq!(done.is_ok(), expected.is_ok(), "{done:?}");
        }
    }
}
