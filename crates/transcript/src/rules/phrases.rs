//! Phrases that were begun twice (`in the in the morning`).

use super::{
    language::{Language, is_on_list},
    stutters::{begins, is_free, pass_on},
    token::{self, TokenFlag, WordToken},
};
use crate::word_lists::WordClass;

/// The longest phrase that is looked for, in words.
const MAX_PHRASE: usize = 4;

/// Takes of a phrase that was begun twice the first out.
pub(super) fn remove(tokens: &mut Vec<WordToken>, language: Language) {
    for index in 1..tokens.len() {
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
                token.set(TokenFlag::Gone);
            }
        }
    }
    token::sweep(tokens);
}

/// True if the words before this one come again from here on, and the sentence goes on after that.
fn is_begun_twice(tokens: &[WordToken], index: usize, length: usize, language: Language) -> bool {
    let first = &tokens[index - length..index];
    if first[0].key != tokens[index].key || index + length >= tokens.len() {
        return false;
    }
    let second = &tokens[index..index + length];
    let is = |token: &WordToken, class: WordClass| is_on_list(token, class, language);
    let hesitates = second[0].is(TokenFlag::Hesitates);
    let last = length - 1;
    let before = (index - length).checked_sub(1).map(|at| &tokens[at]);
    let begins = begins(before);
    // Nothing ends with an article: what follows it was looked for. Nor does a part of a sentence that has just begun
    // with `we were`; not so `that is, that is to say`.
    let is_unfinished = |token: &WordToken| is(token, WordClass::Unfinished);
    let opens = |token: &WordToken| is_unfinished(token) || is(token, WordClass::Opening);
    let is_open = is(&first[last], WordClass::Article)
        || (is_unfinished(&first[0])
            && is_unfinished(&first[last])
            && (begins || before.is_some_and(opens)));
    let in_one_breath = |(at, (one, other)): (usize, (&WordToken, &WordToken))| {
        let (after, again) = (one.after(), other.after());
        let has_end = after.is_empty()
            || (at == last && after == "," && (is_open || (hesitates && begins)))
            || (at == last && hesitates && matches!(after, "..." | "…" | "—" | "–"));
        one.is_same(other)
            && has_end
            && (again.is_empty() || (at == last && again == "," && is_open))
            && is_free(one)
            && is_free(other)
            && one.stop.is_none()
    };
    if !first.iter().zip(second).enumerate().all(in_one_breath)
        || second.iter().any(|token| token.is(TokenFlag::Breaks))
        || tokens[index + length].is(TokenFlag::Breaks)
        || first.iter().any(|token| token.word().bytes().any(|byte| byte.is_ascii_digit()))
    {
        return false;
    }
    if hesitates {
        return true;
    }
    let is_beginning = is(&first[0], WordClass::Stutter) || is(&first[0], WordClass::Beginning);
    is_beginning && !is_meant(tokens, index, length, language)
}

/// Phrases that are said twice on purpose.
fn is_meant(tokens: &[WordToken], index: usize, length: usize, language: Language) -> bool {
    let (first, last) = (&tokens[index - length], &tokens[index - 1]);
    let is = |token: &WordToken, class: WordClass| is_on_list(token, class, language);
    // `he said he said nothing`, `I know I know`
    if length == 2 && is(last, WordClass::SaidAgain) {
        return true;
    }
    // `a friend of a friend of mine`
    if length > 2 && is(first, WordClass::Article) && last.word().chars().count() <= 3 {
        return true;
    }
    // `over and over and over again`, `day after day after day`; not `and I and I`
    let other = match (is(first, WordClass::Link), is(last, WordClass::Link)) {
        (true, false) => last,
        (false, true) => first,
        _ => return false,
    };
    let before = (index - length).checked_sub(1).map(|at| &tokens[at]);
    length == 2
        && !is(other, WordClass::Stutter)
        && (before.is_some_and(|before| before.is_same(last))
            || tokens[index + length].is_same(first))
}
