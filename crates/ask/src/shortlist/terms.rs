//! The terms of a text: what a search compares.
//!
//! Words are split where people see a boundary: at anything but letters and digits, at the capitals of
//! `camelCase`, between letters and digits. They lose their English endings, so that `policies` finds `policy`.
//! Scripts without spaces are read two characters at a time. An identifier is also read by its shape, `policy-0`
//! for `policy-002`, so that a question with one finds the tool that shows another as its example.

use std::collections::HashSet;

use crate::text::{folded, is_unspaced, visible, words};

/// The greatest length of a term, in bytes. A longer one is cut, and still finds itself.
const MAX_TERM_BYTES: usize = 64;
/// Shorter words than this keep their endings.
const MIN_STEM: usize = 3;

/// English words that say nothing of what a question is about, sorted.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but",
    "by", "can", "could", "did", "do", "does", "each", "for", "from", "had", "has", "have", "he",
    "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "may", "me", "more",
    "must", "my", "no", "not", "of", "on", "one", "only", "or", "our", "out", "please", "s", "say",
    "says", "shall", "she", "should", "so", "some", "such", "t", "tell", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "use", "used",
    "uses", "using", "very", "was", "we", "were", "what", "when", "which", "who", "whose", "why",
    "will", "with", "would", "you", "your",
];

/// The terms of a text, in its order.
pub(super) fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for piece in identifiers(&visible(text)) {
        for word in piece.split(['-', '_']).filter(|word| !word.is_empty()) {
            add_word(word, &mut terms);
        }
        terms.extend(shape(piece));
    }
    for term in &mut terms {
        term.truncate(term.floor_char_boundary(MAX_TERM_BYTES));
    }
    terms
}

/// The shapes of all identifiers of a text.
pub(crate) fn shapes(text: &str) -> HashSet<String> {
    identifiers(&visible(text)).filter_map(shape).collect()
}

/// Words, and what is like one: letters and digits with `-` and `_` between them.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split(|one: char| !(one.is_alphanumeric() || matches!(one, '-' | '_')));
    pieces.map(|piece| piece.trim_matches(['-', '_'])).filter(|piece| !piece.is_empty())
}

/// Adds the parts of a word, and the word itself where it has several.
fn add_word(word: &str, terms: &mut Vec<String>) {
    let parts: Vec<&str> = parts(word).collect();
    for part in &parts {
        let small = folded(part);
        // A letter by itself, or what cannot be seen, says nothing.
        let is_letter = small.len() < 2 && small.bytes().all(|byte| byte.is_ascii_lowercase());
        if part.starts_with(is_unspaced) {
            terms.extend(pairs(&small));
        } else if !is_letter && !is_stop_word(&small) {
            terms.push(stem(&small));
        }
    }
    // `iPhone15` is also looked for as it is written. Without spaces, parts are no such thing.
    if parts.len() > 1 && !word.chars().any(is_unspaced) {
        terms.push(folded(word));
    }
}

/// The words of a name in small letters: `searchText` and `search_text` are two.
pub(crate) fn split_name(name: &str) -> Vec<String> {
    words(name).flat_map(parts).map(folded).collect()
}

