//! Tokens: what stands between spaces, and what a person would call one thing in it.
//!
//! A question offers every token whole, and without what only surrounds it: sentence marks, quotes,
//! brackets, a possessive `'s`. It never offers a part of an id, a path or an address, for that is the
//! name of something else.

use super::letters::{is_letter, is_unspaced};

/// What may surround a token at its start, and is no part of it.
const OPENING: &[char] =
    &['(', '[', '{', '<', '"', '\'', '`', ',', ';', ':', '!', '?', '#', '@', '|'];
/// What may follow a token, and is no part of it.
const CLOSING: &[char] =
    &[')', ']', '}', '>', '"', '\'', '`', ',', ';', ':', '!', '?', '.', '|', '/'];
/// What emphasises where it stands on both sides.
const EMPHASIS: &[char] = &['*', '_', '~', '`'];
/// What divides a list, a pair of key and value, or a piece of JSON.
const DIVIDERS: &[char] =
    &[',', ';', '=', '"', '`', '{', '}', '[', ']', '(', ')', '<', '>', '|', '\''];
/// How many marks are taken off one end.
const MAX_MARKS: usize = 6;

/// One token of a normalised text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    /// What is written.
    pub text: &'a str,
    /// Whether it is of a script without spaces.
    pub is_unspaced: bool,
    /// Whether it is one by itself: not the rest of something that goes on in another script.
    pub is_whole: bool,
}

/// The tokens of a normalised text. A boundary also lies where a script without spaces begins or ends.
pub(super) fn split(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for chunk in chunks(text) {
        let mut start = 0;
        let kinds = chunk.char_indices().map(|(at, one)| (at, is_unspaced(one)));
        let mut kinds = kinds.peekable();
        while let Some((_, kind)) = kinds.next() {
            let Some((at, next)) = kinds.peek().copied() else { break };
            if kind != next {
                tokens.push(token(chunk, start, at, kind));
                start = at;
            }
        }
        let kind = chunk[start..].starts_with(is_unspaced);
        tokens.push(token(chunk, start, chunk.len(), kind));
    }
    tokens
}

/// What stands between spaces, and between marks that no id has in it.
pub(super) fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let is_between =
        |one: char| one.is_whitespace() || !(one.is_ascii() || is_letter(one) || is_unspaced(one));
    text.split(is_between).filter(|chunk| !chunk.is_empty())
}

fn token(chunk: &str, start: usize, end: usize, is_unspaced: bool) -> Token<'_> {
    // `备份/etc/hosts` has no `/etc/hosts` in it, nor `a.example/秘密` an `a.example`.
    let text = &chunk[start..end];
    let goes_on = end < chunk.len() && text.ends_with(goes_on);
    let comes_from = start > 0 && text.starts_with(goes_on_from);
    Token { text, is_unspaced, is_whole: is_unspaced || !(goes_on || comes_from) }
}

/// Whether an id that has this at its end goes on.
fn goes_on(one: char) -> bool {
    matches!(one, '/' | '-' | '_' | '.' | '\\' | '@' | '=' | '&' | '%' | '#' | '~' | '+')
}

/// Whether an id that has this at its start began before.
fn goes_on_from(one: char) -> bool {
    goes_on(one) || one == ':'
}

/// Gives everything that a token of a question stands for.
pub(super) fn offer<'a>(token: &'a str, sink: &mut dyn FnMut(&'a str)) {
    trims(token, sink);
    if let Some(at) = token.find("://") {
        let before = token[..at].trim_end_matches(|one: char| one.is_ascii_alphanumeric());
        // `url=https://…`, `[see](https://…)`: from the scheme on. `git+https://…` is another.
        if before.ends_with(DIVIDERS) || before.ends_with(':') {
            trims(&token[before.len()..], sink);
        }
        return;
    }
    let has_query = token.trim_end_matches(CLOSING).contains('?');
    if token.contains('\\') || has_query {
        return;
    }
    for piece in pieces(token) {
        trims(piece, sink);
        if let Some((key, value)) = pair(piece) {
            trims(key, sink);
            trims(value, sink);
        }
    }
}

/// `key:value`, taken apart: one colon, and no address of another machine.
pub(super) fn pair(piece: &str) -> Option<(&str, &str)> {
    let (key, value) = piece.split_once(':')?;
    let is_key = key.len() > 1 && key.starts_with(|one: char| one.is_alphanumeric());
    let is_value = value.starts_with(|one: char| one.is_alphanumeric()) && !value.contains(':');
    (is_key && is_value).then_some((key, value))
}

