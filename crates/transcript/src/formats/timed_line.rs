//! One line that has a time before it, above it or behind a name.

use super::{
    speaker,
    timestamp::{self, CueTime},
};

/// The longest line with a name and a time, in bytes.
const MAX_HEADER_BYTES: usize = 100;

/// A line, by the position of its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimedLine<'a> {
    /// `[00:00:00.000 --> 00:00:04.000] text`, `(0:04) text`
    Bracketed(CueTime, &'a str),
    /// `0:04`
    Alone(CueTime),
    /// `0:04 text`
    Bare(CueTime, &'a str),
    /// `Ada Lovelace  0:04`, `[Ada Lovelace] 10:02:33`
    Header(CueTime, &'a str),
    /// `10:02:33 From Ada Lovelace to Everyone: text`
    Chat(&'a str, &'a str),
    /// Anything else.
    Text,
}

/// Reads a line.
pub(super) fn kind(line: &str) -> TimedLine<'_> {
    match line.as_bytes().first() {
        Some(b'[') => in_brackets(line, ']').unwrap_or(TimedLine::Text),
        Some(b'(') => in_brackets(line, ')').unwrap_or(TimedLine::Text),
        Some(byte) if byte.is_ascii_digit() => match timestamp::leading(line) {
            Some(time) => after(time, &line[time.length..]),
            None => TimedLine::Text,
        },
        _ => header(line).unwrap_or(TimedLine::Text),
    }
}

fn after(time: CueTime, rest: &str) -> TimedLine<'_> {
    let said = rest.trim_start();
    if said.is_empty() {
        return TimedLine::Alone(time);
    }
    if said.len() == rest.len() {
        return TimedLine::Text;
    }
    if let Some((name, said)) = said.strip_prefix("From ").and_then(chat) {
        return TimedLine::Chat(name, said);
    }
    let said =
        ["- ", "– ", "| "].into_iter().find_map(|dash| said.strip_prefix(dash)).unwrap_or(said);
    TimedLine::Bare(time, said)
}

/// The sender and the text of a line of Zoom's chat: `Ada to Everyone: hi`, `Ada : hi`.
fn chat(rest: &str) -> Option<(&str, &str)> {
    let near = &rest.as_bytes()[..rest.len().min(MAX_HEADER_BYTES)];
    let colon = memchr::memchr(b':', near)?;
    let (parties, said) = (rest[..colon].trim(), rest[colon + 1..].trim());
    let name = ["  to  ", " to "].into_iter().find_map(|to| parties.split_once(to));
    let name = name.map_or(parties, |(from, _)| from).trim();
    (!name.is_empty()).then_some((name, said))
}

/// A time or a range of times in brackets and what follows, or a name in brackets and a time.
fn in_brackets(line: &str, close: char) -> Option<TimedLine<'_>> {
    let near =
        line.char_indices().take(MAX_HEADER_BYTES).find(|(_, character)| *character == close);
    let (end, _) = near?;
    let (inside, rest) = (line[1..end].trim(), line[end + 1..].trim_start());
    if let Some(mut time) = timestamp::leading(inside) {
        let more = inside[time.length..].trim_start();
        let more = ["-->", "->", "–", "-"]
            .into_iter()
            .find_map(|arrow| more.strip_prefix(arrow))
            .unwrap_or(more);
        let more = more.trim_start();
        let is_time = more.is_empty()
            || timestamp::leading(more).is_some_and(|time| time.length == more.len());
        // From when until when is said of what is heard.
        time.is_precise |= !more.is_empty() && inside.contains("->");
        return is_time
            .then_some(TimedLine::Bracketed(time, rest.strip_prefix(": ").unwrap_or(rest)));
    }
    let (name, time) = ends_with_time(rest)?;
    (name.is_empty() && speaker::is_name(inside)).then_some(TimedLine::Header(time, inside))
}

fn header(line: &str) -> Option<TimedLine<'_>> {
    if line.len() > MAX_HEADER_BYTES
        || !line.ends_with(|c: char| c.is_ascii_digit() || matches!(c, ')' | ']'))
    {
        return None;
    }
    let (name, time) = ends_with_time(line)?;
    let name = name.trim_end_matches([':', ',', '-', '|', ' ', '\t', '*']);
    let name = name.trim_start_matches('*');
    speaker::is_name(name).then_some(TimedLine::Header(time, name))
}

/// The text before the time that it ends with, and the time.
fn ends_with_time(text: &str) -> Option<(&str, CueTime)> {
    let start = text.rfind([' ', '\t']).map_or(0, |at| at + 1);
    let last = text[start..].trim_matches(['(', ')', '[', ']']);
    let time = timestamp::leading(last)?;
    (time.length == last.len()).then(|| (text[..start].trim_end(), time))
}
