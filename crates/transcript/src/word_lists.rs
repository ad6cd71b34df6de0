//! The word lists of `words/*.yaml`. The files are part of the binary and say what each list is for.

use std::{collections::HashMap, sync::LazyLock};

use serde::{Deserialize, de::DeserializeOwned};

use crate::rules::Language;

/// Words, written with spaces between them.
#[derive(Deserialize, Default)]
#[serde(from = "String")]
pub(crate) struct WordList(Vec<String>);

impl From<String> for WordList {
    fn from(text: String) -> Self {
        Self(text.split_whitespace().map(str::to_owned).collect())
    }
}

impl WordList {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// True if a word is in the list, whatever its case.
    pub(crate) fn contains(&self, word: &str) -> bool {
        let is_ascii = word.is_ascii();
        let is_same =
            |one: &str| one.eq_ignore_ascii_case(word) || (!is_ascii && one == word.to_lowercase());
        self.iter().any(is_same)
    }
}

/// The lists for all languages: `words/any.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommonLists {
    pub sounds: WordList,
    pub also_said: WordList,
    pub heard: WordList,
    pub perhaps_heard: WordList,
    pub between_heard: WordList,
    pub abbreviations: WordList,
    pub invented_captions: Vec<String>,
    pub farewells: Vec<String>,
    pub label_words: WordList,
    pub label_names: WordList,
}

pub(crate) static COMMON: LazyLock<CommonLists> =
    LazyLock::new(|| parse(include_str!("../words/any.yaml")));

/// The lists of one language: `words/en.yaml` and its siblings. Any of them may be missing.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LanguageLists {
    pub sounds: WordList,
    asides: String,
    pub before_like: WordList,
    stutters: WordList,
    without_comma: WordList,
    thrice: WordList,
    contracted: WordList,
    either: WordList,
    articles: WordList,
    links: WordList,
    said_again: WordList,
    beginnings: WordList,
    pub frequent: WordList,
}

impl LanguageLists {
    /// The asides, each as its words.
    pub(crate) fn asides(&self) -> Vec<Vec<&str>> {
        let phrases = self.asides.split(',').map(|phrase| phrase.split_whitespace().collect());
        phrases.filter(|words: &Vec<&str>| !words.is_empty()).collect()
    }

    fn class(&self, class: WordClass) -> &WordList {
        match class {
            WordClass::Stutter => &self.stutters,
            WordClass::WithoutComma => &self.without_comma,
            WordClass::Thrice => &self.thrice,
            WordClass::Article => &self.articles,
            WordClass::Beginning => &self.beginnings,
            WordClass::Link => &self.links,
            WordClass::SaidAgain => &self.said_again,
            WordClass::Contracted => &self.contracted,
            WordClass::Either => &self.either,
        }
    }

    /// The words of these lists with their classes as bits, each by its key.
    pub(crate) fn classes(&self, key: impl Fn(&str) -> u32) -> HashMap<u32, (&str, u16)> {
        let mut words = HashMap::new();
        for class in WordClass::ALL {
            for word in self.class(class).iter() {
                words.entry(key(word)).or_insert((word, 0)).1 |= class as u16;
            }
        }
        words
    }
}

/// A list that says how a repeated word is judged. A word may be on several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordClass {
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

impl WordClass {
    const ALL: [WordClass; 9] = [
        WordClass::Stutter,
        WordClass::WithoutComma,
        WordClass::Thrice,
        WordClass::Article,
        WordClass::Beginning,
        WordClass::Link,
        WordClass::SaidAgain,
        WordClass::Contracted,
        WordClass::Either,
    ];
}

/// The lists of a language; those of a language that we do not know are empty.
pub(crate) fn of(language: Language) -> &'static LanguageLists {
    static LISTS: LazyLock<[LanguageLists; Language::KNOWN.len()]> =
        LazyLock::new(|| Language::KNOWN.map(|language| parse(file(language))));
    static NONE: LazyLock<LanguageLists> = LazyLock::new(LanguageLists::default);
    let index = Language::KNOWN.iter().position(|known| *known == language);
    index.map_or(&NONE, |index| &LISTS[index])
}

fn file(language: Language) -> &'static str {
    match language {
        Language::English => include_str!("../words/en.yaml"),
        Language::German => include_str!("../words/de.yaml"),
        Language::French => include_str!("../words/fr.yaml"),
        Language::Spanish => include_str!("../words/es.yaml"),
        Language::Portuguese => include_str!("../words/pt.yaml"),
        Language::Italian => include_str!("../words/it.yaml"),
        Language::Dutch => include_str!("../words/nl.yaml"),
        Language::Other => "{}",
    }
}

fn parse<T: DeserializeOwned>(yaml: &str) -> T {
    serde_saphyr::from_str(yaml).expect("the word lists are embedded, and tests read them")
}
