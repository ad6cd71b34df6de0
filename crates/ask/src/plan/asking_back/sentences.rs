//! Sentences, and the pieces that they are made of.

use std::collections::HashSet;

use crate::policy;

/// Marks that part the pieces of a sentence, in its normal form.
const MARKS: &[&str] = &[", ", "; ", ": ", " - ", "(", ")"];
/// Words that do.
const WORDS: &[&str] =
    &[" and ", " but ", " then ", " because ", " und ", " et ", " y ", " or ", " oder ", " ou "];
/// Those of them before another choice.
const CHOICES: &[&str] = &[" or ", " oder ", " ou "];
/// What stands before a list of what is missing: `Missing: doc_id`.
const LACKS: &[&str] = &["missing", "needed", "required", "unspecified"];
/// What only surrounds a word.
const AROUND: &[char] = &['"', '`', '*', '[', ']', '<', '>', '{', '}'];

/// The sentences of a text. A mark within a word ends none: `policy.md`, `1.5`.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, one)) = characters.next() {
        let next = characters.peek().copied();
        let is_end = match one {
            '\n' | '。' | '？' | '！' | '؟' => true,
            '.' if is_abbreviation(&text[start..at]) => false,
            '.' | '!' | '?' => next.is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if is_end {
            let end = next.map_or(text.len(), |(at, _)| at);
            sentences.push(&text[start..end]);
            start = end;
        }
    }
    sentences.push(&text[start..]);
    sentences
}

/// Whether a text ends with a letter that stands alone: `e.g`.
fn is_abbreviation(text: &str) -> bool {
    let mut ending = text.chars().rev();
    let is_letter = ending.next().is_some_and(char::is_alphabetic);
    is_letter && ending.next().is_none_or(|before| before == '.' || before.is_whitespace())
}

/// How a piece is joined to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Joint {
    /// It is the first.
    Start,
    /// By a mark: what follows may only say more of what stands before.
    Mark,
    /// By a word.
    Word,
    /// It is another choice, or one of a row that ends with such a one: `a, b or c`.
    Choice,
}

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// What it says, without the marks around it.
    pub text: String,
    /// How it is joined to the one before.
    pub joint: Joint,
}

/// The pieces of a normalised sentence: what stands between commas, brackets and words that join, without marks around it.
pub(super) fn pieces(sentence: &str) -> Vec<Piece> {
    // Spaces around it, so that a word that joins is found at either end, too.
    let mut rest = format!(" {sentence} ").replace(AROUND, " ").replace("  ", " ");
    for lacks in LACKS {
        rest = rest.replace(&format!(" {lacks}: "), &format!(" {lacks} "));
    }
    for part in MARKS.iter().chain(WORDS) {
        let sign = match part {
            _ if CHOICES.contains(part) => '|',
            _ if WORDS.contains(part) => '&',
            _ => ',',
        };
        // Once more for `a, b, c`, where the end of one is the start of the next.
        let joint = format!(" \n{sign} ");
        rest = rest.replace(part, &joint).replace(part, &joint);
    }
    let is_mark = |one: char| matches!(one, '.' | '!' | '?' | ',' | ';' | ':' | '-' | '•');
    let mut pieces: Vec<Piece> = Vec::new();
    let mut joint = Joint::Start;
    for line in rest.split('\n') {
        let (next, text) = match line.split_at_checked(1) {
            Some(("|", text)) => (Joint::Choice, text),
            Some(("&", text)) => (Joint::Word, text),
            Some((",", text)) => (Joint::Mark, text),
            _ => (Joint::Start, line),
        };
        // Of `, or`, the word counts.
        joint = joint.max(next);
        let text = text.trim_matches(|one: char| is_mark(one) || one.is_whitespace());
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            pieces
                .push(Piece { text, joint: if pieces.is_empty() { Joint::Start } else { joint } });
            joint = Joint::Start;
        }
    }
    for at in (1..pieces.len().saturating_sub(1)).rev() {
        if pieces[at].joint == Joint::Mark && pieces[at + 1].joint == Joint::Choice {
            pieces[at].joint = Joint::Choice;
        }
    }
    pieces
}

/// The words of a sentence that have a capital though it does not begin with them, in their normal form.
pub(super) fn names(sentence: &str) -> HashSet<String> {
    let words = sentence.split_whitespace().skip(1);
    let words = words.map(|word| word.trim_matches(|one: char| !one.is_alphanumeric()));
    let capitals = words.filter(|word| word.starts_with(char::is_uppercase) && *word != "I");
    capitals.map(policy::normal).collect()
}
