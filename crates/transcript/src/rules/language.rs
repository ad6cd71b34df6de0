//! Guesses the language of a text by its most frequent words, and looks words up in its lists.

use std::{collections::HashMap, sync::LazyLock};

use super::token::{self, WordToken};
use crate::word_lists::{self, WordClass};

/// A language that is told from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Language {
    English,
    German,
    French,
    Spanish,
    Portuguese,
    Italian,
    Dutch,
    /// Any other, or too little text to tell.
    #[default]
    Other,
}

impl Language {
    /// The languages that there are words for, each at the index of its variant.
    pub(crate) const KNOWN: [Language; 7] = [
        Language::English,
        Language::German,
        Language::French,
        Language::Spanish,
        Language::Portuguese,
        Language::Italian,
        Language::Dutch,
    ];

    /// Its code, where there are lists to clean it by. The others are known only so that no list of another
    /// language is used for them.
    pub(crate) fn code(self) -> Option<&'static str> {
        match self {
            Language::English => Some("en"),
            Language::German => Some("de"),
            Language::French => Some("fr"),
            Language::Spanish => Some("es"),
            Language::Portuguese | Language::Italian | Language::Dutch | Language::Other => None,
        }
    }
}

/// The words of a language with their classes as bits, by key: words come often.
type ClassIndex = HashMap<u32, (&'static str, u16)>;

/// True if a word is on a list of a language.
pub(super) fn is_on_list(token: &WordToken, class: WordClass, language: Language) -> bool {
    static INDEX: LazyLock<[ClassIndex; Language::KNOWN.len()]> = LazyLock::new(|| {
        Language::KNOWN.map(|language| word_lists::of(language).classes(token::key))
    });
    INDEX
        .get(language as usize)
        .and_then(|words| words.get(&token.key))
        .is_some_and(|(word, classes)| classes & class as u16 != 0 && token.is_word(word))
}

/// The languages of each frequent word, as bits.
static FREQUENT: LazyLock<HashMap<u32, u8>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    for (bit, language) in Language::KNOWN.into_iter().enumerate() {
        for word in word_lists::of(language).frequent.iter() {
            *words.entry(token::key(word)).or_insert(0) |= 1 << bit;
        }
    }
    words
});

/// The evidence that the words of a text give of its language.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LanguageEvidence([u32; Language::KNOWN.len()]);

impl LanguageEvidence {
    /// Counts a word in, by its key. One that only one language has counts double.
    pub(super) fn add(&mut self, key: u32) {
        let Some(languages) = FREQUENT.get(&key) else { return };
        let weight = if languages.is_power_of_two() { 2 } else { 1 };
        for (bit, count) in self.0.iter_mut().enumerate() {
            *count += weight * u32::from(languages >> bit & 1);
        }
    }

    /// True if it says anything at all.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }

    /// The language, if one is ahead of all others.
    pub(super) fn language(&self) -> Language {
        let most = self.0.iter().copied().max().unwrap_or(0);
        let mut best = self.0.iter().zip(Language::KNOWN).filter(|(count, _)| **count == most);
        match (best.next(), best.next()) {
            (Some((count, language)), None) if *count > 0 => language,
            _ => Language::Other,
        }
    }
}
