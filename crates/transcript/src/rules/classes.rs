//! What a word is in its language, found by its key: the lists are long, and words come often.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    language::Language,
    token::{self, WordToken},
    word_lists::{
        articles, beginnings, contracted, either, links, said_again, stutters, thrice,
        without_comma,
    },
};

/// What a word may be, each by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordClass {
    Stutter = 1,
    WithoutComma = 2,
    Thrice = 4,
    Article = 8,
    Beginning = 16,
    Link = 32,
    SaidAgain = 64,
    Contracted = 128,
    Either = 256,
}

type List = fn(Language) -> &'static [&'static str];

const LISTS: [(WordClass, List); 9] = [
    (WordClass::Stutter, stutters),
    (WordClass::WithoutComma, without_comma),
    (WordClass::Thrice, thrice),
    (WordClass::Article, articles),
    (WordClass::Beginning, beginnings),
    (WordClass::Link, links),
    (WordClass::SaidAgain, said_again),
    (WordClass::Contracted, contracted),
    (WordClass::Either, either),
];

/// A word of the lists, and what it is.
type Entry = (&'static str, u16);

static CLASSES: LazyLock<[HashMap<u32, Entry>; Language::LISTED.len()]> = LazyLock::new(|| {
    Language::LISTED.map(|language| {
        let mut words = HashMap::new();
        for (class, list) in LISTS {
            for word in list(language) {
                words.entry(token::key(word)).or_insert((*word, 0)).1 |= class as u16;
            }
        }
        words
    })
});

/// Whether a word is this in a language.
pub(super) fn is(token: &WordToken, class: WordClass, language: Language) -> bool {
    let Some(index) = Language::LISTED.iter().position(|listed| *listed == language) else {
        return false;
    };
    CLASSES[index]
        .get(&token.key)
        .is_some_and(|(word, classes)| classes & class as u16 != 0 && token.is_word(word))
}
