//! Which language a text is in: a guess by its most frequent words.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    token,
    word_lists::{Known, frequent},
};

/// A language that there are word lists for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Language {
    English,
    German,
    French,
    Spanish,
    /// Any other, or too little text to tell.
    #[default]
    Other,
}

impl Language {
    /// Those that there are word lists for.
    pub(super) const LISTED: [Language; 4] =
        [Language::English, Language::German, Language::French, Language::Spanish];

    /// Its code, where there are lists for it.
    pub(crate) fn code(self) -> Option<&'static str> {
        match self {
            Language::English => Some("en"),
            Language::German => Some("de"),
            Language::French => Some("fr"),
            Language::Spanish => Some("es"),
            Language::Other => None,
        }
    }
}

/// For each frequent word, the languages that have it, as bits.
static WORDS: LazyLock<HashMap<u32, u8>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    for (bit, language) in Known::ALL.into_iter().enumerate() {
        for word in frequent(language) {
            *words.entry(token::key(word)).or_insert(0) |= 1 << bit;
        }
    }
    words
});

/// What the words of a text say about its language.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Evidence([u32; Known::ALL.len()]);

impl Evidence {
    /// Counts a word in, by its key. One that only one language has counts double.
    pub(super) fn add(&mut self, key: u32) {
        let Some(languages) = WORDS.get(&key) else { return };
        let weight = if languages.is_power_of_two() { 2 } else { 1 };
        for (bit, count) in self.0.iter_mut().enumerate() {
            *count += weight * u32::from(languages >> bit & 1);
        }
    }

    /// Whether it says anything at all.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }

    /// The language, if one is ahead of all others.
    pub(super) fn language(&self) -> Language {
        let most = self.0.iter().copied().max().unwrap_or(0);
        let mut best = self.0.iter().zip(Known::ALL).filter(|(count, _)| **count == most);
        match (best.next(), best.next()) {
            (Some((count, known)), None) if *count > 0 => match known {
                Known::English => Language::English,
                Known::German => Language::German,
                Known::French => Language::French,
                Known::Spanish => Language::Spanish,
                Known::Portuguese | Known::Italian | Known::Dutch => Language::Other,
            },
            _ => Language::Other,
        }
    }
}
