//! The terms of a text: what a search compares.
//!
//! Words are split where people see a boundary: at anything but letters and digits, at the capitals of
//! `camelCase`, between letters and digits. Scripts without spaces are read two characters at a time.
//! An identifier is also read by its shape, `policy-0` for `policy-002`, so that a question with one
//! finds the tool that shows another as its example.

use crate::text::{folded, is_unspaced, visible};

use super::stem;

/// How long a term may be, in bytes. What is longer is cut, and still finds itself.
const MAX_TERM_BYTES: usize = 64;

/// Gives each term of a text, in its order, until the sink wants no more.
pub(super) fn each(text: &str, sink: &mut dyn FnMut(&str) -> bool) {
    let text = visible(text);
    let mut buffer = String::new();
    for piece in text.split(|one: char| !is_inside(one)) {
        let piece = piece.trim_matches(['-', '_']);
        if piece.is_empty() {
            continue;
        }
        // Nearly every word is of small letters alone.
        let wants_more = if piece.bytes().all(|byte| byte.is_ascii_lowercase()) {
            single(piece, &mut buffer, sink)
        } else {
            words(piece, &mut buffer, sink) && shape(piece, &mut buffer, sink)
        };
        if !wants_more {
            return;
        }
    }
}

/// What is between the marks of an identifier, or a single word.
fn words(piece: &str, buffer: &mut String, sink: &mut dyn FnMut(&str) -> bool) -> bool {
    for word in piece.split(['-', '_']).filter(|word| !word.is_empty()) {
        let mut parts = 0;
        let mut rest = word;
        while !rest.is_empty() {
            let (part, after) = rest.split_at(boundary(rest));
            let wants_more = match rest.chars().next() {
                Some(first) if is_unspaced(first) => pairs(part, sink),
                _ => single(part, buffer, sink),
            };
            if !wants_more {
                return false;
            }
            parts += 1;
            rest = after;
        }
        // `iPhone15` is also looked for as it is written. Without spaces, parts are no such thing.
        if parts > 1 && !word.chars().any(is_unspaced) {
            lower(word, buffer);
            if !sink(cut(buffer)) {
                return false;
            }
        }
    }
    true
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

/// One word in small letters without its ending, unless it says nothing.
fn single(part: &str, buffer: &mut String, sink: &mut dyn FnMut(&str) -> bool) -> bool {
    lower(part, buffer);
    let says_nothing = buffer.len() < 2 && buffer.bytes().all(|byte| byte.is_ascii_lowercase());
    if says_nothing || stem::is_stop_word(buffer) {
        return true;
    }
    stem::cut(buffer);
    sink(cut(buffer))
}

/// Two characters at a time; a single one by itself.
fn pairs(part: &str, sink: &mut dyn FnMut(&str) -> bool) -> bool {
    let part = folded(part);
    let starts: Vec<usize> = part.char_indices().map(|(at, _)| at).collect();
    if starts.len() < 2 {
        return sink(&part);
    }
    (0..starts.len() - 1).all(|at| {
        let end = starts.get(at + 2).copied().unwrap_or(part.len());
        sink(&part[starts[at]..end])
    })
}

/// Gives the shape of each identifier of a text.
pub(crate) fn each_shape(text: &str, sink: &mut dyn FnMut(&str)) {
    let text = visible(text);
    let mut buffer = String::new();
    for piece in text.split(|one: char| !is_inside(one)) {
        shape(piece.trim_matches(['-', '_']), &mut buffer, &mut |shape| {
            sink(shape);
            true
        });
    }
}

/// Whether a character may stand inside of an identifier; at its ends some of them are punctuation.
fn is_inside(one: char) -> bool {
    one.is_alphanumeric() || matches!(one, '-' | '_')
}

/// An identifier with every number in it as `0`: it has letters and digits both.
fn shape(piece: &str, buffer: &mut String, sink: &mut dyn FnMut(&str) -> bool) -> bool {
    if !piece.bytes().any(|byte| byte.is_ascii_digit()) || !piece.contains(char::is_alphabetic) {
        return true;
    }
    lower(piece, buffer);
    let mut shape = String::with_capacity(buffer.len());
    for one in buffer.chars() {
        match one {
            '0'..='9' if shape.ends_with('0') => {}
            '0'..='9' => shape.push('0'),
            _ => shape.push(one),
        }
    }
    sink(cut(&shape))
}

fn lower(text: &str, buffer: &mut String) {
    buffer.clear();
    if text.is_ascii() {
        buffer.push_str(text);
        buffer.make_ascii_lowercase();
    } else {
        buffer.push_str(&folded(text));
    }
}

fn cut(term: &str) -> &str {
    &term[..term.floor_char_boundary(MAX_TERM_BYTES)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        each(text, &mut |term| {
            all.push(term.to_owned());
            true
        });
        all
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(terms(text), expected, "{text:?}");
    }

    #[test]
    fn words_are_split_where_people_see_a_boundary() {
        check("Search the open tickets.", &["search", "open", "ticket"]);
        check("fetch_sharepoint_doc", &["fetch", "sharepoint", "doc"]);
        check("getUserById", &["get", "user", "id", "getuserbyid"]);
        check("HTTPServer", &["http", "server", "httpserver"]);
        check("server.list-tools/v2", &["server", "list", "tool", "2", "v2", "v0"]);
        check("--dry-run --", &["dry", "run"]);
        check("Größe GRÖSSE", &["grösse", "grösse"]);
        check("ｆｕｌｌ\u{200b}width", &["fullwidth"]);
        check("what is the a of", &[]);
        check("", &[]);
    }

    #[test]
    fn identifiers_have_a_shape() {
        check("policy-002", &["polici", "002", "policy-0"]);
        check("INC12345", &["inc", "12345", "inc12345", "inc0"]);
        check("as in (policy-001).", &["polici", "001", "policy-0"]);
        check("2024-05-01", &["2024", "05", "01"]);
    }

    #[test]
    fn scripts_without_spaces_are_read_in_pairs() {
        check("検索結果", &["検索", "索結", "結果"]);
        check("天気 API", &["天気", "api"]);
        check("查", &["查"]);
        check("GitHub検索", &["git", "hub", "検索"]);
        check("한국어", &["한국", "국어"]);
    }

    #[test]
    fn a_long_term_is_cut() {
        assert_eq!(terms(&"x".repeat(1_000)), ["x".repeat(MAX_TERM_BYTES)]);
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
