//! Marks for what is heard and not said: `[Music]`, `(laughter)`, `♪`.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memchr3_iter};

use crate::word_lists::COMMON;

/// The longest mark, in bytes.
const MAX_MARK_BYTES: usize = 80;

/// The most words of a mark that has others than the above.
const MAX_OTHER_WORDS: usize = 4;

/// The text without marks.
pub(super) fn without(text: &str) -> Cow<'_, str> {
    let notes = has_notes(text);
    let brackets =
        memchr3_iter(b'[', b'(', b'*', text.as_bytes()).any(|at| mark(text, at).is_some());
    if !notes && !brackets {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = 0;
    for at in memchr3_iter(b'[', b'(', b'*', text.as_bytes()) {
        if at >= rest
            && let Some(end) = mark(text, at)
        {
            out.push_str(&text[rest..at]);
            rest = end;
        }
    }
    out.push_str(&text[rest..]);
    if notes {
        out = out.replace(['♪', '♫', '♬', '♩', '🎵', '🎶'], " ");
    }
    Cow::Owned(out)
}

/// True if there are notes. Most text has none of their first bytes, and is not looked at letter by letter.
fn has_notes(text: &str) -> bool {
    memchr2(0xe2, 0xf0, text.as_bytes())
        .is_some_and(|at| text[at..].contains(['♪', '♫', '♬', '♩', '🎵', '🎶']))
}

/// The end of the mark that begins here, if one does. It stands by itself: `a[0]` and `f(x)` are no marks.
fn mark(text: &str, at: usize) -> Option<usize> {
    let stands_alone = text[..at]
        .chars()
        .next_back()
        .is_none_or(|before| before.is_whitespace() || matches!(before, ']' | ')' | '♪' | '>'));
    if !stands_alone {
        return None;
    }
    let open = text.as_bytes()[at];
    let close = match open {
        b'[' => b']',
        b'(' => b')',
        _ => b'*',
    };
    let bytes = &text.as_bytes()[at + 1..];
    let length = memchr(close, &bytes[..bytes.len().min(MAX_MARK_BYTES)])?;
    let inside = text.get(at + 1..at + 1 + length)?;
    let end = at + length + 2;
    let follows = text[end..].chars().next();
    if follows.is_some_and(|next| next.is_alphanumeric() || matches!(next, '(' | '_' | '=')) {
        return None;
    }
    // A full stop of its own goes with it, unless it ends what is before.
    is_mark(inside, open == b'[').then_some(end)
}

fn is_mark(inside: &str, is_square: bool) -> bool {
    let (mut words, mut heard, mut perhaps, mut between) = (0, 0, 0, 0);
    let mut ends_heard = false;
    for word in inside.split([' ', ',', '/']).filter(|word| !word.is_empty()) {
        words += 1;
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let is_heard = COMMON.heard.contains(word);
        heard += usize::from(is_heard);
        let is_perhaps = !is_heard && COMMON.perhaps_heard.contains(word);
        perhaps += usize::from(is_perhaps);
        between += usize::from(COMMON.between_heard.contains(word));
        ends_heard = is_heard || (is_perhaps && ends_heard);
    }
    if words == heard + perhaps + between && heard + perhaps > 0 {
        return true;
    }
    is_square && ends_heard && between == 0 && words <= MAX_OTHER_WORDS
}
