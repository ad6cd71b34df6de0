//! The word lists of `words/*.yaml`. The files are part of the binary and say what each list is for.

use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

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
    pub no_names: WordList,
    pub name_particles: WordList,
    pub invented_captions: Vec<String>,
    pub farewells: Vec<String>,
    pub label_words: WordList,
    pub label_names: WordList,
}

pub(crate) static COMMON: LazyLock<CommonLists> =
    LazyLock::new(|| parse(include_str!("../words/any.yaml")));

/// The lists of one language: `words/en.yaml` and its siblings. Any of them may be missing.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct LanguageLists {
    pub sounds: WordList,
    asides: String,
    pub before_like: WordList,
    pub frequent: WordList,
    #[serde(flatten)]
    classes: BTreeMap<WordClass, WordList>,
}

impl LanguageLists {
    /// The asides, each as its words.
    pub(crate) fn asides(&self) -> Vec<Vec<&str>> {
        let phrases = self.asides.split(',').map(|phrase| phrase.split_whitespace().collect());
        phrases.filter(|words: &Vec<&str>| !words.is_empty()).collect()
    }

    /// The words of these lists with their classes as bits, each by its key.
    pub(crate) fn classes(&self, key: impl Fn(&str) -> u32) -> HashMap<u32, (&str, u16)> {
        let mut words = HashMap::new();
        for (class, list) in &self.classes {
            for word in list.iter() {
                words.entry(key(word)).or_insert((word, 0)).1 |= *class as u16;
            }
        }
        words
    }
}

/// A list that says how a repeated word is judged. A word may be on several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WordClass {
    #[serde(rename = "stutters")]
    Stutter = 1,
    WithoutComma = 2,
    Thrice = 4,
    #[serde(rename = "articles")]
    Article = 8,
    #[serde(rename = "beginnings")]
    Beginning = 16,
    #[serde(rename = "links")]
    Link = 32,
    SaidAgain = 64,
    Contracted = 128,
    Either = 256,
    Unfinished = 512,
    #[serde(rename = "openings")]
    Opening = 1_024,
}

/// The lists of a language; those of a language that we do not know are empty.
pub(crate) fn of(language: Language) -> &'static LanguageLists {
    static LISTS: LazyLock<[LanguageLists; Language::KNOWN.len()]> =
        LazyLock::new(|| FILES.map(parse));
    static NONE: LazyLock<LanguageLists> = LazyLock::new(LanguageLists::default);
    LISTS.get(language as usize).unwrap_or(&NONE)
}

/// The file of each language, in the order of [`Language::KNOWN`].
const FILES: [&str; Language::KNOWN.len()] = [
    include_str!("../words/en.yaml"),
    include_str!("../words/de.yaml"),
    include_str!("../words/fr.yaml"),
    include_str!("../words/es.yaml"),
    include_str!("../words/pt.yaml"),
    include_str!("../words/it.yaml"),
    include_str!("../words/nl.yaml"),
];

fn parse<T: DeserializeOwned>(yaml: &str) -> T {
    serde_saphyr::from_str(yaml).expect("the word lists are embedded, and tests read them")
}
