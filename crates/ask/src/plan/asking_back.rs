//! Whether an answer only asks the person for what is missing. Nothing was called, so nothing is known: whatever it states
//! besides would be made up, and whatever it tells the person to do comes from nobody who may.
//!
//! Everything that is not known to ask is refused. A sentence is taken apart into pieces, and each must have one of a few
//! [`forms`]: a courtesy, a question, a request for information, a sentence that says what is missing or that no tool fits,
//! or a piece that goes on with one of these.

mod forms;
mod private;
mod sentences;
#[cfg(test)]
mod tests;

use crate::policy;
use forms::{Around, Form};

/// What stands for an answer with nothing in it.
const EMPTY: &str = "an empty answer";

/// What a sentence does, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// It asks for something, or says what is missing.
    Ask,
    /// It says something besides, which alone is no question: thanks, or that no tool fits.
    Accompany,
}

/// The first sentence that does something else than asking, if there is one; of an answer that asks for nothing, the last.
pub(super) fn stating(answer: &str) -> Option<String> {
    let sentences = sentences::split(answer);
    let spoken = sentences.iter().filter(|sentence| has_words(sentence));
    let mut last = EMPTY;
    let (mut asks, mut is_list) = (false, false);
    for sentence in spoken {
        last = sentence.trim();
        match does(sentence, is_list) {
            None => return Some(last.to_owned()),
            Some(what) => asks |= what == Does::Ask,
        }
        is_list |= last.ends_with(':');
    }
    (!asks).then(|| last.to_owned())
}

/// Whether there is a word to be seen in a text. Marks alone, and the number of a line in a list, say nothing.
fn has_words(text: &str) -> bool {
    policy::visible(text).chars().any(char::is_alphabetic)
}

/// What a sentence does, if it does nothing else. The lines of a list go on with the sentence before them.
fn does(sentence: &str, is_going_on: bool) -> Option<Does> {
    let normal = policy::normal(sentence);
    if private::is_asked(&normal) {
        return None;
    }
    let is_question = normal.trim_end_matches(['"', '\'', ')', '*', ' ']).ends_with(['?', '؟']);
    if !forms::is_latin(&normal) {
        // Of other scripts, only the mark is known.
        return is_question.then_some(Does::Ask);
    }
    let names = sentences::names(sentence);
    let mut does = None;
    for piece in sentences::pieces(&normal) {
        let around = Around {
            is_question,
            is_going_on: is_going_on || does.is_some(),
            has_asked: does == Some(Does::Ask),
            joint: piece.joint,
            names: &names,
        };
        does = match forms::of(&piece.text, &around)? {
            Form::Asking => Some(Does::Ask),
            Form::NoTool | Form::Courtesy | Form::Example => does.or(Some(Does::Accompany)),
            Form::Continuation if is_going_on => does.or(Some(Does::Accompany)),
            Form::Introduction | Form::Continuation => does,
        };
    }
    does
}
