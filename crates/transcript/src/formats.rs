//! The formats of transcripts: recognised by the content and taken apart into turns.
//!
//! Every format but plain text becomes [`captions::Lines`] first, so that repetitions are merged and
//! speakers found in one place.

mod ass;
mod captions;
mod cues;
mod hallucinations;
mod json;
mod json_words;
mod markup;
mod plain;
mod rolling;
mod series;
mod speaker;
mod timed_line;
mod timed_lines;
mod timestamp;
mod xml;

use captions::Captions;
use serde::{Deserialize, Serialize};

use super::turn::Turn;

/// The format of a text, by its name in the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranscriptFormat {
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

/// A text, taken apart.
pub(super) struct ParsedTranscript {
    pub format: TranscriptFormat,
    pub turns: Vec<Turn>,
    /// Captions that nobody said. Only shown where there is nothing else.
    pub removed: Option<Turn>,
    pub removed_cues: usize,
}

/// Takes a text apart. What is no format that we know is plain text, whole; a file of captions
/// that have no text is none.
pub(super) fn read(text: &str) -> ParsedTranscript {
    let found = match text.trim_start().as_bytes().first() {
        Some(b'{') => json::read(text).map(|lines| (TranscriptFormat::Json, lines)),
        Some(b'<') => xml::read(text).map(|lines| (TranscriptFormat::Xml, lines)),
        // A script, a list of segments, or a time in brackets.
        Some(b'[') => ass::read(text)
            .map(|lines| (TranscriptFormat::Cues, lines))
            .or_else(|| json::read(text).map(|lines| (TranscriptFormat::Json, lines))),
        Some(b'D') => ass::read(text).map(|lines| (TranscriptFormat::Cues, lines)),
        _ => None,
    };
    let found = found.or_else(|| cues::read(text).map(|lines| (TranscriptFormat::Cues, lines)));
    let found = found
        .or_else(|| timed_lines::read(text).map(|lines| (TranscriptFormat::TimedLines, lines)));
    match found {
        Some((format, lines)) => document(format, lines),
        None => ParsedTranscript {
            format: TranscriptFormat::Plain,
            turns: plain::read(text),
            removed: None,
            removed_cues: 0,
        },
    }
}

fn document(format: TranscriptFormat, mut lines: Captions) -> ParsedTranscript {
    let before = lines.cues();
    rolling::merge(&mut lines);
    let removed = hallucinations::remove(&mut lines);
    ParsedTranscript {
        format,
        removed_cues: before.saturating_sub(lines.cues()),
        turns: lines.turns(),
        removed,
    }
}