fn parts(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let (part, after) = rest.split_at(boundary(rest));
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

/// Where the first part of a word ends: of one kind of character, and `HTTPServer` is two.
fn boundary(word: &str) -> usize {
    let mut characters = word.char_indices().peekable();
    let Some((_, mut before)) = characters.next() else { return 0 };
    while let Some((at, one)) = characters.next() {
        let is_hump = before.is_lowercase() && one.is_uppercase();
        let is_last_capital = before.is_uppercase()
            && one.is_uppercase()
            && characters.peek().is_some_and(|(_, next)| next.is_lowercase());
        let is_other_kind =
            before.is_numeric() != one.is_numeric() || is_unspaced(before) != is_unspaced(one);
        if is_hump || is_last_capital || is_other_kind {
            return at;
        }
        before = one;
    }
    word.len()
}

/// Two characters at a time; a single one by itself.
fn pairs(part: &str) -> Vec<String> {
    let characters: Vec<char> = part.chars().collect();
    let pairs = characters.windows(characters.len().clamp(1, 2));
    pairs.map(|pair| pair.iter().collect()).collect()
}

/// An identifier with every number in it as `0`, if it has letters and digits both.
fn shape(piece: &str) -> Option<String> {
    if !piece.bytes().any(|byte| byte.is_ascii_digit()) || !piece.contains(char::is_alphabetic) {
        return None;
    }
    let mut shape = String::new();
    for one in folded(piece).chars() {
        match one {
            '0'..='9' if shape.ends_with('0') => {}
            '0'..='9' => shape.push('0'),
            _ => shape.push(one),
        }
    }
    Some(shape)
}

/// True if a word, in small letters, says nothing of what a question is about.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// An English word in small letters without its ending. It need not be a word, only the same one for all forms.
pub(crate) fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    if word.len() <= MIN_STEM || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return stem;
    }
    let is_plural =
        word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    if is_plural {
        stem.pop();
    }
    for ending in ["ing", "ed"] {
        let Some(rest) = stem.strip_suffix(ending) else { continue };
        if rest.len() >= MIN_STEM && rest.bytes().any(|byte| b"aeiouy".contains(&byte)) {
            stem.truncate(rest.len());
            // `planned` is of `plan`, but `called` is of `call`.
            if let [.., one, other] = stem.as_bytes()
                && one == other
                && !b"aeioulsz".contains(other)
            {
                stem.pop();
            }
            break;
        }
    }
    // `policie(s)` and `policy`, `copi(ed)` and `copy`: all end in `i` now.
    if stem.len() > MIN_STEM && stem.ends_with('e') {
        stem.pop();
    }
    if stem.len() > MIN_STEM && stem.ends_with('y') {
        stem.pop();
        stem.push('i');
    }
    stem
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_read_as_its_terms() {
        let long = "x".repeat(1_000);
        for (text, expected) in [
            ("Search the open tickets.", &["search", "open", "ticket"][..]),
            ("fetch_sharepoint_doc", &["fetch", "sharepoint", "doc"]),
            ("getUserById", &["get", "user", "id", "getuserbyid"]),
            ("HTTPServer", &["http", "server", "httpserver"]),
            ("server.list-tools/v2", &["server", "list", "tool", "2", "v2", "v0"]),
            ("--dry-run --", &["dry", "run"]),
            ("Größe GRÖSSE", &["grösse", "grösse"]),
            ("ｆｕｌｌ\u{200b}width", &["fullwidth"]),
            ("what is the a of", &[]),
            ("", &[]),
            // Identifiers have a shape.
            ("policy-002", &["polici", "002", "policy-0"]),
            ("INC12345", &["inc", "12345", "inc12345", "inc0"]),
            ("as in (policy-001).", &["polici", "001", "policy-0"]),
            ("2024-05-01", &["2024", "05", "01"]),
            // Scripts without spaces are read in pairs.
            ("検索結果", &["検索", "索結", "結果"]),
            ("天気 API", &["天気", "api"]),
            ("查", &["查"]),
            ("GitHub検索", &["git", "hub", "検索"]),
            ("한국어", &["한국", "국어"]),
            (&long, &[&long[..MAX_TERM_BYTES]]),
        ] {
            assert_eq!(terms(text), expected, "{text:?}");
        }
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for words in [
            &["policy", "policies"][..],
            &["file", "files", "filing", "filed"],
            &["search", "searches", "searching", "searched"],
            &["create", "creates", "creating", "created"],
            &["plan", "plans", "planning", "planned"],
            &["call", "calls", "calling", "called"],
            &["copy", "copies", "copied", "copying"],
            &["box", "boxes"],
            &["class", "classes"],
            &["ticket", "tickets"],
            &["schedule", "scheduled", "scheduling"],
        ] {
            for word in words {
                assert_eq!(stem(word), stem(words[0]), "{word}");
            }
        }
        for word in ["status", "process", "analysis", "string", "ring", "red", "bus", "größe", "id"]
        {
            assert_eq!(stem(word), word, "only looks like a form");
        }
    }

    #[test]
    fn stop_words_are_known() {
        assert!(STOP_WORDS.iter().all(|word| is_stop_word(word)));
        assert!(!["find", "th", "thee", "", "a\0", "something"].into_iter().any(is_stop_word));
    }

    proptest! {
        #[test]
        fn any_text_has_terms_within_limits(text in any::<String>()) {
            for term in terms(&text) {
                prop_assert!(!term.is_empty() && term.len() <= MAX_TERM_BYTES, "{:?}", term);
            }
        }
    }
}
