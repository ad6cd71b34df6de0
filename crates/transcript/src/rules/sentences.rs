//! Finds where sentences begin and end, and mends a text that does not say so.

use super::{
    language::{Language, LanguageEvidence},
    token::{self, StopMark, TokenFlag, WordToken},
};
use crate::{turn::Turn, word_lists::COMMON};

/// The words that are looked at to guess the language.
const SAMPLE_WORDS: usize = 4_000;
/// A text with fewer ends of sentences than one in so many words has none.
const MAX_SENTENCE_WORDS: usize = 100;

/// The style of a whole text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TextStyle {
    /// The language whose lists are used.
    pub language: Language,
    /// True if sentences do not end.
    has_no_ends: bool,
    /// True if there are no capitals.
    has_no_capitals: bool,
}

impl TextStyle {
    /// Looks at all turns.
    pub(crate) fn of(turns: &[Turn]) -> Self {
        let mut evidence = LanguageEvidence::default();
        let (mut words, mut ends, mut capitals) = (0_usize, 0_usize, false);
        for turn in turns.iter().filter(|turn| !turn.verbatim) {
            capitals |= turn.text.chars().any(char::is_uppercase);
            for piece in turn.text.split_ascii_whitespace() {
                words += 1;
                if words <= SAMPLE_WORDS {
                    evidence.add(token::key(piece.trim_matches(|c: char| !c.is_alphanumeric())));
                }
                ends += usize::from(is_end(piece));
            }
        }
        Self {
            language: evidence.language(),
            has_no_ends: ends * MAX_SENTENCE_WORDS < words,
            has_no_capitals: !capitals,
        }
    }
}

/// Gives a text its capitals and its last full stop, where it has none at all.
pub(super) fn mend(tokens: &mut [WordToken], style: TextStyle) {
    if style.has_no_capitals {
        let mut begins = false;
        for token in tokens.iter_mut() {
            if begins && can_be_capital(token) {
                token.set(TokenFlag::Capital);
            }
            begins = ends(token);
        }
    }
    if !style.has_no_ends && !style.has_no_capitals {
        return;
    }
    if let Some(first) = tokens.first_mut()
        && can_be_capital(first)
    {
        first.set(TokenFlag::Capital);
    }
    if style.language == Language::English {
        for token in tokens.iter_mut().filter(|token| is_pronoun(token)) {
            token.set(TokenFlag::Capital);
        }
    }
    if style.has_no_ends
        && let Some(last) = tokens.last_mut()
    {
        last.stop = last.stop.or_else(|| full_stop(last));
    }
}

/// `i`, and `i'm` and the like.
fn is_pronoun(token: &WordToken) -> bool {
    let word = token.word();
    let is_one = word == "i"
        || matches!(word, "i'm" | "i'll" | "i've" | "i'd" | "i’m" | "i’ll" | "i’ve" | "i’d");
    is_one
        && !token.is(TokenFlag::Code)
        && token.before().is_empty()
        && matches!(token.after(), "" | ",")
}

/// True if a capital would not change what a word is: not that of an address, a name like `iPhone` or code.
pub(super) fn can_be_capital(token: &WordToken) -> bool {
    let word = token.word();
    !token.is(TokenFlag::Code)
        && word.starts_with(char::is_lowercase)
        && word.chars().all(|letter| letter.is_lowercase() || matches!(letter, '\'' | '’' | '-') || !has_case(letter))
        && word.chars().all(|letter| letter.is_alphabetic() || matches!(letter, '\'' | '’' | '-'))
        && token.before().chars().all(|mark| matches!(mark, '"' | '\'' | '“' | '‘' | '«' | '(' | '¿' | '¡' | '„'))
        && !token.after().starts_with(['/', '@', '_', '=', '('])
        // One letter has one capital: `ß` does not.
        && word.chars().next().is_some_and(|letter| letter.to_uppercase().count() == 1)
}

fn has_case(letter: char) -> bool {
    letter.is_lowercase() || letter.is_uppercase()
}

/// True if a sentence ends with this token.
pub(super) fn ends(token: &WordToken) -> bool {
    token.stop.is_some() || is_end(token.text)
}

/// True if a sentence ends with this piece of text, which has no space in it.
pub(crate) fn is_end(piece: &str) -> bool {
    // Nearly every piece ends with a letter.
    if piece.as_bytes().last().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b',') {
        return false;
    }
    let bare = piece.trim_end_matches(['"', '\'', '”', '’', '»', ')', ']', '*', '_']);
    match bare.chars().next_back() {
        Some('.') => {
            let word =
                bare.trim_end_matches('.').trim_start_matches(|c: char| !c.is_alphanumeric());
            !word.is_empty() && !is_abbreviation(word)
        }
        Some(last) => {
            matches!(last, '!' | '?' | '…' | '。' | '！' | '？' | '।' | '؟' | '۔' | '։')
        }
        None => false,
    }
}

/// True if a full stop behind this word is part of it: an abbreviation, or one letter as in `J. Smith`.
fn is_abbreviation(word: &str) -> bool {
    let mut letters = word.chars();
    let is_initial = letters.next().is_some_and(char::is_uppercase) && letters.next().is_none();
    let is_listed = || COMMON.abbreviations.iter().any(|one| one.eq_ignore_ascii_case(word));
    is_initial && word != "I" || is_listed()
}

/// The full stop that belongs behind this token, if one does. Nothing is put behind an address.
fn full_stop(token: &WordToken) -> Option<StopMark> {
    let text = token.text;
    if token.is(TokenFlag::Code)
        || text.contains("://")
        || text.contains('@')
        || text.contains("www.")
    {
        return None;
    }
    let last = text.trim_end_matches(['"', '”', '’', '»', ')']).chars().next_back()?;
    match last {
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' => Some(StopMark::Ideographic),
        '\u{900}'..='\u{97f}' => Some(StopMark::Danda),
        // Thai, Lao, Tibetan, Burmese and Khmer have other ways.
        '\u{e00}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => None,
        last if last.is_alphanumeric() || matches!(last, '%' | '$' | '€' | '£' | '\'') => {
            Some(StopMark::Full)
        }
        _ => None,
    }
}
