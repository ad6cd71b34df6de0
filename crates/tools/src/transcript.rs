//! Cleaning of transcripts by rules: pure, offline, text in and text out.
//!
//! A text is taken apart into turns (`formats`), each turn is cleaned (`rules`), and the turns
//! are printed as paragraphs. What holds for every text:
//!
//! - no word is added and none changes its place: what comes out is what came in without some of it;
//! - what was cleaned stays as it is when it is cleaned again;
//! - the work is linear in the length of the text.
//!
//! A wrong removal costs the reader more than a filler that stays: in doubt, a word is kept.
//!
//! Where the operator wants it, a language model then adds punctuation to what the rules left (`model`).

mod counts;
mod formats;
pub mod model;
mod rules;
#[cfg(test)]
mod tests;
mod turn;
mod unicode;

use std::{collections::HashSet, ops::Range};

pub use counts::Counts;
pub use formats::Format;
use rules::Style;
use turn::Turn;

/// How often the result is cleaned again until it stays as it is. Once is nearly always enough:
/// what is left by the first pass seldom looks like something else.
const MAX_MORE_PASSES: usize = 4;

/// A text that was cleaned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned {
    /// The text; never empty.
    pub text: String,
    /// What was found and removed.
    pub counts: Counts,
    /// What of the text was said, turn by turn: without the names before it, and without code.
    said: Vec<Range<usize>>,
}

/// Why a text was not cleaned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Most of it is no text.
    Binary,
    /// There is nothing to read in it.
    Empty,
}

/// Cleans a transcript, whatever format it has.
pub fn clean(text: &str) -> Result<Cleaned, Refusal> {
    if unicode::is_binary(text) {
        return Err(Refusal::Binary);
    }
    let normal = unicode::normal(text);
    let (mut clean, mut said, mut counts) = pass(&normal);
    if clean.is_empty() {
        return Err(Refusal::Empty);
    }
    let mut is_stable = clean == normal;
    let mut names = None;
    for _ in 0..MAX_MORE_PASSES {
        if is_stable {
            break;
        }
        let (again, said_again, more) = pass(&clean);
        if again.is_empty() {
            // What was left looks like a caption without text.
            return Err(Refusal::Empty);
        }
        counts.removed_words += more.removed_words;
        is_stable = again == clean;
        // Where nothing changes, the first look is the better one: it knows who spoke.
        if !is_stable {
            let names = names.get_or_insert_with(|| labels(&clean, &said));
            (clean, said) = (again, said_again);
            for place in &mut said {
                skip_label(&clean, place, names);
            }
        }
    }
    counts.words = words(&clean);
    Ok(Cleaned { text: clean, counts, said })
}

/// The names that stand before what was said, as they are printed.
fn labels(text: &str, said: &[Range<usize>]) -> HashSet<String> {
    let labels = said.iter().map(|place| {
        let before = &text[..place.start];
        &before[before.rfind("\n\n").map_or(0, |at| at + 2)..]
    });
    labels.filter(|label| !label.is_empty()).map(str::to_owned).collect()
}

/// A name that was one when the text was first looked at is none of the words.
fn skip_label(text: &str, place: &mut Range<usize>, labels: &HashSet<String>) {
    let said = &text[place.clone()];
    let end = said.find(": ").map(|at| at + 2);
    if let Some(end) = end.filter(|end| labels.contains(&said[..*end])) {
        place.start += end;
    }
}

/// How many words a clean text has: it has no spaces but ASCII's, and ends with none.
fn words(clean: &str) -> usize {
    let is_space = |byte: u8| byte <= b' ';
    clean.as_bytes().windows(2).filter(|pair| !is_space(pair[0]) & is_space(pair[1])).count() + 1
}

/// Takes a text apart, cleans its turns and prints them. Where the rules leave nothing, what was
/// said is printed as it is: a recording of music is better called `[Music]` than nothing.
fn pass(text: &str) -> (String, Vec<Range<usize>>, Counts) {
    let document = formats::read(text);
    let style = Style::of(&document.turns);
    let mut counts = Counts::new(document.format, style.language);
    counts.removed_cues = document.removed_cues;
    let mut out =
        String::with_capacity(document.turns.iter().map(|turn| turn.text.len() + 8).sum());
    let mut said = Vec::with_capacity(document.turns.len());
    for turn in &document.turns {
        let clean = |out: &mut String| counts.removed_words += rules::clean(turn, style, out);
        let place = print(&mut out, turn, clean);
        said.extend(place.filter(|_| !turn.verbatim));
    }
    if out.is_empty() {
        counts = Counts::new(document.format, style.language);
        for turn in document.turns.iter().chain(&document.removed) {
            print(&mut out, turn, |out| turn::push_spaced(out, &turn.text));
        }
    }
    counts.turns = document.turns.len();
    (out, said, counts)
}

/// Prints a turn as a paragraph, and tells where its text is; one without text leaves no trace.
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
