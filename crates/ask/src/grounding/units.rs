//! Lines and sentences: what stands for itself in a text, without the marker of a list before it.
//!
//! A negation reaches as far as its sentence does, so a sentence must not be ended too soon: not
//! at an abbreviation, not at a line end in its midst. It also reaches into the list below a line
//! that ends with a colon.

use std::ops::Range;

use super::{
    dates,
    fold::{LINE, PARAGRAPH},
    vocabulary,
};

/// A marker of a list with a number has at most so many digits.
const MAX_MARKER_DIGITS: usize = 3;
/// How many markers may stand before one text.
const MAX_MARKERS: usize = 8;
/// How far behind a full stop the next sentence begins at most, in characters.
const MAX_MARKS: usize = 16;

/// A line or a sentence, in bytes of the folded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    /// With its final mark, without markers.
    pub range: Range<usize>,
    /// Without quotes, brackets and marks at its ends.
    pub core: Range<usize>,
    /// The unit that it is an item of: a line with a colon at its end, or a heading.
    pub lead: Option<usize>,
}

/// The units of a folded text. `base` is added to all places, `first` is the number of the first.
pub(super) fn units(text: &str, base: usize, first: usize) -> Vec<Unit> {
    let mut found: Vec<Unit> = Vec::new();
    let (mut heading, mut opener) = (None, None);
    for (line, is_paragraph) in lines(text) {
        let (marker, body) = marker(&text[line.clone()]);
        let start = line.start + body;
        if marker == Marker::Heading {
            (heading, opener) = (None, None);
        } else if marker == Marker::None && is_paragraph {
            opener = None;
        }
        let before = found.len();
        for sentence in sentences(&text[start..line.end]) {
            let range = start + sentence.start..start + sentence.end;
            let core = core(&text[range.clone()]);
            if core.is_empty() {
                continue;
            }
            let core = base + range.start + core.start..base + range.start + core.end;
            let range = base + range.start..base + range.end;
            found.push(Unit { range, core, lead: opener.or(heading) });
        }
        if found.len() == before {
            continue;
        }
        let last = first + found.len() - 1;
        if marker == Marker::Heading {
            heading = Some(last);
        } else if text[line].trim_end().ends_with([':', '：']) {
            opener = Some(last);
        }
    }
    found
}

/// The lines of a text, and whether each begins a paragraph. Those that go on in the next one are
/// taken together with it.
fn lines(text: &str) -> Vec<(Range<usize>, bool)> {
    let mut found = Vec::new();
    let (mut start, mut is_paragraph) = (0, true);
    for (at, end) in text.match_indices([LINE, PARAGRAPH]) {
        let next = &text[at + end.len()..];
        if end.starts_with(PARAGRAPH) || !goes_on(&text[start..at], next) {
            found.push((start..at, is_paragraph));
            start = at + end.len();
            is_paragraph = end.starts_with(PARAGRAPH);
        }
    }
    found.push((start..text.len(), is_paragraph));
    found
}

/// Whether a sentence goes on behind a line end.
fn goes_on(line: &str, next: &str) -> bool {
    let line = line.trim_end();
    if line.is_empty() || marker(next).0 != Marker::None || marker(line).0 == Marker::Heading {
        return false;
    }
    if line.ends_with(is_final) || line.ends_with([':', '：', ';', '|']) {
        return false;
    }
    let begins_small = next.trim_start().chars().next().is_some_and(char::is_lowercase);
    // From the last word backwards, however long the line became.
    let last = line.rsplit(|one: char| !one.is_alphanumeric() && one != '\'').next();
    let last = last.unwrap_or_default().to_lowercase();
    begins_small
        || line.ends_with([',', '、'])
        || vocabulary::is_stop(&last)
        || vocabulary::is_negation(&last)
}

/// What stands before the text of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    None,
    Item,
    Heading,
}

