//! Cleaning of transcripts: pure, text in and values out. It never opens a file or a connection.
//!
//! [`clean`] takes a text apart into turns (`formats`), cleans each turn by rules (`rules`), and prints
//! the turns as paragraphs. What holds for every text:
//!
//! - no word is added and none changes its place: what comes out is what came in without some of it;
//! - what was cleaned stays as it is when it is cleaned again;
//! - the work is linear in the length of the text.
//!
//! A wrong removal costs the reader more than a filler that stays: in doubt, a word is kept.
//!
//! [`punctuation`] then adds the punctuation of a language model, where the operator wants that.
//!
//! ```
//! let clean = transcript::clean("um i think the the plan is good").unwrap();
//! assert_eq!(clean.text, "I think the plan is good.");
//! assert_eq!(clean.counts.removed_words, 2);
//! ```

mod counts;
mod formats;
pub mod punctuation;
mod rules;
#[cfg(test)]
mod tests;
mod turn;
mod unicode;
mod word_lists;

use std::{collections::HashSet, ops::Range};

pub use counts::CleaningCounts;
pub use formats::TranscriptFormat;
use rules::TextStyle;
use turn::Turn;

/// The most passes after the first, until the result stays as it is. Once is nearly always enough:
/// what is left by the first pass seldom looks like something else.
const MAX_MORE_PASSES: usize = 4;

/// A text that was cleaned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanTranscript {
    /// The text; never empty.
    pub text: String,
    /// Counts of what was found and removed.
    pub counts: CleaningCounts,
    /// The ranges of the text that were spoken, turn by turn: without the names before them, and without code.
    spoken: Vec<Range<usize>>,
}

/// The reason why a text was not cleaned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CleaningError {
    /// Most of it are characters that text does not have.
    #[error("the input looks binary")]
    Binary,
    /// Nothing in it can be read.
    #[error("the input has no words to read; a caption file needs captions with text")]
    Empty,
}

/// Cleans a transcript, whatever format it has.
pub fn clean(text: &str) -> Result<CleanTranscript, CleaningError> {
    if unicode::is_binary(text) {
        return Err(CleaningError::Binary);
    }
    let normal = unicode::normal(text);
    let (mut clean, mut spoken, mut counts) = pass(&normal);
    if clean.is_empty() {
        return Err(CleaningError::Empty);
    }
    let mut is_stable = clean == normal;
    let mut names = None;
    for _ in 0..MAX_MORE_PASSES {
        if is_stable {
            break;
        }
        let (again, spoken_again, more) = pass(&clean);
        if again.is_empty() {
            // What was left looks like a caption without text.
            return Err(CleaningError::Empty);
        }
        counts.removed_words += more.removed_words;
        is_stable = again == clean;
        // Where nothing changes, the first look is the better one: it knows who spoke.
        if !is_stable {
            let names = names.get_or_insert_with(|| labels(&clean, &spoken));
            (clean, spoken) = (again, spoken_again);
            for range in &mut spoken {
                skip_label(&clean, range, names);
            }
        }
    }
    counts.words = words(&clean);
    Ok(CleanTranscript { text: clean, counts, spoken })
}

/// The speakers' names as they are printed before what was spoken.
fn labels(text: &str, spoken: &[Range<usize>]) -> HashSet<String> {
    let labels = spoken.iter().map(|range| {
        let before = &text[..range.start];
        &before[before.rfind("\n\n").map_or(0, |at| at + 2)..]
    });
    labels.filter(|label| !label.is_empty()).map(str::to_owned).collect()
}

/// Moves a range behind the name that the first pass found there: a name is none of the words.
fn skip_label(text: &str, range: &mut Range<usize>, labels: &HashSet<String>) {
    let spoken = &text[range.clone()];
    let end = spoken.find(": ").map(|at| at + 2);
    if let Some(end) = end.filter(|end| labels.contains(&spoken[..*end])) {
        range.start += end;
    }
}

/// Counts the words of a clean text: it has no spaces but ASCII's, and ends with none.
fn words(clean: &str) -> usize {
    let is_space = |byte: u8| byte <= b' ';
    clean.as_bytes().windows(2).filter(|pair| !is_space(pair[0]) & is_space(pair[1])).count() + 1
}

/// Takes a text apart, cleans its turns and prints them. Where the rules leave nothing, what was
/// said is printed as it is: a recording of music is better called `[Music]` than nothing.
fn pass(text: &str) -> (String, Vec<Range<usize>>, CleaningCounts) {
    let document = formats::read(text);
    let style = TextStyle::of(&document.turns);
    let mut counts = CleaningCounts::new(document.format, style.language);
    counts.removed_cues = document.removed_cues;
    let mut out =
        String::with_capacity(document.turns.iter().map(|turn| turn.text.len() + 8).sum());
    let mut spoken = Vec::with_capacity(document.turns.len());
    for turn in &document.turns {
        let clean = |out: &mut String| counts.removed_words += rules::clean(turn, style, out);
        let range = print(&mut out, turn, clean);
        spoken.extend(range.filter(|_| !turn.verbatim));
    }
    if out.is_empty() {
        counts = CleaningCounts::new(document.format, style.language);
        for turn in document.turns.iter().chain(&document.removed) {
            print(&mut out, turn, |out| turn::push_spaced(out, &turn.text));
        }
    }
    counts.turns = document.turns.len();
    (out, spoken, counts)
}

/// Prints a turn as a paragraph and returns the range of its text; a turn without text leaves no trace.
fn print(out: &mut String, turn: &Turn, text: impl FnOnce(&mut String)) -> Option<Range<usize>> {
    let before = out.len();
    if before > 0 {
        out.push_str("\n\n");
    }
    if let Some(speaker) = &turn.speaker {
        turn::push_spaced(out, speaker);
        out.push_str(": ");
    }
    let start = out.len();
    text(out);
    if out.len() == start {
        out.truncate(before);
        return None;
    }
    Some(start..out.len())
}
