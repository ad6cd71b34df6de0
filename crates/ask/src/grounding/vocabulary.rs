//! The words that the rules know: those that every text has, those that deny, those that go far,
//! and those that have an opposite. English first, with the common ones of German, French,
//! Spanish and Italian.

mod lists;

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::stem::stem;

/// How a word denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Denial {
    /// It denies what stands behind it: `never`, `without`.
    Behind,
    /// It denies its noun, and with it what is done to that: `no`, `keine`.
    Noun,
    /// It denies the whole sentence: `prohibited`, `false`.
    Sentence,
}

/// A word after which something is not so, without being a denial by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// What stands behind it: `prevent`, `instead of`.
    Behind,
    /// What stands on either side of it: `failed`, `rejected`.
    Around,
}

/// How strongly something is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Modal {
    /// `must`
    Duty,
    /// `should`
    Advice,
    /// `may`
    Choice,
}

static STOPS: LazyLock<HashSet<&str>> = LazyLock::new(|| words(lists::STOPS));
static OPENERS: LazyLock<HashSet<&str>> = LazyLock::new(|| words(lists::OPENERS));
static ABBREVIATIONS: LazyLock<HashSet<&str>> = LazyLock::new(|| words(lists::ABBREVIATIONS));
static BEHIND: LazyLock<HashSet<&str>> = LazyLock::new(|| words(lists::DENY_BEHIND));
static NOUN: LazyLock<HashSet<&str>> = LazyLock::new(|| words(lists::DENY_NOUN));
static SENTENCE: LazyLock<HashSet<&str>> = LazyLock::new(|| words(lists::DENY_SENTENCE));
static BREAKS: LazyLock<HashSet<&str>> = LazyLock::new(|| words(lists::BREAKS));
static ABSOLUTES: LazyLock<HashMap<&str, usize>> = LazyLock::new(|| {
    let groups = lists::ABSOLUTES.iter().enumerate();
    groups
        .flat_map(|(group, list)| list.split_whitespace().map(move |word| (word, group)))
        .collect()
});
static CONTRASTS: LazyLock<HashMap<String, usize>> = LazyLock::new(|| stems(lists::CONTRASTS));
static SYNONYMS: LazyLock<HashMap<String, usize>> = LazyLock::new(|| stems(lists::SYNONYMS));

/// Groups by the stems of their words.
fn stems(groups: &'static [&str]) -> HashMap<String, usize> {
    let groups = groups.iter().enumerate();
    groups
        .flat_map(|(group, list)| list.split_whitespace().map(move |word| (stem(word), group)))
        .collect()
}

fn words(list: &'static str) -> HashSet<&'static str> {
    list.split_whitespace().collect()
}

/// Whether every text has this word.
pub(super) fn is_stop(key: &str) -> bool {
    STOPS.contains(key)
}

/// Whether a claim may begin with this word though its evidence does not have it.
pub(super) fn is_opener(key: &str) -> bool {
    OPENERS.contains(key) || is_stop(key)
}

/// Whether a full stop behind this word ends no sentence.
pub(super) fn is_abbreviation(word: &str) -> bool {
    let word = word.trim_matches(|one: char| !one.is_alphanumeric() && one != '.');
    let mut characters = word.chars();
    let is_letter =
        characters.next().is_some_and(char::is_alphabetic) && characters.next().is_none();
    is_letter || ABBREVIATIONS.contains(&*word.to_lowercase())
}

/// Whether a word denies, in any way.
pub(super) fn is_negation(key: &str) -> bool {
    denial(key).is_some()
}

/// How a word denies, if it does.
pub(super) fn denial(key: &str) -> Option<Denial> {
    if NOUN.contains(key) || starts(key, lists::DENY_NOUN_STARTS) {
        return Some(Denial::Noun);
    }
    if BEHIND.contains(key) || key.ends_with("n't") {
        return Some(Denial::Behind);
    }
    let is_whole = SENTENCE.contains(key) || starts(key, lists::DENY_SENTENCE_STARTS);
    is_whole.then_some(Denial::Sentence)
}

/// Whether something is not so after this word.
pub(super) fn failure(key: &str) -> Option<Failure> {
    if starts(key, lists::FAIL_BEHIND_STARTS) {
        return Some(Failure::Behind);
    }
    starts(key, lists::FAIL_AROUND_STARTS).then_some(Failure::Around)
}

fn starts(key: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| key.starts_with(start))
}

/// Whether a denial does not reach past this word.
pub(super) fn is_break(key: &str) -> bool {
    BREAKS.contains(key)
}

/// The group of a word that goes far, as `all` and `every` do.
pub(super) fn absolute(key: &str) -> Option<usize> {
    ABSOLUTES.get(key).copied()
}

/// Whether one word may stand for another, by their stems.
pub(super) fn is_synonym(one: &str, other: &str) -> bool {
    SYNONYMS.get(one).is_some_and(|group| SYNONYMS.get(other) == Some(group))
}

/// The group of a word, by its stem, that says what is done or has an opposite.
pub(super) fn contrast(stem: &str) -> Option<usize> {
    CONTRASTS.get(stem).copied()
}

/// Whether a word with an opposite says how others stand to each other, and nothing by itself.
pub(super) fn is_relation(key: &str) -> bool {
    lists::RELATIONS.contains(&key)
}

/// Whether a word makes what is said depend on something.
pub(super) fn is_condition(key: &str) -> bool {
    lists::CONDITIONS.contains(&key)
}

/// How strongly a word asks for something, if it does.
pub(super) fn modal(key: &str) -> Option<Modal> {
    match key {
        "must" | "shall" | "required" | "mandatory" | "obligatory" | "muss" | "müssen" | "doit"
        | "doivent" | "debe" | "deben" | "deve" | "devono" => Some(Modal::Duty),
        "should" | "recommended" | "advised" | "sollte" | "sollten" | "soll" | "sollen"
        | "devrait" | "devraient" | "debería" | "deberían" | "dovrebbe" => Some(Modal::Advice),
        "may" | "might" | "can" | "could" | "optional" | "optionally" | "darf" | "dürfen"
        | "kann" | "können" | "peut" | "peuvent" | "puede" | "pueden" | "può" | "possono" => {
            Some(Modal::Choice)
        }
        _ => None,
    }
}

/// Whether what stands behind a word must be so first.
pub(super) fn opens_condition(key: &str) -> bool {
    matches!(key, "if" | "provided" | "assuming" | "wenn" | "falls" | "sofern")
}

/// Whether a word stands for what was named before it.
pub(super) fn is_pronoun(key: &str) -> bool {
    matches!(
        key,
        "it" | "they"
            | "he"
            | "she"
            | "this"
            | "these"
            | "which"
            | "er"
            | "sie"
            | "es"
            | "il"
            | "elle"
            | "ils"
            | "elles"
    )
}

/// Whether a word takes something out of what is said, so that it must not be left out.
pub(super) fn is_exception(key: &str) -> bool {
    lists::EXCEPTIONS.contains(&key)
}

/// Whether a word is German and has no other meaning: nouns have capitals there.
pub(super) fn is_german(key: &str) -> bool {
    lists::GERMAN.contains(&key)
}
