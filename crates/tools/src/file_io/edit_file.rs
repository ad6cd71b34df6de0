//! `edit_file`: one passage of a file becomes another.

use std::sync::Arc;

use contract::codes;
use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use guard::files::FileError;
use serde_json::json;

use super::{AgentFolder, diff, failure, flag, write_file::fits};
use crate::off_thread;

pub(crate) struct EditFile(pub(crate) Arc<AgentFolder>);

impl Provider for EditFile {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let (files, edit, stop) = (self.0.clone(), EditRequest::of(call), call.stop.clone());
        let max_diff_bytes = diff::room(call.limits.max_output_bytes);
        Box::pin(off_thread(move || edit.run(&files, max_diff_bytes, &|| !stop.is_cancelled())))
    }

    fn preview<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Option<String>> {
        let (files, edit) = (self.0.clone(), EditRequest::of(call));
        Box::pin(async move {
            let shown = off_thread(move || edit.preview(&files)).await;
            Some(shown.unwrap_or_else(|error| diff::would_fail(&error)))
        })
    }
}

/// The arguments of the call.
struct EditRequest {
    path: String,
    old: String,
    new: String,
    everywhere: bool,
}

/// A file with its passages replaced.
struct EditedFile {
    text: String,
    replacements: usize,
}

/// The failure of an edit: at the file, or at its text.
enum EditError {
    File(FileError),
    Text(Box<ToolError>),
}

impl EditError {
    fn text(error: ToolError) -> Self {
        Self::Text(Box::new(error))
    }
}

impl From<FileError> for EditError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl EditRequest {
    fn of(call: &RunningCall) -> Self {
        Self {
            path: call.text("path").to_owned(),
            old: call.text("old_text").to_owned(),
            new: call.text("new_text").to_owned(),
            everywhere: flag(call, "replace_all"),
        }
    }

    fn run(
        &self,
        files: &AgentFolder,
        max_diff_bytes: usize,
        go_on: &dyn Fn() -> bool,
    ) -> Result<ToolOutput, ToolError> {
        let limit = files.settings.max_read_bytes;
        let changed = files.path(&self.path).map_err(EditError::File).and_then(|path| {
            files.tree.edit(&path, limit, go_on, |text| {
                let EditedFile { text: new, replacements } =
                    self.apply(text, files).map_err(EditError::text)?;
                let diff = diff::unified(Some(text), &new, path.as_str(), max_diff_bytes);
                let bytes = new.len();
                Ok((new, (bytes, replacements, diff)))
            })
        });
        let (bytes, replacements, diff) = changed.map_err(|wrong| self.failure(wrong))?;
        let mut answer = ToolOutput::new(json!({
            "ok": true,
            "replacements": replacements,
            "bytes_written": bytes,
            "diff": diff.text,
            "diff_truncated": diff.is_cut,
        }));
        answer.summary = Some(format!("Edited {} ({replacements} replacements).", self.path));
        answer.metrics.insert("bytes_written".into(), json!(bytes));
        Ok(answer)
    }

    fn preview(&self, files: &AgentFolder) -> Result<String, ToolError> {
        let shown = files.path(&self.path).map_err(EditError::File).and_then(|path| {
            let text = files.tree.preview_edit(&path, files.settings.max_read_bytes)?;
            let new = self.apply(&text, files).map_err(EditError::text)?.text;
            Ok(diff::shown(Some(&text), &new, path.as_str()))
        });
        shown.map_err(|wrong| self.failure(wrong))
    }

