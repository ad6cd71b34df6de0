//! Cuts a turn into chunks that a model can take in.

use std::ops::Range;

use crate::rules::is_end;

/// A piece that ends with a sentence has at least one in so many of the characters that it may have.
const LEAST_PART: usize = 4;

/// A part of one turn that a model is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Its position in the text, without space around it.
    pub range: Range<usize>,
    /// Its ends that cut a sentence.
    pub cut: SentenceCut,
}

/// The ends of a chunk that cut a sentence in two: an answer knows nothing of what comes before or behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SentenceCut {
    /// It begins in the middle of a sentence, because the one before it ended there.
    pub begins_within: bool,
    /// It ends in the middle of a sentence, because there was no better place.
    pub ends_within: bool,
}

/// The pieces of a turn, one after the other: at ends of sentences where there are any, otherwise between
/// words. None is longer than so many characters.
pub(super) struct Chunks<'a> {
    text: &'a str,
    rest: Range<usize>,
    max_characters: usize,
    begins_within: bool,
}

impl<'a> Chunks<'a> {
    /// The pieces of the part of the text that is one turn.
    pub(super) fn new(text: &'a str, turn: Range<usize>, max_characters: usize) -> Self {
        Self { text, rest: turn, max_characters: max_characters.max(1), begins_within: false }
    }
}

impl Iterator for Chunks<'_> {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        let rest = &self.text[self.rest.clone()];
        let start = self.rest.start + (rest.len() - rest.trim_start().len());
        let rest = rest.trim();
        if rest.is_empty() {
            return None;
        }
        let (length, at_end) = cut(rest, self.max_characters);
        let piece = rest[..length].trim_end();
        let is_last = length == rest.len();
        let chunk = Chunk {
            range: start..start + piece.len(),
            cut: SentenceCut {
                begins_within: self.begins_within,
                ends_within: !is_last && !at_end,
            },
        };
        self.begins_within = chunk.cut.ends_within;
        self.rest.start = start + length;
        Some(chunk)
    }
}

/// The length of the first chunk in bytes, and whether a sentence ends there.
fn cut(text: &str, max_characters: usize) -> (usize, bool) {
    let Some((window, _)) = text.char_indices().nth(max_characters) else {
        return (text.len(), true);
    };
    // The character behind it shows whether the last word is whole.
    let after = text[window..].chars().next().map_or(0, char::len_utf8);
    let window = &text[..window + after];
    let least = window.len() / LEAST_PART;
    let mut spaces = window.char_indices().rev().filter(|(_, one)| one.is_whitespace()).peekable();
    let last_space = spaces.peek().map(|(at, _)| *at);
    for (at, space) in spaces {
        if at < least {
            break;
        }
        let before = &window[..at];
        let word = before.rfind(char::is_whitespace).map_or(before, |from| before[from..].trim());
        if space == '\n' || is_end(word) {
            return (at, true);
        }
    }
    // Scripts without spaces have ends of sentences all the same.
    let wide = window.char_indices().rev().find(|(_, one)| matches!(one, '。' | '！' | '？'));
    if let Some((at, end)) = wide
        && at + end.len_utf8() < window.len()
        && at >= least
    {
        return (at + end.len_utf8(), true);
    }
    let window = window.len() - after;
    (last_space.filter(|at| *at > 0).unwrap_or(window), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, max_characters: usize) -> Vec<(&str, bool, bool)> {
        Chunks::new(text, 0..text.len(), max_characters)
            .map(|one| (&text[one.range.clone()], one.cut.begins_within, one.cut.ends_within))
            .collect()
    }

    #[test]
    fn pieces_end_with_sentences_where_they_can() {
        assert_eq!(pieces("One two.", 100), [("One two.", false, false)]);
        assert_eq!(
            pieces("One two. Three four. Five.", 21),
            [("One two. Three four.", false, false), ("Five.", false, false)]
        );
        assert_eq!(
            pieces("Dr. Smith is in. Nobody else.", 20),
            [("Dr. Smith is in.", false, false), ("Nobody else.", false, false)]
        );
        assert_eq!(
            pieces("one two three four", 10),
            [("one two", false, true), ("three four", true, false)]
        );
        assert_eq!(
            pieces("one two\nthree", 9),
            [("one two", false, false), ("three", false, false)]
        );
        assert_eq!(
            pieces("你好。我是你的朋友", 6),
            [("你好。", false, false), ("我是你的朋友", false, false)]
        );
        assert_eq!(pieces("aaaaaaa", 3).len(), 3);
        assert_eq!(pieces("  ", 3), []);
    }

    #[test]
    fn nothing_is_lost_and_nothing_is_too_long() {
        let text =
            "Ähm, one  two. Three\n\nfour five… six (seven) eight 9.5 ten. 你好。 eleven".repeat(7);
        for max_characters in [1, 2, 5, 17, 60, 10_000] {
            let all = pieces(&text, max_characters);
            let joined: String = all.iter().map(|(piece, ..)| *piece).collect();
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(bare(&joined), bare(&text));
            assert!(all.iter().all(|(piece, ..)| piece.chars().count() <= max_characters));
        }
    }
}