/// The pieces of a token between dividers, without those that are a part of something longer.
fn pieces(token: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    let ends = token.match_indices(DIVIDERS).map(|(at, _)| at).chain([token.len()]);
    let ranges = ends.map(move |end| {
        let range = start..end;
        start = end + 1;
        range
    });
    ranges.filter(|range| !range.is_empty()).filter_map(move |range| {
        let piece = &token[range.clone()];
        let is_apostrophe = |at: usize| {
            let around = (token[..at].chars().next_back(), token[at + 1..].chars().next());
            token[at..].starts_with('\'')
                && matches!(around, (Some(a), Some(b)) if is_letter(a) && is_letter(b))
        };
        let is_cut = (range.start > 0 && is_apostrophe(range.start - 1))
            || (range.end < token.len() && is_apostrophe(range.end))
            || (range.start > 0 && is_rest(&token[..range.start], piece))
            || is_begun(&token[range.end..]);
        (!is_cut).then_some(piece)
    })
}

/// Whether a piece is the rest of what stood in brackets or quotes before it: `(a)/b`.
fn is_rest(before: &str, piece: &str) -> bool {
    let mut marks = before.chars().rev();
    let is_closed = match marks.next() {
        Some(')' | ']' | '}' | '>') => true,
        Some('"' | '`' | '\'') => marks.next().is_some_and(is_letter),
        _ => false,
    };
    is_closed && !piece.starts_with(is_letter)
}

/// Whether what follows a piece carries it on: `"a"-b`.
fn is_begun(after: &str) -> bool {
    let mut marks = after.chars();
    let is_closed = matches!(marks.next(), Some(')' | ']' | '}' | '>' | '"' | '`' | '\''));
    is_closed && marks.next().is_some_and(goes_on) && marks.next().is_some_and(is_letter)
}

/// A token, and the same without what surrounds it, one mark after the other.
fn trims<'a>(token: &'a str, sink: &mut dyn FnMut(&'a str)) {
    let mut from = token.strip_prefix("...").filter(|rest| rest.starts_with(is_letter));
    from = from.or(Some(token));
    for _ in 0..=MAX_MARKS {
        let Some(text) = from else { return };
        tails(text, sink);
        from = text.strip_prefix(OPENING).or_else(|| price(text));
    }
}

/// `$5` is five.
fn price(text: &str) -> Option<&str> {
    text.strip_prefix('$').filter(|rest| rest.starts_with(|one: char| one.is_ascii_digit()))
}

fn tails<'a>(token: &'a str, sink: &mut dyn FnMut(&'a str)) {
    let mut to = Some(token);
    for _ in 0..=MAX_MARKS {
        let Some(text) = to.filter(|text| !text.is_empty()) else { return };
        sink(text);
        let mut inner = text;
        for _ in 0..3 {
            let Some(less) = emphasised(inner) else { break };
            sink(less);
            inner = less;
        }
        to = text.strip_suffix("'s").or_else(|| text.strip_suffix(CLOSING));
    }
}

/// `**this**` without one pair of its marks.
fn emphasised(text: &str) -> Option<&str> {
    let mark = text.chars().next().filter(|mark| EMPHASIS.contains(mark))?;
    text.strip_prefix(mark)?.strip_suffix(mark).filter(|rest| !rest.is_empty())
}

/// A token of an argument without the sentence mark at its end.
pub(super) fn plain(token: &str) -> &str {
    let plain = token.trim_end_matches(['.', ',', '?', '!']);
    if plain.is_empty() { token } else { plain }
}

/// Whether a token names something in particular, or does something: an id, a number, an address, a
/// path, a piece of a command. Words may have apostrophes and hyphens between their letters.
pub(super) fn is_special(token: &str) -> bool {
    let mut before = None;
    let mut rest = token.chars().peekable();
    while let Some(one) = rest.next() {
        let is_between =
            before.is_some_and(is_letter) && rest.peek().copied().is_some_and(is_letter);
        let is_word = match one {
            '\'' | '-' => is_between,
            _ => is_letter(one) && !one.is_numeric(),
        };
        if !is_word {
            return true;
        }
        before = Some(one);
    }
    false
}
