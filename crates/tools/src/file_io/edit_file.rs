//! `edit_file`: one passage of a file becomes another.

use std::sync::Arc;

use contract::codes;
use gate::{Answer, BoxFuture, Provider, Running, ToolError};
use guard::files::FileError;
use serde_json::json;

use super::{Files, diff, failure, flag, off_thread, write_file::fits};

pub(crate) struct EditFile(pub(crate) Arc<Files>);

impl Provider for EditFile {
    fn run<'a>(&'a self, call: &'a Running) -> BoxFuture<'a, Result<Answer, ToolError>> {
        let (files, edit, stop) = (self.0.clone(), Edit::of(call), call.stop.clone());
        let max_diff_bytes = diff::room(call.limits.max_output_bytes);
        Box::pin(off_thread(move || edit.run(&files, max_diff_bytes, &|| !stop.is_cancelled())))
    }

    fn preview<'a>(&'a self, call: &'a Running) -> BoxFuture<'a, Option<String>> {
        let (files, edit) = (self.0.clone(), Edit::of(call));
        Box::pin(async move {
            let shown = off_thread(move || edit.preview(&files)).await;
            Some(shown.unwrap_or_else(|error| diff::would_fail(&error)))
        })
    }
}

/// What is asked for.
struct Edit {
    path: String,
    old: String,
    new: String,
    everywhere: bool,
}

/// A file with its passages replaced.
struct Edited {
    text: String,
    replacements: usize,
}

/// How an edit fails: at the file, or at its text.
enum Wrong {
    File(FileError),
    Text(Box<ToolError>),
}

impl Wrong {
    fn text(error: ToolError) -> Self {
        Self::Text(Box::new(error))
    }
}

impl From<FileError> for Wrong {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl Edit {
    fn of(call: &Running) -> Self {
        Self {
            path: call.text("path").to_owned(),
            old: call.text("old_text").to_owned(),
            new: call.text("new_text").to_owned(),
            everywhere: flag(call, "replace_all"),
        }
    }

    fn run(
        &self,
        files: &Files,
        max_diff_bytes: usize,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Answer, ToolError> {
        let limit = files.settings.max_read_bytes;
        let changed = files.path(&self.path).map_err(Wrong::File).and_then(|path| {
            files.tree.edit(&path, limit, go_on, |text| {
                let Edited { text: new, replacements } = self.apply(text).map_err(Wrong::text)?;
                fits(files, &new).map_err(Wrong::text)?;
                let diff = diff::unified(Some(text), &new, path.as_str(), max_diff_bytes);
                let bytes = new.len();
                Ok((new, (bytes, replacements, diff)))
            })
        });
        let (bytes, replacements, diff) = changed.map_err(|wrong| self.failure(wrong))?;
        let mut answer = Answer::new(json!({
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

    fn preview(&self, files: &Files) -> Result<String, ToolError> {
        let shown = files.path(&self.path).map_err(Wrong::File).and_then(|path| {
            let text = files.tree.read_text(&path, files.settings.max_read_bytes)?;
            let new = self.apply(&text).map_err(Wrong::text)?.text;
            fits(files, &new).map_err(Wrong::text)?;
            Ok(diff::shown(Some(&text), &new, path.as_str()))
        });
        shown.map_err(|wrong| self.failure(wrong))
    }

    fn apply(&self, text: &str) -> Result<Edited, ToolError> {
        if self.old == self.new {
            return Err(ToolError::invalid_input("`old_text` and `new_text` are the same"));
        }
        let matches = if self.everywhere {
            text.matches(&self.old).count()
        } else {
            overlapping(text, &self.old)
        };
        match matches {
            0 => Err(ToolError::new("no_match", "`old_text` is not in the file (0 matches)")),
            1 => Ok(Edited { text: text.replacen(&self.old, &self.new, 1), replacements: 1 }),
            _ if self.everywhere => {
                Ok(Edited { text: text.replace(&self.old, &self.new), replacements: matches })
            }
            _ => {
                let message = format!(
                    "`old_text` is in the file {matches} times; give more of its surroundings, \
                     or set `replace_all`"
                );
                let mut error = ToolError::new("several_matches", message);
                error.details = Some(json!({ "matches": matches }));
                Err(error)
            }
        }
    }

    fn failure(&self, wrong: Wrong) -> ToolError {
        match wrong {
            Wrong::Text(error) => *error,
            Wrong::File(FileError::Changed) => ToolError::new(
                codes::CONFLICT.code,
                "the file was changed by somebody else meanwhile; nothing was written",
            ),
            Wrong::File(
                error @ (FileError::NotFound
                | FileError::NotADirectory
                | FileError::NotText
                | FileError::TooLarge { .. }),
            ) => failure::reading(&self.path, &error),
            Wrong::File(error) => failure::writing(&self.path, &error),
        }
    }
}

/// How often `part` is in `text`, also where it overlaps itself: with `aa` in `aaa` it is not clear
/// which one is meant.
fn overlapping(text: &str, part: &str) -> usize {
    let step = part.chars().next().map_or(1, char::len_utf8);
    let (mut count, mut from) = (0, 0);
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(part)) {
        count += 1;
        from += at + step;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(text: &str, old: &str, new: &str, everywhere: bool) -> Result<String, String> {
        let edit = Edit { path: "x".into(), old: old.into(), new: new.into(), everywhere };
        edit.apply(text).map(|edited| edited.text).map_err(|error| error.code)
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
}
