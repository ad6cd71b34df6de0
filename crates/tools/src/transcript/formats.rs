//! What a transcript comes as: recognised by its content and taken apart into turns.
//!
//! Every format but plain text becomes [`lines::Lines`] first, so that repetitions are merged and
//! speakers found in one place.

mod ass;
mod cues;
mod diarised;
mod hallucinations;
mod json;
mod lines;
mod markup;
mod plain;
mod rolling;
mod series;
mod speaker;
mod stamped;
mod timed;
mod timestamp;
mod xml;

use lines::Lines;

use super::turn::Turn;

/// What a text was recognised as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text without any of the below.
    Plain,
    /// WebVTT, SRT, SBV, ASS.
    Cues,
    /// The JSON of a speech recogniser, or YouTube's.
    Json,
    /// TTML and YouTube's XML.
    Xml,
    /// Lines with times before or above them: Otter, Zoom, Teams, whisper.cpp, a copied page.
    TimedLines,
}

impl Format {
    /// Its name in the metrics.
    pub fn word(self) -> &'static str {
        match self {
            Format::Plain => "plain",
            Format::Cues => "cues",
            Format::Json => "json",
            Format::Xml => "xml",
            Format::TimedLines => "timed_lines",
        }
    }
}

/// A text, taken apart.
pub(super) struct Document {
    pub format: Format,
    pub turns: Vec<Turn>,
    /// What nobody said. Only shown where there is nothing else.
    pub removed: Option<Turn>,
    pub removed_cues: usize,
}

/// Takes a text apart. What is no format that we know is plain text, whole; a file of captions
/// that have no text is none.
pub(super) fn read(text: &str) -> Document {
    let found = match text.trim_start().as_bytes().first() {
        Some(b'{') => json::read(text).map(|lines| (Format::Json, lines)),
        Some(b'<') => xml::read(text).map(|lines| (Format::Xml, lines)),
        // A script, a list of segments, or a time in brackets.
        Some(b'[') => ass::read(text)
            .map(|lines| (Format::Cues, lines))
            .or_else(|| json::read(text).map(|lines| (Format::Json, lines))),
        Some(b'D') => ass::read(text).map(|lines| (Format::Cues, lines)),
        _ => None,
    };
    let found = found.or_else(|| cues::read(text).map(|lines| (Format::Cues, lines)));
    let found = found.or_else(|| timed::read(text).map(|lines| (Format::TimedLines, lines)));
    match found {
        Some((format, lines)) => document(format, lines),
        None => Document {
            format: Format::Plain,
            turns: plain::read(text),
            removed: None,
            removed_cues: 0,
        },
    }
}

fn document(format: Format, mut lines: Lines) -> Document {
    let before = lines.cues();
    rolling::merge(&mut lines);
    let removed = hallucinations::remove(&mut lines);
    Document {
        format,
        removed_cues: before.saturating_sub(lines.cues()),
        turns: lines.turns(),
        removed,
    }
}