    /// The new text, which is built only once it is known to be no larger than the operator allows.
    fn apply(&self, text: &str, files: &AgentFolder) -> Result<EditedFile, ToolError> {
        if self.old == self.new {
            return Err(ToolError::invalid_input("`old_text` and `new_text` are the same"));
        }
        let replacements = match text.find(&self.old) {
            None => {
                return Err(ToolError::new(
                    "no_match",
                    "`old_text` is not in the file (0 matches)",
                ));
            }
            Some(_) if self.everywhere => text.matches(&self.old).count(),
            Some(at) if is_after(text, &self.old, at) => {
                return Err(ToolError::new(
                    "several_matches",
                    "`old_text` is in the file more than once; give more of its surroundings, or \
                     set `replace_all`",
                ));
            }
            Some(_) => 1,
        };
        // At most the whole text is taken out; what is put in may be anything.
        let kept = text.len().saturating_sub(replacements.saturating_mul(self.old.len()));
        fits(files, kept.saturating_add(replacements.saturating_mul(self.new.len())))?;
        Ok(EditedFile { text: text.replacen(&self.old, &self.new, replacements), replacements })
    }

    fn failure(&self, wrong: EditError) -> ToolError {
        match wrong {
            EditError::Text(error) => *error,
            EditError::File(FileError::Changed) => ToolError::new(
                codes::CONFLICT.code,
                "the file was changed by another program; nothing was written",
            ),
            EditError::File(
                error @ (FileError::NotFound
                | FileError::NotADirectory
                | FileError::NotText
                | FileError::TooLarge { .. }),
            ) => failure::reading(&self.path, &error),
            EditError::File(error) => failure::writing(&self.path, &error),
        }
    }
}

/// True if `part` is in `text` once more after `first`, perhaps overlapping it: with `aa` in `aaa` it
/// is not clear which one is meant.
fn is_after(text: &str, part: &str, first: usize) -> bool {
    let step = part.chars().next().map_or(1, char::len_utf8);
    text.get(first + step..).is_some_and(|rest| rest.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::FileIoSettings;

    fn apply(text: &str, old: &str, new: &str, everywhere: bool) -> Result<String, String> {
        let edit = EditRequest { path: "x".into(), old: old.into(), new: new.into(), everywhere };
        let files = AgentFolder::new(&FileIoSettings::default());
        edit.apply(text, &files).map(|edited| edited.text).map_err(|error| error.code)
    }

    #[test]
    fn one_passage_is_replaced_and_no_other() {
        for (text, old, new, everywhere, expected) in [
            ("a b c", "b", "x", false, Ok("a x c")),
            ("a b c", "b", "", false, Ok("a  c")),
            ("a b b", "b", "x", false, Err("several_matches")),
            ("a b b", "b", "x", true, Ok("a x x")),
            ("aaa", "aa", "x", false, Err("several_matches")),
            ("aaa", "aa", "x", true, Ok("xa")),
            ("aaa", "b", "x", false, Err("no_match")),
            ("aaa", "b", "x", true, Err("no_match")),
            ("aaa", "a", "a", true, Err("invalid_input")),
            ("", "a", "b", false, Err("no_match")),
            ("ää ß", "ä ", "x", false, Ok("äxß")),
            ("one\r\ntwo", "\n", "", false, Ok("one\rtwo")),
        ] {
            let got = apply(text, old, new, everywhere);
            assert_eq!(got.as_deref().map_err(String::as_str), expected, "{text:?} {old:?}");
        }
    }

    #[test]
    fn a_text_that_would_be_too_large_is_never_built() {
        let million = "a".repeat(1_000_000);
        // A terabyte, if it were built.
        assert_eq!(apply(&million, "a", &million, true), Err("too_large".to_owned()));
        assert!(apply(&million, "aa", "b", true).is_ok_and(|text| text.len() == 500_000));
    }

    #[test]
    fn a_passage_that_repeats_itself_does_not_take_forever() {
        let (text, part) = ("a".repeat(4_000_000), "a".repeat(1_000_000));
        let began = std::time::Instant::now();
        assert_eq!(apply(&text, &part, "", false), Err("several_matches".to_owned()));
        let almost = format!("{}b", "a".repeat(1_000_000));
        assert_eq!(apply(&text, &almost, "", false), Err("no_match".to_owned()));
        assert!(began.elapsed() < std::time::Duration::from_secs(10));
    }
}
