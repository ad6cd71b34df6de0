//! `search_text`: where a text stands in the files below a folder.

use std::{ops::ControlFlow, sync::Arc};

use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use globset::{GlobBuilder, GlobMatcher};
use guard::files::{FileError, FoundFile, WalkSummary};
use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

use super::{AgentFolder, BoundedList, failure, flag, number};
use crate::off_thread;

/// The largest compiled pattern, in bytes: one `\w` takes up to 65536, and the larger the
/// pattern, the longer each byte of text may take.
const MAX_PATTERN_BYTES: usize = 524_288;
/// The memory that a search may use, in bytes.
const MAX_MEMORY_BYTES: usize = 1_048_576;
/// Longer lines are searched in pieces of so many bytes, and after as many it is asked whether anybody
/// still waits. A second at the very worst.
const PIECE_BYTES: usize = 8_192;
/// The bytes that a piece has in common with the one before it: more than any text that is searched
/// for as it stands.
const OVERLAP_BYTES: usize = 4_096;
/// The most of a line that is shown, in characters.
const MAX_LINE_CHARACTERS: usize = 400;
/// The most of a longer line that is shown before the match, in characters.
const BEFORE_CHARACTERS: usize = 80;

pub(crate) struct SearchText(pub(crate) Arc<AgentFolder>);

impl Provider for SearchText {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let (files, asked) = (self.0.clone(), TextSearchRequest::of(call));
        let stop = call.stop.clone();
        Box::pin(off_thread(move || {
            // Here, because a pattern takes time to compile, too.
            let mut search = TextSearch::new(&asked, &files)?;
            let walked = search
                .run(&files, &asked.path, &|| !stop.is_cancelled())
                .map_err(|error| failure::reading(&asked.path, &error))?;
            Ok(search.answer(walked))
        }))
    }
}

/// The arguments of the call.
struct TextSearchRequest {
    path: String,
    query: String,
    is_pattern: bool,
    case_sensitive: bool,
    include: Option<String>,
    max_matches: usize,
    max_output_bytes: u64,
}

impl TextSearchRequest {
    fn of(call: &RunningCall) -> Self {
        Self {
            path: call.text("path").to_owned(),
            query: call.text("query").to_owned(),
            is_pattern: flag(call, "regex"),
            case_sensitive: flag(call, "case_sensitive"),
            include: call.input.get("include").and_then(Value::as_str).map(str::to_owned),
            max_matches: number(call, "max_matches"),
            max_output_bytes: call.limits.max_output_bytes,
        }
    }
}

/// A search and what it has found so far.
struct TextSearch {
    pattern: Regex,
    include: Option<GlobMatcher>,
    max_matches: usize,
    max_file_bytes: u64,
    /// The bytes that may still be read.
    bytes_left: u64,
    /// The bytes that were searched since the last check for cancellation.
    unasked: usize,
    matches: BoundedList,
    searched: usize,
    not_text: usize,
    too_large: usize,
    unreadable: usize,
    is_cut: bool,
}

impl TextSearch {
    fn new(asked: &TextSearchRequest, files: &AgentFolder) -> Result<Self, ToolError> {
        Ok(Self {
            pattern: pattern(asked)?,
            include: include(asked)?,
            max_matches: asked.max_matches,
            max_file_bytes: files.settings.max_read_bytes,
            bytes_left: files.settings.max_search_bytes,
            unasked: 0,
            matches: BoundedList::new(asked.max_output_bytes, 0),
            searched: 0,
            not_text: 0,
            too_large: 0,
            unreadable: 0,
            is_cut: false,
        })
    }

    fn run(
        &mut self,
        files: &AgentFolder,
        path: &str,
        go_on: &dyn Fn() -> bool,
    ) -> Result<WalkSummary, FileError> {
        let max_entries = files.settings.max_search_entries;
        files.tree.walk(&files.path(path)?, max_entries, &mut |found| {
            let flow = if go_on() { self.visit(found, go_on) } else { ControlFlow::Break(()) };
            self.is_cut |= flow.is_break();
            flow
        })
    }

    fn visit(&mut self, found: &FoundFile<'_>, go_on: &dyn Fn() -> bool) -> ControlFlow<()> {
        if self.include.as_ref().is_some_and(|include| !include.is_match(found.path.as_str())) {
            return ControlFlow::Continue(());
        }
        match self.read(found) {
            Ok(Some(text)) => {
                self.searched += 1;
                return self.search(found.path.as_str(), &text, go_on);
            }
            // The first that no longer fits is the end, so that what was searched is the beginning.
            Ok(None) => return ControlFlow::Break(()),
            Err(FileError::NotText) => self.not_text += 1,
            Err(FileError::TooLarge { .. }) => self.too_large += 1,
            Err(_) => self.unreadable += 1,
        }
        ControlFlow::Continue(())
    }

    /// The text of a file; nothing if it is more than may still be read.
    fn read(&mut self, found: &FoundFile<'_>) -> Result<Option<String>, FileError> {
        let opened = found.open()?;
        let told = opened.status.bytes;
        if told <= self.max_file_bytes && told > self.bytes_left {
            return Ok(None);
        }
        let limit = self.max_file_bytes.min(self.bytes_left);
        let bytes = match opened.read(limit) {
            Ok(bytes) => bytes,
            Err(error) => {
                // It was read if it grew meanwhile, and not if it was too large from the beginning.
                self.bytes_left -= if told <= limit { told } else { 0 };
                return Err(error);
            }
        };
        // Counted whatever they are: they were read.
        self.bytes_left -= bytes.len() as u64;
        // A NUL is text to UTF-8 and to nobody else.
        match String::from_utf8(bytes) {
            Ok(text) if !text.as_bytes().contains(&0) => Ok(Some(text)),
            _ => Err(FileError::NotText),
        }
    }

