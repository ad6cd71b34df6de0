//! Lines with times before them or above them: Otter, Zoom and Teams exports, whisper.cpp, pages that
//! were copied from a player.
//!
//! A time in a line may also be what is talked about ("10:30 lunch"), so a text counts as timed only
//! where its lines keep to one form from the beginning.

use super::{
    lines::Lines,
    speaker,
    timestamp::{self, Time},
};

/// So many lines must have times, if the first does not.
const ENOUGH: usize = 3;
/// A list of bare times that begins later than this is a programme of events.
const FIRST_SECONDS: u64 = 10;
/// The longest line with a name and a time, in bytes.
const MAX_HEADER_BYTES: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind<'a> {
    /// `[00:00:00.000 --> 00:00:04.000] text`, `(0:04) text`
    Bracketed(&'a str),
    /// `0:04`
    Alone,
    /// `0:04 text`
    Bare(Time, &'a str),
    /// `Ada Lovelace  0:04`, `[Ada Lovelace] 10:02:33`
    Header(&'a str),
    /// Anything else.
    Text,
}

/// Which forms a text keeps to.
#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools)] // One for each form, and any of them together.
struct Forms {
    bracketed: bool,
    alone: bool,
    bare: bool,
    header: bool,
}

/// The lines of a text with times, if it is one.
pub(super) fn read(text: &str) -> Option<Lines> {
    let forms = forms(text)?;
    let mut lines = Lines::with_room(text.len());
    for line in text.split('\n').map(str::trim).filter(|line| !line.is_empty()) {
        match kind(line) {
            Kind::Bracketed(said) if forms.bracketed => {
                lines.begin_cue();
                lines.push(said);
            }
            Kind::Alone if forms.alone => lines.begin_cue(),
            Kind::Bare(_, said) if forms.bare => {
                lines.begin_cue();
                lines.push(said);
            }
            Kind::Header(name) if forms.header => {
                lines.begin_cue();
                lines.set_voice(name);
            }
            _ => lines.push(line),
        }
    }
    Some(lines)
}

fn forms(text: &str) -> Option<Forms> {
    let (mut bracketed, mut alone, mut bare, mut header) = (0, 0, 0, 0);
    let mut first = Kind::Text;
    let lines = text.split('\n').map(str::trim).filter(|line| !line.is_empty());
    for (index, line) in lines.enumerate() {
        let kind = kind(line);
        if index == 0 {
            first = kind;
        }
        match kind {
            Kind::Bracketed(_) => bracketed += 1,
            Kind::Alone => alone += 1,
            Kind::Bare(..) => bare += 1,
            Kind::Header(_) => header += 1,
            Kind::Text => {}
        }
    }
    let begins_early = matches!(first, Kind::Bare(time, _) if time.seconds <= FIRST_SECONDS);
    let forms = Forms {
        bracketed: bracketed > 0 && (bracketed >= ENOUGH || matches!(first, Kind::Bracketed(_))),
        alone: alone >= ENOUGH || (alone == 2 && first == Kind::Alone),
        bare: bare >= ENOUGH && begins_early,
        header: header >= ENOUGH || (header == 2 && matches!(first, Kind::Header(_))),
    };
    (forms.bracketed || forms.alone || forms.bare || forms.header).then_some(forms)
}

fn kind(line: &str) -> Kind<'_> {
    match line.as_bytes().first() {
        Some(b'[') => in_brackets(line, ']').unwrap_or(Kind::Text),
        Some(b'(') => in_brackets(line, ')').unwrap_or(Kind::Text),
        Some(byte) if byte.is_ascii_digit() => match timestamp::leading(line) {
            Some(time) => after(time, &line[time.length..]),
            None => Kind::Text,
        },
        _ => header(line).unwrap_or(Kind::Text),
    }
}

fn after(time: Time, rest: &str) -> Kind<'_> {
    let said = rest.trim_start();
    if said.is_empty() {
        return Kind::Alone;
    }
    if said.len() == rest.len() {
        return Kind::Text;
    }
    let said =
        ["- ", "– ", "| "].into_iter().find_map(|dash| said.strip_prefix(dash)).unwrap_or(said);
    Kind::Bare(time, said)
}

/// A time or a range of times in brackets and what follows, or a name in brackets and a time.
fn in_brackets(line: &str, close: char) -> Option<Kind<'_>> {
    let near =
        line.char_indices().take(MAX_HEADER_BYTES).find(|(_, character)| *character == close);
    let (end, _) = near?;
    let (inside, rest) = (line[1..end].trim(), line[end + 1..].trim_start());
    if let Some(time) = timestamp::leading(inside) {
        let more = inside[time.length..].trim_start();
        let more = ["-->", "->", "–", "-"]
            .into_iter()
            .find_map(|arrow| more.strip_prefix(arrow))
            .unwrap_or(more);
        let more = more.trim_start();
        let is_time = more.is_empty()
            || timestamp::leading(more).is_some_and(|time| time.length == more.len());
        return is_time.then_some(Kind::Bracketed(rest.strip_prefix(": ").unwrap_or(rest)));
    }
    let is_header = ends_with_time(rest) == Some("") && speaker::is_name(inside);
    is_header.then_some(Kind::Header(inside))
}

fn header(line: &str) -> Option<Kind<'_>> {
    if line.len() > MAX_HEADER_BYTES
        || !line.ends_with(|c: char| c.is_ascii_digit() || matches!(c, ')' | ']'))
    {
        return None;
    }
    let name = ends_with_time(line)?.trim_end_matches([':', ',', '-', '|', ' ', '\t', '*']);
    let name = name.trim_start_matches('*');
    speaker::is_name(name).then_some(Kind::Header(name))
}

/// What stands before the time that a text ends with.
fn ends_with_time(text: &str) -> Option<&str> {
    let start = text.rfind([' ', '\t']).map_or(0, |at| at + 1);
    let last = text[start..].trim_matches(['(', ')', '[', ']']);
    let time = timestamp::leading(last)?;
    (time.length == last.len()).then(|| text[..start].trim_end())
}
