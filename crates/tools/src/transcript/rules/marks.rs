//! Marks for what is heard and not said: `[Music]`, `(laughter)`, `♪`.

use std::borrow::Cow;

use memchr::{memchr, memchr3_iter};

/// The longest mark, in bytes.
const MAX_MARK_BYTES: usize = 80;

/// What is heard. In square brackets one of these is enough, in round ones every word must be here.
const HEARD: &[&str] = &[
    "ambient",
    "aplausos",
    "applaudissements",
    "applaus",
    "applause",
    "audience",
    "audio",
    "background",
    "bark",
    "barking",
    "barks",
    "beep",
    "beeping",
    "beeps",
    "blank_audio",
    "cheering",
    "cheers",
    "chuckle",
    "chuckles",
    "chuckling",
    "clapping",
    "claps",
    "clears",
    "click",
    "clicks",
    "cough",
    "coughing",
    "coughs",
    "cries",
    "crosstalk",
    "crowd",
    "crying",
    "dramatic",
    "exhales",
    "gasp",
    "gasps",
    "gelächter",
    "groans",
    "heiterkeit",
    "inhales",
    "instrumental",
    "jingle",
    "klatschen",
    "lachen",
    "lacht",
    "laugh",
    "laughing",
    "laughs",
    "laughter",
    "musik",
    "musique",
    "music",
    "música",
    "no_speech",
    "noise",
    "noises",
    "pause",
    "phone",
    "playing",
    "rings",
    "ringing",
    "rires",
    "risas",
    "rit",
    "ríe",
    "screaming",
    "screams",
    "sighing",
    "sighs",
    "silence",
    "silencio",
    "silence_audio",
    "singing",
    "sneezes",
    "snorts",
    "sniffs",
    "soft",
    "sound",
    "sounds",
    "static",
    "theme",
    "throat",
    "toux",
    "upbeat",
    "wind",
];

/// The text without marks.
pub(super) fn without(text: &str) -> Cow<'_, str> {
    let notes = text.contains(['♪', '♫', '♬', '♩', '🎵', '🎶']);
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

/// Where the mark ends that begins here, if one does. It stands by itself: `a[0]` and `f(x)` are no marks.
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
    let mut words = inside.split([' ', ',', '/']).filter(|word| !word.is_empty()).peekable();
    words.peek()?;
    let is_heard = |word: &str| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        HEARD.iter().any(|heard| {
            heard.eq_ignore_ascii_case(word) || (!word.is_ascii() && *heard == word.to_lowercase())
        })
    };
    let is_mark = if open == b'[' { words.any(is_heard) } else { words.all(is_heard) };
    // A full stop of its own goes with it, unless it ends what is before.
    is_mark.then_some(end)
}
