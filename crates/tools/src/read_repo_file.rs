//! `read_repo_file`: a text file of the repository, if it is one that may be read.

use std::{path::PathBuf, sync::Arc};

use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use guard::files::{FileError, FileTree, GlobError, Globs, LinkPolicy, PathLocation, SafePath};
use serde_json::json;

use crate::{json_size::json_bytes, off_thread, settings::RepoSettings};

pub(crate) struct ReadRepoFile {
    tree: Arc<FileTree>,
    /// Settings with globs that mean nothing are refused before this.
    globs: Result<Globs, GlobError>,
    /// The folder itself, and what is hidden in it.
    root: Option<PathLocation>,
    hidden: Vec<PathBuf>,
    max_bytes: u64,
}

impl ReadRepoFile {
    pub(crate) fn new(settings: &RepoSettings) -> Self {
        Self {
            // A link could give a secret a second name, so there may be none.
            tree: Arc::new(FileTree::new(&settings.root).links(LinkPolicy::Refused)),
            globs: Globs::new(&settings.allow, &settings.deny),
            root: PathLocation::of(&settings.root).ok(),
            hidden: settings.hidden.clone(),
            max_bytes: settings.max_bytes,
        }
    }

    /// True if it lies in what is hidden. No link leads there.
    fn is_hidden(&self, path: &SafePath) -> bool {
        self.root.as_ref().is_none_or(|root| {
            let place = root.end().join(path.as_str());
            self.hidden.iter().any(|hidden| place.starts_with(hidden))
        })
    }

    async fn read(&self, call: &RunningCall) -> Result<ToolOutput, ToolError> {
        let text = call.text("path");
        let globs = self.globs.as_ref().map_err(|error| {
            ToolError::internal("the server's settings are wrong", format!("tools.repo: {error}"))
        })?;
        // Judged before anything is looked at, so that the answer says nothing of what is there.
        let is_allowed = |path: &SafePath| globs.allow(path) && !self.is_hidden(path);
        let path = path(text).filter(is_allowed).ok_or_else(|| not_allowed(text))?;
        let (tree, max) = (self.tree.clone(), self.max_bytes);
        let content = off_thread(move || Ok(content(&tree, &path, max)))
            .await?
            .map_err(|error| failed(text, error, max))?;
        let max = call.limits.max_output_bytes;
        if json_bytes(&content, max) > max {
            let message =
                format!("File too large: the result has more than {max} bytes (max_output_bytes)");
            return Err(ToolError::new("too_large", message));
        }
        let size = content.len();
        let mut answer = ToolOutput::new(json!({ "content": content, "size": size }));
        answer.summary = Some(format!("Read {text} ({size} bytes)."));
        Ok(answer)
    }
}

impl Provider for ReadRepoFile {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.read(call))
    }
}

/// The path, if it is spelled in the one way that the globs are about.
fn path(text: &str) -> Option<SafePath> {
    if text.contains("..") {
        return None;
    }
    SafePath::parse(text).ok().filter(|path| !path.names_a_folder() && path.as_str() == text)
}

/// The reason why there is no content.
enum RepoReadError {
    /// It had so many bytes when it was opened.
    Larger(u64),
    File(FileError),
}

fn content(tree: &FileTree, path: &SafePath, max: u64) -> Result<String, RepoReadError> {
    let opened = tree.open(path).map_err(RepoReadError::File)?;
    if opened.status.bytes > max {
        return Err(RepoReadError::Larger(opened.status.bytes));
    }
    opened.read_text(max).map_err(RepoReadError::File)
}

fn not_allowed(path: &str) -> ToolError {
    ToolError::new("path_not_allowed", format!("Path not allowed: {path}"))
}

fn failed(path: &str, refusal: RepoReadError, max: u64) -> ToolError {
    let error = match refusal {
        RepoReadError::Larger(bytes) => {
            let message = format!("File too large: {bytes} bytes (max {max})");
            return ToolError::new("too_large", message);
        }
        RepoReadError::File(error) => error,
    };
    match error {
        FileError::NotFound | FileError::NotADirectory => {
            ToolError::new("file_not_found", format!("File not found: {path}"))
        }
        FileError::Denied(reason) => {
            let mut error = not_allowed(path);
            error.operator = Some(reason.into_owned());
            error
        }
        FileError::IsADirectory | FileError::NotAFile(_) => {
            ToolError::new("not_a_file", format!("Not a file: {path}"))
        }
        // It grew while it was read, nobody knows to what.
        FileError::TooLarge { limit } => ToolError::new(
            "too_large",
            format!("File too large: more than {limit} bytes (max {limit})"),
        ),
        FileError::NotText => ToolError::new("not_text", "File is not valid UTF-8 text"),
        error if error.is_forbidden() => {
            ToolError::new("access_denied", format!("Access denied: {path}"))
        }
        error => ToolError::internal("the file could not be read", error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn a_path_has_one_spelling() {
        for text in ["docs/a.md", "README.md", ".claude/memory/x.jsonl", "a/b/c", "-", ".a"] {
            assert_eq!(path(text).unwrap().as_str(), text);
        }
        for text in [
            "",
            "/",
            ".",
            "..",
            "../x",
            "docs/..",
            "docs/../x",
            "a..b",
            "...",
            "/etc/passwd",
            "//etc",
            "./docs/a.md",
            "docs/./a.md",
            "docs//a.md",
            "docs/",
            "docs/a.",
            "docs/.",
        ] {
            assert_eq!(path(text), None, "{text}");
        }
    }
}
