//! Words that were begun twice, and words that were cut off (`th- the`).

use super::{
    language::{Language, is_on_list},
    phrases,
    token::{self, TokenFlag, WordToken, same_letters},
};
use crate::word_lists::WordClass;

/// The longest part of a word that was cut off, in letters.
const MAX_FRAGMENT: usize = 8;
/// The repetitions from which on a word is a stutter that may be meant twice.
const THRICE: usize = 3;

/// Takes stutters out: the last of the repetitions stays, with the capital of the first.
pub(super) fn remove(tokens: &mut Vec<WordToken>, language: Language) {
    fragments(tokens);
    words(tokens, language);
    phrases::remove(tokens, language);
}

/// Takes words out that were cut off: what follows begins with them, perhaps cut off as well.
fn fragments(tokens: &mut Vec<WordToken>) {
    for index in 1..tokens.len() {
        let (fragment, next) = (&tokens[index - 1], &tokens[index]);
        if fragment.has_end()
            && matches!(fragment.after(), "-" | "—" | "–")
            && is_free(fragment)
            && fragment.word().chars().all(char::is_alphabetic)
            && fragment.word().chars().count() <= MAX_FRAGMENT
            && !next.is(TokenFlag::Breaks)
            && !next.is(TokenFlag::Code)
            && next.before().is_empty()
            && begins_with(next.word(), fragment.word())
        {
            pass_on(tokens, index - 1, index);
        }
    }
    token::sweep(tokens);
}

fn begins_with(word: &str, fragment: &str) -> bool {
    !fragment.is_empty()
        && word.get(..fragment.len()).is_some_and(|start| same_letters(start, fragment))
}

fn words(tokens: &mut Vec<WordToken>, language: Language) {
    let mut index = 1;
    while index < tokens.len() {
        let start = index - 1;
        // Nearly no word is the same as the one before it.
        if tokens[start].key != tokens[index].key {
            if is_contracted(tokens, start, language) {
                pass_on(tokens, start, index);
            }
            index += 1;
            continue;
        }
        let again = (index..tokens.len()).take_while(|at| repeats(tokens, *at)).count();
        let end = start + again;
        if again > 0
            && is_stutter(tokens, start, end, language)
            && !is_particle(&tokens[end], tokens.get(end + 1))
        {
            for at in start..end {
                pass_on(tokens, at, at + 1);
            }
        }
        index += again.max(1);
    }
    token::sweep(tokens);
}

/// True if a token is the word before it once more, in one breath.
fn repeats(tokens: &[WordToken], index: usize) -> bool {
    let (first, second) = (&tokens[index - 1], &tokens[index]);
    first.is_same(second)
        && matches!(first.after(), "" | "," | "..." | "…" | "—" | "–")
        && is_free(first)
        && is_free(second)
        && !second.is(TokenFlag::Breaks)
        && first.stop.is_none()
}

/// True if nobody says this word several times on purpose.
fn is_stutter(tokens: &[WordToken], start: usize, end: usize, language: Language) -> bool {
    let (run, last) = (&tokens[start..end], &tokens[end]);
    let first = &tokens[start];
    // `My my, how you have grown.`
    if !last.after().is_empty() || last.stop.is_some() || is_letter(first, language) {
        return false;
    }
    let is = |class: WordClass| is_on_list(first, class, language);
    let has_comma = run.iter().any(|token| token.after() == ",");
    let before = start.checked_sub(1).map(|at| &tokens[at]);
    if tokens[start + 1..=end].iter().all(|token| token.is(TokenFlag::Hesitates)) {
        let is_number = first.word().bytes().any(|byte| byte.is_ascii_digit());
        let is_said_once = begins(before) || is(WordClass::Stutter);
        return !is_number && (is_said_once || !(has_comma || is(WordClass::Either)));
    }
    // `my sister and I, I must admit`
    let joins = has_comma
        && before.is_some_and(|token| is_on_list(token, WordClass::Link, language))
        && ["i", "ich"].into_iter().any(|word| first.is_word(word));
    (is(WordClass::Stutter) && !joins && !(has_comma && is(WordClass::WithoutComma)))
        || (end - start + 1 >= THRICE && !has_comma && is(WordClass::Thrice))
}

/// True if a sentence, or a part of one, begins behind this token.
pub(super) fn begins(before: Option<&WordToken>) -> bool {
    before.is_none_or(|token| token.has_end() || token.stop.is_some())
}

/// `la maison de de Gaulle`
fn is_particle(token: &WordToken, next: Option<&WordToken>) -> bool {
    token.word() == "de" && next.is_some_and(WordToken::has_capital)
}

/// `I I've`, `they they're`.
fn is_contracted(tokens: &[WordToken], index: usize, language: Language) -> bool {
    let (first, second) = (&tokens[index], &tokens[index + 1]);
    let behind = second.text.as_bytes().get(first.length());
    // Nearly no word has an apostrophe just there.
    if !matches!(behind, Some(b'\'' | 0xe2)) {
        return false;
    }
    begins_with(second.word(), first.word())
        && second.word()[first.length()..].starts_with(['\'', '’'])
        && matches!(first.after(), "" | ",")
        && is_free(first)
        && is_free(second)
        && !second.is(TokenFlag::Breaks)
        && first.stop.is_none()
        && is_on_list(first, WordClass::Contracted, language)
}

/// Letters are spelled out in capitals: `A A A battery`.
fn is_letter(token: &WordToken, language: Language) -> bool {
    let word = token.word();
    let is_pronoun = language == Language::English && word == "I";
    word.chars().count() == 1 && word.chars().all(char::is_uppercase) && !is_pronoun
}

/// True if a token may be judged: still there, no code, nothing before it.
pub(super) fn is_free(token: &WordToken) -> bool {
    !token.is(TokenFlag::Gone)
        && !token.is(TokenFlag::Code)
        && token.before().is_empty()
        && !token.word().is_empty()
}

/// Takes the first out, and gives its capital to the second.
pub(super) fn pass_on(tokens: &mut [WordToken], first: usize, second: usize) {
    let is_capital = tokens[first].has_capital();
    tokens[first].set(TokenFlag::Gone);
    let next = &mut tokens[second];
    if is_capital && next.word().starts_with(char::is_lowercase) {
        next.set(TokenFlag::Capital);
    }
}
