//! Sentences that tell a model what to do: the rules of `phrases.yaml`.

use std::sync::LazyLock;

use contract::Severity;
use regex::Regex;
use serde::{Deserialize, Deserializer, de::Error as _};

use super::{SuspiciousText, invisible, shown};

/// The file of the rules, which is part of the binary.
#[derive(Deserialize)]
pub(super) struct PhraseRules {
    pub rules: Vec<PhraseRule>,
    #[cfg(test)]
    pub honest: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct PhraseRule {
    pub name: String,
    what: String,
    #[serde(with = "SeverityWord")]
    severity: Severity,
    /// An honest error or message may say this too: only a description has no use for it.
    #[serde(default)]
    common: bool,
    /// Matched against the folded text with its punctuation, or against folded words.
    #[serde(default)]
    punctuation: bool,
    #[serde(deserialize_with = "pattern")]
    pattern: Regex,
    #[cfg(test)]
    #[serde(default)]
    pub examples: Vec<String>,
}

#[derive(Deserialize)]
#[serde(remote = "Severity", rename_all = "lowercase")]
enum SeverityWord {
    Warning,
    Error,
}

/// A pattern whose words begin and end where those of ASCII do: the boundaries of all scripts make it many times as
/// large, and slow wherever a text has one letter that is not of ASCII.
fn pattern<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Regex, D::Error> {
    let source = String::deserialize(deserializer)?.replace(r"\b", r"(?-u:\b)");
    Regex::new(&source).map_err(D::Error::custom)
}

pub(super) static PHRASES: LazyLock<PhraseRules> = LazyLock::new(|| {
    serde_saphyr::from_str(include_str!("phrases.yaml"))
        .expect("the file is embedded, and tests read it")
});

/// Every rule that fires, once for each place.
pub(super) fn find(characters: &[char]) -> Vec<SuspiciousText> {
    find_by(characters, |_| true)
}

/// The first that no honest text of any kind has.
pub(super) fn find_instruction(characters: &[char]) -> Option<SuspiciousText> {
    let found = find_by(characters, |rule| rule.severity == Severity::Error && !rule.common);
    found.into_iter().next()
}

/// True if honest texts may break this rule.
pub(super) fn is_common(rule: &str) -> bool {
    PHRASES.rules.iter().any(|one| one.common && one.name == rule)
}

fn find_by(characters: &[char], applies: impl Fn(&PhraseRule) -> bool) -> Vec<SuspiciousText> {
    let words = FoldedText::words(characters);
    let whole = FoldedText::whole(characters);
    let mut found: Vec<SuspiciousText> = Vec::new();
    for rule in PHRASES.rules.iter().filter(|rule| applies(rule)) {
        let folded = if rule.punctuation { &whole } else { &words };
        for hit in rule.pattern.find_iter(&folded.text) {
            let range = folded.place(hit.start())..folded.place(hit.end().saturating_sub(1)) + 1;
            let known = |one: &SuspiciousText| {
                one.rule == rule.name && one.range.start < range.end && range.start < one.range.end
            };
            if found.iter().any(known) {
                continue;
            }
            let shown = shown(characters, range.clone());
            found.push(SuspiciousText {
                rule: &rule.name,
                what: &rule.what,
                pointer: String::new(),
                range,
                shown,
                severity: rule.severity,
            });
        }
    }
    found
}

/// A text made simple, and where each byte of it came from.
struct FoldedText {
    text: String,
    /// For each character of the text, where it starts there, and where it was before.
    places: Vec<(usize, usize)>,
}

impl FoldedText {
    /// Words with one space between them.
    fn words(characters: &[char]) -> Self {
        let mut folded = Self { text: String::new(), places: Vec::new() };
        for (index, one) in visible(characters) {
            match plain(one) {
                letter if letter.is_alphanumeric() || letter == '_' => folded.push(letter, index),
                _ if folded.text.ends_with(' ') || folded.text.is_empty() => {}
                _ => folded.push(' ', index),
            }
        }
        folded
    }

    /// The text with its punctuation.
    fn whole(characters: &[char]) -> Self {
        let mut folded = Self { text: String::new(), places: Vec::new() };
        for (index, one) in visible(characters) {
            folded.push(plain(one), index);
        }
        folded
    }

    fn push(&mut self, one: char, place: usize) {
        self.places.push((self.text.len(), place));
        self.text.push(one);
    }

    fn place(&self, byte: usize) -> usize {
        let index = self.places.partition_point(|(start, _)| *start <= byte);
        index.checked_sub(1).map_or(0, |index| self.places[index].1)
    }
}

/// The visible characters, and the letters that tag characters spell.
fn visible(characters: &[char]) -> impl Iterator<Item = (usize, char)> {
    characters.iter().enumerate().filter_map(|(index, one)| match invisible::spelled(*one) {
        Some(letter) => Some((index, letter)),
        None if invisible::is_invisible(*one) && !one.is_whitespace() => None,
        None => Some((index, *one)),
    })
}

/// A character as the small Latin one that it looks like.
fn plain(one: char) -> char {
    let one = match one {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(one) - 0xfee0).unwrap_or(one),
        // Letters of mathematics come in alphabets of 52.
        '\u{1d400}'..='\u{1d6a3}' => {
            let letter = (u32::from(one) - 0x1d400) % 26;
            char::from_u32(u32::from('a') + letter).unwrap_or(one)
        }
        'а' | 'А' => 'a',
        'е' | 'Е' | 'ё' => 'e',
        'о' | 'О' => 'o',
        'р' | 'Р' => 'p',
        'с' | 'С' => 'c',
        'у' | 'У' => 'y',
        'х' | 'Х' => 'x',
        'і' | 'І' => 'i',
        'ѕ' | 'Ѕ' => 's',
        'ј' | 'Ј' => 'j',
        'ԁ' => 'd',
        'ո' => 'n',
        one => one,
    };
    one.to_lowercase().next().unwrap_or(one)
}
