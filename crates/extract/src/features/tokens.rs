//! The words of names and of texts as numbers, for the table of `vocabulary.rs`.

use super::page_features::marks;
use crate::dom::Element;

/// The words of a text that are looked at, and those of them that are looked at in pairs.
const MAX_WORDS: usize = 40;
const MAX_PAIRED: usize = 12;
/// A text of so few words is also looked at as a whole.
const MAX_WHOLE: usize = 6;
/// Shorter and longer parts of names say nothing: they are made by machines.
const NAME_BYTES: std::ops::RangeInclusive<usize> = 3..=16;
/// The most of an attribute that is looked at, in bytes.
const MAX_ATTRIBUTE: usize = 400;

/// The use of a word; the same word is another token in another use.
#[derive(Clone, Copy)]
enum Use {
    Word = 1,
    Pair,
    Whole,
    Name,
    Tag,
}

/// The token of a word of a text as one of the heading above a block.
pub(crate) fn in_heading(token: u32) -> u32 {
    token ^ 0x9e37_79b9
}

fn token(kind: Use, hashes: impl Iterator<Item = u64>) -> u32 {
    let mixed = hashes.fold(kind as u64, |sum, hash| {
        (sum ^ hash).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    u32::try_from(mixed >> 32).unwrap_or(0)
}

/// The tokens of a text, each once.
pub(crate) fn of_text(text: &str) -> Vec<u32> {
    let words: Vec<u64> = marks(text).take(MAX_WORDS).collect();
    let mut tokens: Vec<u32> =
        words.iter().map(|word| token(Use::Word, std::iter::once(*word))).collect();
    let paired = &words[..words.len().min(MAX_PAIRED)];
    tokens.extend(paired.windows(2).map(|pair| token(Use::Pair, pair.iter().copied())));
    if words.len() <= MAX_WHOLE {
        tokens.push(token(Use::Whole, words.iter().copied()));
    }
    distinct(tokens)
}

/// The tokens of the tag and of the names of an element, each once.
pub(crate) fn of_element(element: &Element) -> Vec<u32> {
    let mut tokens = vec![token(Use::Tag, marks(&element.name.local))];
    for attribute in &element.attributes {
        if !matches!(&*attribute.name.local, "class" | "id" | "itemprop" | "data-testid" | "role") {
            continue;
        }
        let value = &*attribute.value;
        for name in value.get(..MAX_ATTRIBUTE).unwrap_or(value).split_ascii_whitespace() {
            let mut before = None;
            for part in parts(name) {
                let hash = marks(part).next().unwrap_or(0);
                tokens.push(token(Use::Name, std::iter::once(hash)));
                if let Some(before) = before.replace(hash) {
                    tokens.push(token(Use::Name, [before, hash].into_iter()));
                }
            }
        }
    }
    distinct(tokens)
}

/// The parts of a name: `postBody`, `post-body` and `post_body2` have two.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(|one: char| !one.is_ascii_alphabetic())
        .flat_map(|run| {
            let bytes = run.as_bytes();
            let mut start = 0;
            let ends = (1..=bytes.len()).filter(move |end| {
                *end == bytes.len()
                    || (bytes[end - 1].is_ascii_lowercase() && bytes[*end].is_ascii_uppercase())
            });
            ends.map(move |end| &run[std::mem::replace(&mut start, end)..end])
        })
        .filter(|part| NAME_BYTES.contains(&part.len()))
}

fn distinct(mut tokens: Vec<u32>) -> Vec<u32> {
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}

#[cfg(test)]
mod tests {
    use super::{of_text, parts};

    #[test]
    fn names_are_cut_into_words() {
        let cut = |name| parts(name).collect::<Vec<_>>();
        assert_eq!(cut("postBody"), ["post", "Body"]);
        assert_eq!(cut("c-post_body2--xl"), ["post", "body"]);
        assert!(cut("").is_empty());
    }

    #[test]
    fn a_short_text_is_also_one_token() {
        assert_eq!(of_text("Read more").len(), 4);
        assert_eq!(of_text("read MORE!"), of_text("Read more"));
        assert_eq!(of_text("one two three four five six seven").len(), 13);
    }
}
