//! `search_text`: where a text stands in the files below a folder.

use std::{ops::ControlFlow, sync::Arc};

use gate::{Answer, BoxFuture, Provider, Running, ToolError};
use globset::{GlobBuilder, GlobMatcher};
use guard::files::{FileError, Found, Walked};
use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

use super::{Files, Fitting, failure, flag, number, off_thread};

/// How large a compiled pattern may be, in bytes.
const MAX_PATTERN_BYTES: usize = 1_048_576;
/// How much of a line is shown, in characters.
const MAX_LINE_CHARACTERS: usize = 400;
/// How much of a longer line is shown before the match, in characters.
const BEFORE_CHARACTERS: usize = 80;

pub(crate) struct SearchText(pub(crate) Arc<Files>);

impl Provider for SearchText {
    fn run<'a>(&'a self, call: &'a Running) -> BoxFuture<'a, Result<Answer, ToolError>> {
        let (files, path) = (self.0.clone(), call.text("path").to_owned());
        let search = Search::of(call, &files);
        let stop = call.stop.clone();
        Box::pin(async move {
            let mut search = search?;
            off_thread(move || {
                let walked = search
                    .run(&files, &path, &|| !stop.is_cancelled())
                    .map_err(|error| failure::reading(&path, &error))?;
                Ok(search.answer(walked))
            })
            .await
        })
    }
}

/// A search and what it has found so far.
struct Search {
    pattern: Regex,
    include: Option<GlobMatcher>,
    max_matches: usize,
    max_file_bytes: u64,
    /// How many bytes may still be read.
    bytes_left: u64,
    matches: Fitting,
    searched: usize,
    not_text: usize,
    too_large: usize,
    unreadable: usize,
    is_cut: bool,
}

impl Search {
    fn of(call: &Running, files: &Files) -> Result<Self, ToolError> {
        Ok(Self {
            pattern: pattern(call)?,
            include: include(call)?,
            max_matches: number(call, "max_matches"),
            max_file_bytes: files.settings.max_read_bytes,
            bytes_left: files.settings.max_search_bytes,
            matches: Fitting::new(call.limits.max_output_bytes, 0),
            searched: 0,
            not_text: 0,
            too_large: 0,
            unreadable: 0,
            is_cut: false,
        })
    }

    fn run(
        &mut self,
        files: &Files,
        path: &str,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Walked, FileError> {
        let max_entries = files.settings.max_search_entries;
        files.tree.walk(&files.path(path)?, max_entries, &mut |found| {
            let flow = if go_on() { self.visit(found) } else { ControlFlow::Break(()) };
            self.is_cut |= flow.is_break();
            flow
        })
    }

    fn visit(&mut self, found: &Found<'_>) -> ControlFlow<()> {
        if self.include.as_ref().is_some_and(|include| !include.is_match(found.path.as_str())) {
            return ControlFlow::Continue(());
        }
        // Of a file that no longer fits nothing is read; smaller ones after it may still fit.
        let limit = self.max_file_bytes.min(self.bytes_left);
        let text = found.open().and_then(|opened| opened.read_text(limit));
        match text {
            Ok(text) => {
                self.bytes_left -= text.len() as u64;
                // A NUL is text to UTF-8 and to nobody else.
                if text.as_bytes().contains(&0) {
                    self.not_text += 1;
                    return ControlFlow::Continue(());
                }
                self.searched += 1;
                self.search(found.path.as_str(), &text)
            }
            Err(FileError::NotText) => {
                self.not_text += 1;
                ControlFlow::Continue(())
            }
            Err(FileError::TooLarge { .. }) if limit < self.max_file_bytes => {
                ControlFlow::Break(())
            }
            Err(FileError::TooLarge { .. }) => {
                self.too_large += 1;
                ControlFlow::Continue(())
            }
            Err(_) => {
                self.unreadable += 1;
                ControlFlow::Continue(())
            }
        }
    }

    fn search(&mut self, path: &str, text: &str) -> ControlFlow<()> {
        for (index, line) in text.lines().enumerate() {
            let Some(found) = self.pattern.find(line) else { continue };
            let (shown, is_cut) = window(line, found.start());
            let one =
                json!({ "path": path, "line": index + 1, "text": shown, "truncated": is_cut });
            if self.matches.items.len() == self.max_matches || !self.matches.push(one) {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn answer(self, walked: Walked) -> Answer {
        let (count, searched) = (self.matches.items.len(), self.searched);
        let mut answer = Answer::new(json!({
            "ok": true,
            "matches": self.matches.items,
            "files_searched": searched,
            "skipped": {
                "not_text": self.not_text,
                "too_large": self.too_large,
                "unreadable": self.unreadable + walked.passed_over,
            },
            "truncated": self.is_cut || walked.cut,
        }));
        answer.summary = Some(format!("Found {count} matching lines in {searched} files."));
        answer
    }
}

fn pattern(call: &Running) -> Result<Regex, ToolError> {
    let query = call.text("query");
    let source = if flag(call, "regex") { query.to_owned() } else { regex::escape(query) };
    RegexBuilder::new(&source)
        .case_insensitive(!flag(call, "case_sensitive"))
        .size_limit(MAX_PATTERN_BYTES)
        .dfa_size_limit(MAX_PATTERN_BYTES)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(limit) => ToolError::invalid_input(format!(
                "`query` is a pattern that takes more than {limit} bytes"
            )),
            error => ToolError::invalid_input(format!("`query` is no pattern: {error}")),
        })
}

fn include(call: &Running) -> Result<Option<GlobMatcher>, ToolError> {
    let Some(glob) = call.input.get("include").and_then(Value::as_str) else { return Ok(None) };
    // `*.md` means every such file, wherever it lies, as it does for other programs that search.
    let anywhere = if glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") };
    let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
    glob.map(|glob| Some(glob.compile_matcher()))
        .map_err(|error| ToolError::invalid_input(format!("`include` is no glob: {error}")))
}

/// The part of a line around the match, and whether that is not all of it.
fn window(line: &str, at: usize) -> (&str, bool) {
    if line.len() <= MAX_LINE_CHARACTERS || line.chars().nth(MAX_LINE_CHARACTERS).is_none() {
        return (line, false);
    }
    let before = line[..at].char_indices().rev().nth(BEFORE_CHARACTERS - 1);
    let rest = &line[before.map_or(0, |(start, _)| start)..];
    let end = rest.char_indices().nth(MAX_LINE_CHARACTERS).map_or(rest.len(), |(end, _)| end);
    (&rest[..end], true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_shown_around_the_match() {
        assert_eq!(window("short", 2), ("short", false));
        let exact = "ü".repeat(400);
        assert_eq!(window(&exact, 0), (exact.as_str(), false));
        let long = format!("{}needle{}", "ä".repeat(500), "ö".repeat(500));
        let (shown, is_cut) = window(&long, 1_000);
        assert!(is_cut && shown.starts_with(&format!("{}needle", "ä".repeat(80))));
        assert_eq!(shown.chars().count(), 400);
        let (shown, is_cut) = window(&long, 2);
        assert!(is_cut && shown.starts_with("ää") && shown.chars().count() == 400);
        let (shown, _) = window(&long, long.len());
        assert_eq!(shown, "ö".repeat(80));
    }
}
