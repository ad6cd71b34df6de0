//! Words and phrases that were begun twice, and words that were cut off (`th- the`).

use super::{
    language::Language,
    token::{self, Token, same_letters},
    word_lists::{beginnings, stutters},
};

/// The longest phrase that is looked for, in words.
const MAX_PHRASE: usize = 4;
/// The longest part of a word that was cut off, in letters.
const MAX_FRAGMENT: usize = 4;

/// Takes stutters out: the last of the repetitions stays, with the capital of the first.
pub(super) fn remove(tokens: &mut Vec<Token>, language: Language) {
    fragments(tokens);
    if language == Language::Other {
        return;
    }
    // Twice, because a phrase may repeat only once the words in it do not.
    words(tokens, language);
    phrases(tokens, language);
}

fn fragments(tokens: &mut Vec<Token>) {
    for index in 1..tokens.len() {
        let (fragment, next) = (tokens[index - 1], tokens[index]);
        if matches!(fragment.after(), "-" | "—" | "–")
            && is_free(&fragment)
            && fragment.word().chars().all(char::is_alphabetic)
            && fragment.word().chars().count() <= MAX_FRAGMENT
            && !next.breaks
            && !next.is_code
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

fn words(tokens: &mut Vec<Token>, language: Language) {
    let list = stutters(language);
    for index in 1..tokens.len() {
        let (first, second) = (tokens[index - 1], tokens[index]);
        if first.key == second.key
            && first.is_same(&second)
            && matches!(first.after(), "" | "," | "..." | "…" | "—" | "–")
            && is_free(&first)
            && is_free(&second)
            && !second.breaks
            && first.stop.is_none()
            && list.iter().any(|word| is_word(&first, word))
            && !is_letter(tokens, index, language)
        {
            pass_on(tokens, index - 1, index);
        }
    }
    token::sweep(tokens);
}

/// Letters are spelled out in capitals: `A A A battery`.
fn is_letter(tokens: &[Token], index: usize, language: Language) -> bool {
    let word = tokens[index].word();
    let is_pronoun = language == Language::English && word == "I";
    word.chars().count() == 1 && word.chars().all(char::is_uppercase) && !is_pronoun
}

fn phrases(tokens: &mut Vec<Token>, language: Language) {
    for index in 2..tokens.len() {
        // Nearly no word is the same as one of the few before it.
        let before = &tokens[index.saturating_sub(MAX_PHRASE)..index];
        if !before.iter().any(|token| token.key == tokens[index].key) {
            continue;
        }
        let lengths = (2..=MAX_PHRASE.min(index)).rev();
        let found =
            lengths.into_iter().find(|length| is_begun_twice(tokens, index, *length, language));
        if let Some(length) = found {
            pass_on(tokens, index - length, index);
            for token in &mut tokens[index - length..index] {
                token.gone = true;
            }
        }
    }
    token::sweep(tokens);
}

/// Whether the words before this one come again from here on, and the sentence goes on after that.
fn is_begun_twice(tokens: &[Token], index: usize, length: usize, language: Language) -> bool {
    let first = &tokens[index - length..index];
    if first[0].key != tokens[index].key || index + length >= tokens.len() {
        return false;
    }
    let second = &tokens[index..index + length];
    let mut pairs = first.iter().zip(second);
    pairs.all(|(one, other)| {
        one.is_same(other)
            && one.after().is_empty()
            && other.after().is_empty()
            && is_free(one)
            && is_free(other)
    }) && !second.iter().any(|token| token.breaks)
        && !tokens[index + length].breaks
        && !first.iter().any(|token| token.word().bytes().any(|byte| byte.is_ascii_digit()))
        && stutters(language)
            .iter()
            .chain(beginnings(language))
            .any(|word| is_word(&first[0], word))
}

/// Whether a token may be judged: still there, no code, nothing before it.
fn is_free(token: &Token) -> bool {
    !token.gone && !token.is_code && token.before().is_empty() && !token.word().is_empty()
}

fn is_word(token: &Token, word: &str) -> bool {
    let said = token.word();
    same_letters(said, word) || (said.contains('’') && same_letters(&said.replace('’', "'"), word))
}

/// Takes the first out, and gives its capital to the second.
fn pass_on(tokens: &mut [Token], first: usize, second: usize) {
    let was = tokens[first];
    tokens[first].gone = true;
    let is_capital = was.capital || was.word().starts_with(char::is_uppercase);
    let next = &mut tokens[second];
    if is_capital && next.word().starts_with(char::is_lowercase) {
        next.capital = true;
    }
}
