//! WebVTT, SRT and SBV: captions under the times when they are shown.
//!
//! Read line by line and leniently: files of the wild lack blank lines, numbers and headers. Captions
//! stay in the order of the file, whatever their times say.

use super::{lines::Lines, markup, timestamp::is_timing};

/// How many lines may stand before the first time.
const MAX_LINES_BEFORE: usize = 200;

#[derive(PartialEq, Eq)]
enum At {
    /// In the header of the file.
    Header,
    /// After a blank line.
    Between,
    /// In the text of a caption.
    Text,
    /// In a comment or a style sheet.
    Aside,
}

/// The captions of a file, if it has any.
pub(super) fn read(text: &str) -> Option<Lines> {
    let is_webvtt = text.trim_start().starts_with("WEBVTT");
    if !is_webvtt && !text.lines().take(MAX_LINES_BEFORE).any(|line| is_timing(line.trim())) {
        return None;
    }
    let mut lines = Lines::with_room(text.len() / 2);
    let mut at = if is_webvtt { At::Header } else { At::Between };
    let mut rest = text.split('\n').map(str::trim).peekable();
    while let Some(line) = rest.next() {
        if line.is_empty() {
            // A comment before the first blank line of a header belongs to the header.
            at = At::Between;
        } else if is_timing(line) {
            lines.begin_cue();
            at = At::Text;
        } else {
            let names_next = rest.peek().is_some_and(|next| is_timing(next));
            match at {
                At::Header | At::Aside => {}
                At::Between if is_webvtt && is_aside(line) => at = At::Aside,
                // The name of a caption. Where blank lines are missing only a number is one.
                At::Between if names_next => {}
                At::Text if names_next && line.bytes().all(|byte| byte.is_ascii_digit()) => {}
                At::Between | At::Text => {
                    markup::push(&mut lines, line);
                    at = At::Text;
                }
            }
        }
    }
    Some(lines)
}

fn is_aside(line: &str) -> bool {
    matches!(line, "NOTE" | "STYLE" | "REGION") || line.starts_with("NOTE ")
}
