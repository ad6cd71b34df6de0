//! Counts of what cleaning found and removed, for the metrics of a call.

use serde::Serialize;

use super::{formats::TranscriptFormat, rules::Language};

/// Counts of what cleaning found and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CleaningCounts {
    /// The format of the text.
    pub format: TranscriptFormat,
    /// The language whose word lists were used: `en`, `de`, `fr`, `es`, or nothing for the safe subset.
    pub language: Option<&'static str>,
    /// Paragraphs: one for each time that somebody else speaks.
    pub turns: usize,
    /// Captions that repeat others or that nobody said.
    pub removed_cues: usize,
    /// Words that were removed by the rules: fillers, stutters, loops.
    pub removed_words: usize,
    /// Words that are left.
    pub words: usize,
}

impl CleaningCounts {
    pub(super) fn new(format: TranscriptFormat, language: Language) -> Self {
        Self {
            format,
            language: language.code(),
            turns: 0,
            removed_cues: 0,
            removed_words: 0,
            words: 0,
        }
    }
}
