//! Lines with times before them or above them: Otter, Zoom and Teams exports, whisper.cpp, pages that
//! were copied from a player.
//!
//! A time in a line may also be what is talked about ("10:30 lunch"), so a text counts as timed only
//! where its lines keep to one form, and the times are those of a recording.

use super::{
    captions::Captions,
    series::TimeSeries,
    timed_line::{self, TimedLine},
};

/// So many lines must have times, if the first does not.
const ENOUGH: usize = 3;
/// Of ten lines, so many must have a time that stands before what is said without brackets.
const BARE_OF_TEN: usize = 8;
/// The last line of what Otter exports.
const FOOTER: &str = "Transcribed by https://otter.ai";

/// The forms that a text keeps to.
#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools)] // One for each form, and any of them together.
struct TimedForms {
    bracketed: bool,
    alone: bool,
    bare: bool,
    header: bool,
    chat: bool,
}

/// The lines of a text with times, if it is one.
pub(super) fn read(text: &str) -> Option<Captions> {
    let forms = forms(text)?;
    let mut lines = Captions::with_room(text.len());
    for line in text.split('\n').map(str::trim).filter(|line| !line.is_empty()) {
        match timed_line::kind(line) {
            TimedLine::Bracketed(_, said) if forms.bracketed => {
                lines.begin_cue();
                lines.push(said);
            }
            TimedLine::Alone(_) if forms.alone => lines.begin_cue(),
            TimedLine::Bare(_, said) if forms.bare => {
                lines.begin_cue();
                lines.push(said);
            }
            TimedLine::Header(_, name) if forms.header => {
                lines.begin_cue();
                lines.set_voice(name);
            }
            TimedLine::Chat(name, said) if forms.chat => {
                lines.begin_cue();
                lines.set_voice(name);
                lines.push(said);
            }
            _ if forms.header && (line == FOOTER || is_notice(line)) => {}
            _ => lines.push(line),
        }
    }
    Some(lines)
}

/// True for a notice of Teams: `Dana Levi stopped transcription`.
fn is_notice(line: &str) -> bool {
    let end = [" started transcription", " stopped transcription"]
        .iter()
        .find_map(|end| line.strip_suffix(end));
    end.is_some_and(|name| name.split(' ').count() <= 4)
}

/// Counts that tell the forms of a text.
#[derive(Default)]
struct FormCounts<'a> {
    lines: usize,
    bracketed: TimeSeries,
    alone: TimeSeries,
    bare: TimeSeries,
    header: TimeSeries,
    chat: usize,
    /// Headers that another follows at once.
    silent_headers: usize,
    /// The first names, and whether one of them comes again.
    names: Vec<&'a str>,
    has_name_again: bool,
}

/// The most names that are remembered to find one again.
const MAX_NAMES: usize = 8;

fn forms(text: &str) -> Option<TimedForms> {
    let mut counts = FormCounts::default();
    let (mut first, mut last) = (TimedLine::Text, TimedLine::Text);
    for line in text.split('\n').map(str::trim).filter(|line| !line.is_empty()) {
        let kind = timed_line::kind(line);
        if counts.lines == 0 {
            first = kind;
        }
        counts.lines += 1;
        match kind {
            TimedLine::Bracketed(time, _) => counts.bracketed.add(time),
            TimedLine::Alone(time) => counts.alone.add(time),
            TimedLine::Bare(time, _) => counts.bare.add(time),
            TimedLine::Header(time, name) => {
                counts.header.add(time);
                counts.silent_headers += usize::from(matches!(last, TimedLine::Header(..)));
                counts.has_name_again |= counts.names.contains(&name);
                if counts.names.len() < MAX_NAMES {
                    counts.names.push(name);
                }
            }
            TimedLine::Chat(..) => counts.chat += 1,
            TimedLine::Text => {}
        }
        last = kind;
    }
    let forms = TimedForms {
        bracketed: is_bracketed(&counts, matches!(first, TimedLine::Bracketed(..))),
        alone: is_alone(&counts, matches!(first, TimedLine::Alone(_))),
        bare: is_bare(&counts),
        header: is_header(&counts, matches!(first, TimedLine::Header(..))),
        chat: counts.chat >= 2 || matches!(first, TimedLine::Chat(..)),
    };
    let any = forms.bracketed || forms.alone || forms.bare || forms.header || forms.chat;
    any.then_some(forms)
}

fn is_bracketed(counts: &FormCounts, is_first: bool) -> bool {
    let series = &counts.bracketed;
    let is_recording =
        series.is_precise() || (series.is_even() && (series.begins_early() || series.is_dense()));
    is_recording && (series.count >= ENOUGH || is_first)
}

fn is_alone(counts: &FormCounts, is_first: bool) -> bool {
    let series = &counts.alone;
    let is_recording =
        series.is_even() && (series.begins_early() || series.is_precise() || series.is_dense());
    is_recording && (series.count >= ENOUGH || (series.count == 2 && is_first))
}

fn is_bare(counts: &FormCounts) -> bool {
    let series = &counts.bare;
    series.is_even()
        && series.count >= ENOUGH
        && series.count * 10 >= counts.lines * BARE_OF_TEN
        && (series.begins_early() || series.is_precise())
}

fn is_header(counts: &FormCounts, is_first: bool) -> bool {
    let series = &counts.header;
    let is_meeting =
        series.begins_early() || series.is_precise() || (series.is_even() && counts.has_name_again);
    // Somebody says something under nearly every name.
    let speaks = counts.silent_headers * 10 <= series.count;
    is_meeting && speaks && (series.count >= ENOUGH || (series.count == 2 && is_first))
}