/// The marker of a line and where its text begins. Markers may be nested, as in `> - [x] text`.
fn marker(line: &str) -> (Marker, usize) {
    let (mut kind, mut at) = (Marker::None, 0);
    for _ in 0..MAX_MARKERS {
        let rest = line[at..].trim_start();
        let begin = line.len() - rest.len();
        let word = rest.split(|one: char| one.is_whitespace()).next().unwrap_or_default();
        let one = match marker_kind(word) {
            // A marker is followed by a space, and then by something.
            Some(one) if rest.len() > word.len() => one,
            _ => return (kind, begin),
        };
        if kind == Marker::None {
            kind = one;
        }
        at = begin + word.len();
    }
    (kind, at)
}

fn marker_kind(word: &str) -> Option<Marker> {
    if word.len() > 6 {
        return None;
    }
    if !word.is_empty() && word.bytes().all(|byte| byte == b'#') {
        return Some(Marker::Heading);
    }
    if matches!(
        word,
        "-" | "*" | "+" | "•" | "‣" | "◦" | "▪" | "·" | "–" | "—" | ">" | "[x]" | "[X]" | "[]"
    ) {
        return Some(Marker::Item);
    }
    let number = word.strip_suffix(['.', ')'])?;
    let number = number.strip_prefix('(').unwrap_or(number);
    let is_number = (1..=MAX_MARKER_DIGITS).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_digit());
    let is_letter = number.len() == 1 && number.bytes().all(|b| b.is_ascii_alphabetic());
    (is_number || is_letter).then_some(Marker::Item)
}

/// The sentences of a line.
fn sentences(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut characters = line.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if !is_final(character) {
            continue;
        }
        let mut end = at + character.len_utf8();
        while let Some((_, closing)) =
            characters.next_if(|(_, one)| is_final(*one) || is_closing(*one))
        {
            end += closing.len_utf8();
        }
        if is_wide(character) || ends_sentence(&line[start..at], &line[end..], character) {
            found.push(trimmed(line, start..end));
            start = end;
        }
    }
    found.push(trimmed(line, start..line.len()));
    found.retain(|range| !range.is_empty());
    found
}

fn ends_sentence(before: &str, behind: &str, mark: char) -> bool {
    if !behind.starts_with(char::is_whitespace) {
        return false;
    }
    let mut next = behind.chars().take(MAX_MARKS).skip_while(|one| !one.is_alphanumeric());
    let first = next.next();
    // `macOS` begins a sentence, `and` does not.
    let is_name = next.take_while(|one| one.is_alphanumeric()).any(char::is_uppercase);
    if first.is_some_and(char::is_lowercase) && !is_name {
        return false;
    }
    let word = before.rsplit(|one: char| one.is_whitespace() || one == '(').next();
    let word = word.unwrap_or_default();
    // `31. März`
    let next = behind.trim_start().split(|one: char| !one.is_alphanumeric()).next();
    let is_month = || dates::month(&next.unwrap_or_default().to_lowercase()).is_some();
    let is_day = word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit()) && is_month();
    // `No. 5` goes on, `No. We do not.` does not.
    let is_answer = word.eq_ignore_ascii_case("no") && first.is_some_and(char::is_alphabetic);
    mark != '.' || is_answer || !(is_day || vocabulary::is_abbreviation(word))
}

fn trimmed(line: &str, range: Range<usize>) -> Range<usize> {
    let part = &line[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    start..(start + part.trim().len())
}

fn core(text: &str) -> Range<usize> {
    let is_edge = |one: char| !one.is_alphanumeric() && !is_sign(one);
    let end = text.trim_end_matches(is_edge).len();
    let start = text.len() - text.trim_start_matches(is_edge).len();
    start.min(end)..end
}

/// What belongs to a number or to a name, and is no mark around a sentence.
fn is_sign(character: char) -> bool {
    super::words::is_number_sign(character)
        || character == '_'
        || super::fold::is_combining(character)
}

fn is_final(character: char) -> bool {
    matches!(character, '.' | '!' | '?' | '…') || is_wide(character)
}

/// Marks of scripts that put no space behind them.
fn is_wide(character: char) -> bool {
    matches!(character, '。' | '！' | '？' | '｡' | '．')
}

fn is_closing(character: char) -> bool {
    matches!(character, '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '」' | '』' | '）')
}