    fn search(&mut self, path: &str, text: &str, go_on: &dyn Fn() -> bool) -> ControlFlow<()> {
        for (index, line) in text.lines().enumerate() {
            let Some(at) = self.find(line, go_on)? else { continue };
            let (shown, is_cut) = window(line, at);
            let one =
                json!({ "path": path, "line": index + 1, "text": shown, "truncated": is_cut });
            if self.matches.items.len() == self.max_matches || !self.matches.push(one) {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    /// The start of the first match in a line. Ends early if nobody waits for it any more.
    fn find(&mut self, line: &str, go_on: &dyn Fn() -> bool) -> ControlFlow<(), Option<usize>> {
        let mut from = 0;
        loop {
            let end = line.floor_char_boundary(from + PIECE_BYTES);
            // With the line break, so that empty lines count.
            self.unasked += end - from + 1;
            if self.unasked > PIECE_BYTES {
                self.unasked = 0;
                if !go_on() {
                    return ControlFlow::Break(());
                }
            }
            // What stands before the piece is seen, so that `^` is only the beginning of the line.
            if let Some(found) = self.pattern.find_at(&line[..end], from) {
                return ControlFlow::Continue(Some(found.start()));
            }
            if end == line.len() {
                return ControlFlow::Continue(None);
            }
            from = line.floor_char_boundary(end - OVERLAP_BYTES);
        }
    }

    fn answer(self, walked: WalkSummary) -> ToolOutput {
        let (count, searched) = (self.matches.items.len(), self.searched);
        let mut answer = ToolOutput::new(json!({
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

fn pattern(asked: &TextSearchRequest) -> Result<Regex, ToolError> {
    let query = &asked.query;
    let source = if asked.is_pattern { query.clone() } else { regex::escape(query) };
    RegexBuilder::new(&source)
        .case_insensitive(!asked.case_sensitive)
        .size_limit(MAX_PATTERN_BYTES)
        .dfa_size_limit(MAX_MEMORY_BYTES)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(limit) => ToolError::invalid_input(format!(
                "`query` is a pattern that takes more than {limit} bytes"
            )),
            error => ToolError::invalid_input(format!("`query` is not a valid pattern: {error}")),
        })
}

fn include(asked: &TextSearchRequest) -> Result<Option<GlobMatcher>, ToolError> {
    let Some(glob) = &asked.include else { return Ok(None) };
    // `*.md` means every such file, wherever it lies, as it does for other programs that search.
    let anywhere = if glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") };
    let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
    glob.map(|glob| Some(glob.compile_matcher())).map_err(|error| {
        ToolError::invalid_input(format!("`include` is not a valid glob: {error}"))
    })
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
    use crate::settings::FileIoSettings;

    fn search(query: &str, is_pattern: bool) -> TextSearch {
        let asked = TextSearchRequest {
            path: ".".to_owned(),
            query: query.to_owned(),
            is_pattern,
            case_sensitive: true,
            include: None,
            max_matches: 10,
            max_output_bytes: 1_000_000,
        };
        TextSearch::new(&asked, &AgentFolder::new(&FileIoSettings::default())).unwrap()
    }

    #[test]
    fn long_lines_are_searched_in_pieces_that_overlap() {
        let needle = "nädel".repeat(200);
        for at in [0, 7_500, 8_191, 8_192, 9_000, 40_000] {
            let line = format!("{}{needle}{}", "x".repeat(at), "ö".repeat(20_000));
            for (query, is_pattern, expected) in [
                (needle.as_str(), false, Some(at)),
                ("n[^x]+l", true, Some(at)),
                ("^x*nä", true, (at < 8_000).then_some(at).map(|_| 0)),
                ("^ö", true, None),
                ("ö$", true, Some(line.len() - 2)),
            ] {
                let found = search(query, is_pattern).find(&line, &|| true);
                // A piece of its own ends where it ends, which a `$` takes for the end of the line.
                if query == "ö$" {
                    assert!(matches!(found, ControlFlow::Continue(Some(_))), "{at}");
                } else {
                    assert_eq!(found, ControlFlow::Continue(expected), "{query} at {at}");
                }
            }
        }
    }

    #[test]
    fn a_search_that_nobody_waits_for_ends_within_a_file() {
        for text in ["x\n".repeat(100_000), "x".repeat(200_000), "\n".repeat(200_000)] {
            let asked = std::cell::Cell::new(0);
            let go_on = || asked.replace(asked.get() + 1) < 5;
            let flow = search("needle", false).search("x.txt", &text, &go_on);
            assert_eq!((flow, asked.get()), (ControlFlow::Break(()), 6));
        }
    }

    #[test]
    fn ordinary_patterns_are_small_enough() {
        for query in [
            r"fn \w+\(&self, \w+: &\w+\) -> \w+ \w+ \w+",
            r"^\s*(\w+)\s*=\s*(\w+)\s*#\s*(\w+)$",
            r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}\b",
        ] {
            search(query, true);
        }
    }

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
