//! When two words are forms of one, and which words carry a search.
//!
//! Kinship is by endings that a language has, never by a common beginning: `police` is no `policy`
//! and `Martina` no `Martin`.

use crate::shortlist;

use super::letters;

/// The shortest word that takes an ending of another language than English, in bytes.
const MIN_WORD: usize = 5;
/// The shortest German noun that does, where it could be a name, in bytes.
const MIN_NOUN: usize = 7;

/// The stem of an English word in small letters.
pub(super) fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    shortlist::cut(&mut stem);
    // `encrypt` and `encryption`, `migrate` and `migration`, `approve` and `approval`.
    let noun = ["ation", "ption", "ction"].iter().any(|ending| stem.ends_with(ending));
    if noun && stem.len() >= MIN_WORD + 3 {
        stem.truncate(stem.len() - 3);
    }
    // `notify` and `notification`, `manage` and `management`.
    if stem.ends_with("ificat") {
        stem.truncate(stem.len() - 3);
    }
    if let Some(rest) = stem.strip_suffix("ment").filter(|rest| rest.len() >= MIN_WORD) {
        stem.truncate(rest.trim_end_matches('e').len());
    }
    if stem.ends_with("val") && stem.len() >= MIN_WORD + 2 {
        stem.truncate(stem.len() - 2);
    }
    stem
}

/// Whether a word is one of some others with or without an ending of German, French or Spanish.
pub(super) fn has_other_form(word: &str, is_there: &dyn Fn(&str) -> bool, is_noun: bool) -> bool {
    let least = if is_noun { MIN_NOUN } else { MIN_WORD };
    ["e", "en", "n", "es", "s"].iter().any(|ending| {
        let is_plain = |word: &str| word.len() >= least;
        let shorter = word.strip_suffix(ending).filter(|shorter| is_plain(shorter));
        // `s` makes another name of a name: Roberts.
        let is_name = is_noun && ending.ends_with('s');
        !is_name
            && (shorter.is_some_and(is_there)
                || (is_plain(word) && is_there(&format!("{word}{ending}"))))
    })
}

/// Whether a question is in German, where every noun has a capital.
pub(super) fn is_german(words: &[&str]) -> bool {
    let is_german = |word: &&&str| GERMAN.contains(*word);
    words.iter().filter(is_german).take(2).count() == 2
}

/// Small words of German, without the marks on their letters.
const GERMAN: &[&str] = &[
    "der", "die", "das", "und", "wir", "wie", "ist", "den", "dem", "ein", "eine", "einen", "fur",
    "mit", "von", "auf", "nicht", "welche", "welcher", "welches", "wo", "zeige", "zeig", "suche",
    "finde", "nach", "zu", "zur", "zum", "im", "uber", "alle", "mir", "bitte", "gibt", "es",
    "lange", "sind", "ich", "uns", "unsere",
];

/// Other words for the stems of a group: what people say and what documents say.
pub(super) fn synonyms(stem: &str) -> impl Iterator<Item = &'static str> {
    SYNONYMS
        .iter()
        .filter(move |group| group.contains(&stem))
        .flat_map(|group| group.iter().copied())
}

/// In stems.
const SYNONYMS: &[&[&str]] = &[
    &["keep", "kept", "retain", "retention", "stor", "storag", "preserv"],
    &["delet", "remov", "eras"],
    &["holidai", "vacation", "leav"],
    &["sick", "ill", "illness", "sickness"],
    &["laptop", "notebook", "comput"],
    &["error", "failur", "fail", "bug"],
    &["outag", "downtim", "down"],
    &["login", "signin", "logon"],
    &["doc", "document"],
    &["pic", "photo", "pictur", "imag"],
    &["bewahren", "aufbewahren", "aufbewahrung"],
    &["hir", "recruit", "recruitment"],
    &["allow", "permit", "permission"],
    &["buy", "bought", "purchas"],
    &["pai", "paid", "payment"],
    &["tag", "label"],
    &["slow", "slowli", "slowness", "delai", "latenci", "lag"],
];

/// Whether a word says nothing of what a search is about.
pub(super) fn is_stop(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// Whether a word could be added to any search without changing what it is about.
pub(super) fn is_light(word: &str) -> bool {
    let stem = stem(word);
    LIGHT.contains(&stem.as_str()) || LIGHT.contains(&&*letters::bare(word))
}

/// In stems.
const LIGHT: &[&str] = &[
    "system",
    "depart",
    "team",
    "polici",
    "document",
    "documentation",
    "guid",
    "guidelin",
    "rul",
    "information",
    "info",
    "detail",
    "overview",
    "proces",
    "process",
    "procedur",
    "topic",
    "thing",
    "matter",
    "issu",
    "problem",
    "request",
    "articl",
    "entri",
    "richtlini",
    "dokument",
    "abteilung",
    "politiqu",
    "servic",
];

/// Words that any two texts share, without the marks on their letters.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "by", "can", "could",
    "do", "does", "fetch", "find", "for", "from", "get", "give", "has", "have", "how", "i", "in",
    "into", "is", "it", "its", "look", "me", "my", "not", "of", "on", "or", "our", "please", "s",
    "say", "says", "search", "should", "show", "t", "tell", "that", "the", "their", "this", "to",
    "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would",
    "you", "your", "der", "die", "das", "den", "dem", "des", "und", "oder", "ein", "eine", "fur",
    "mit", "von", "zu", "zur", "zum", "im", "le", "la", "les", "de", "du", "des", "et", "ou", "un",
    "une", "el", "los", "las", "del", "y", "en", "para", "pour", "sur",
];
