//! The words of the text with the punctuation of the answer.
//!
//! What is printed is always made of the text's own words. Sentences of the answer that have exactly these words give
//! them their punctuation; where an answer says something else, the text stays as it is up to the next
//! sentence that it got right.

use std::ops::Range;

use super::{
    align::Alignment,
    words::{Words, is_end_mark, is_mark},
};

/// More marks than this between two words are no punctuation.
const MAX_MARKS: usize = 6;

/// A piece of the text, with what the answer had to say about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Woven {
    /// The piece.
    pub text: String,
    /// How many of its words are in sentences that the answer got right.
    pub kept: usize,
}

/// Where a piece was cut, the answer knows nothing of what comes before or behind.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Edges {
    /// It begins in the middle of a sentence.
    pub begins_within: bool,
    /// It ends in the middle of one.
    pub ends_within: bool,
}

/// Puts both together.
pub(super) fn weave(
    text: &Words<'_>,
    answer: &Words<'_>,
    alignment: &Alignment,
    edges: Edges,
) -> Woven {
    let mut weaver = Weaver { text, answer, alignment, out: String::new() };
    let mut kept = 0;
    let mut start = 0;
    while start < text.len() {
        let sentence = weaver.sentence(start);
        if sentence.is_right {
            kept += sentence.words.len();
        }
        start = sentence.words.end;
        weaver.print(sentence, edges);
    }
    let is_right = kept == text.len();
    let last = weaver.alignment.places.last().copied().flatten();
    let is_known = last.is_some_and(|place| place + 1 == answer.len());
    let behind = if (is_right || is_known) && !edges.ends_within {
        answer.gap(answer.len())
    } else {
        text.gap(text.len())
    };
    let marks = behind.chars().filter(|one| is_mark(*one)).take(MAX_MARKS);
    weaver.out.extend(marks);
    Woven { text: weaver.out, kept }
}

/// Words of the text up to where a sentence of the answer ends.
struct Sentence {
    words: Range<usize>,
    /// Whether the answer has these words and no others.
    is_right: bool,
    /// Whether another one ends before it.
    begins: bool,
    /// Whether another one begins behind it.
    ends: bool,
}

struct Weaver<'a> {
    text: &'a Words<'a>,
    answer: &'a Words<'a>,
    alignment: &'a Alignment,
    out: String,
}

impl Weaver<'_> {
    fn place(&self, at: usize) -> Option<usize> {
        self.alignment.places.get(at).copied().flatten()
    }

    /// The next word from here on that was not taken out.
    fn next(&self, from: usize) -> usize {
        let removed = &self.alignment.removed;
        (from..self.text.len()).find(|at| !removed[*at]).unwrap_or(self.text.len())
    }

    /// The sentence that begins with this word.
    fn sentence(&self, start: usize) -> Sentence {
        let end = (start..self.text.len()).find_map(|at| self.border(at));
        let words = start..end.unwrap_or(self.text.len());
        Sentence {
            is_right: self.is_right(words.start, words.end),
            begins: start > 0,
            ends: end.is_some(),
            words,
        }
    }

    /// The first word of the next sentence, if one ends here in the answer: both words at the border are in it, side by
    /// side, with the end of a sentence between them. What is between two of these is judged as a whole.
    fn border(&self, at: usize) -> Option<usize> {
        let place = self.place(at)?;
        let next = self.next(at + 1);
        let is_border = next < self.text.len()
            && self.place(next) == Some(place + 1)
            && self.answer.gap(place + 1).contains(is_end_mark);
        is_border.then_some(next)
    }

    /// Whether the answer has these words and no others.
    fn is_right(&self, start: usize, end: usize) -> bool {
        let mut expected = (start == 0).then_some(0);
        for at in (start..end).filter(|at| !self.alignment.removed[*at]) {
            match (self.place(at), expected) {
                (None, _) => return false,
                (Some(place), Some(expected)) if place != expected => return false,
                (Some(place), _) => expected = Some(place + 1),
            }
        }
        end < self.text.len() || expected.is_none_or(|expected| expected == self.answer.len())
    }

    /// Prints a sentence. At its borders with others the answer is right in any case.
    fn print(&mut self, sentence: Sentence, edges: Edges) {
        let Sentence { words, is_right, begins, ends } = sentence;
        let first = words.start;
        let last = words.clone().rev().find(|at| self.place(*at).is_some());
        for at in words {
            if is_right && self.alignment.removed[at] {
                continue;
            }
            let is_start = self.out.is_empty();
            let is_cut = is_start && edges.begins_within;
            match self.place(at) {
                Some(place) if is_start && is_right && !is_cut => {
                    let marks = self.answer.gap(place).chars();
                    self.out.extend(marks.filter(|one| opens(*one)).take(MAX_MARKS));
                }
                Some(place) if !is_start && (is_right || begins && at == first) => {
                    self.gap(self.text.gap(at), self.answer.gap(place));
                }
                _ if is_start => self.out.push_str(self.text.gap(at).trim_start()),
                _ => self.out.push_str(self.text.gap(at)),
            }
            let word = self.text.word(at);
            let is_border = begins && at == first || ends && Some(at) == last;
            match self.place(at) {
                Some(place) if (is_right || is_border) && (!is_cut || is_pronoun(word)) => {
                    self.out.push_str(&self.text.spelled_as(at, self.answer.word(place)));
                }
                _ => self.out.push_str(word),
            }
        }
    }

    /// What stands between two words, by the answer.
    fn gap(&mut self, ours: &str, theirs: &str) {
        let is_spaced = ours.contains(char::is_whitespace);
        let is_strange = |one: char| !(one.is_whitespace() || is_mark(one));
        let marks = theirs.chars().filter(|one| is_mark(*one)).count();
        // What is written together stays together, and what is not does not: `well-known`.
        let is_joined = !is_spaced && !ours.is_empty() || is_spaced && theirs == "-";
        if is_joined || marks > MAX_MARKS || theirs.contains(is_strange) {
            return self.out.push_str(ours);
        }
        let ends = self.out.ends_with(is_end_mark) || theirs.starts_with(is_closed_end);
        let separator = match theirs.matches('\n').count() {
            2.. if ends => "\n\n",
            _ if ours.contains('\n') => "\n",
            _ => " ",
        };
        let mut has_space = false;
        let mut after_break = false;
        for one in theirs.chars() {
            if one.is_whitespace() {
                after_break |= one == '\n';
                if !has_space {
                    self.out.push_str(separator);
                } else if !self.out.ends_with(char::is_whitespace) {
                    self.out.push(' ');
                }
                has_space = true;
            } else if !(after_break && one == '-') {
                // A dash behind a line break is that of a list.
                self.out.push(one);
            }
        }
        // Signs that nobody takes for part of a word may stand without a space.
        let is_dash = theirs.contains(['—', '…']) || theirs.chars().any(|one| one > '\u{2fff}');
        if is_spaced && !has_space && !is_dash {
            self.out.push_str(separator);
        }
    }
}

/// Whether a mark ends a sentence, perhaps within quotes.
fn is_closed_end(one: char) -> bool {
    is_end_mark(one) || matches!(one, '"' | '”' | '»' | ')' | '」')
}

/// Whether a mark may stand before the first word.
fn opens(one: char) -> bool {
    matches!(
        one,
        '"' | '“' | '„' | '‘' | '«' | '‹' | '¿' | '¡' | '(' | '[' | '「' | '『' | '《' | '（'
    )
}

/// `I` is large wherever it stands.
fn is_pronoun(word: &str) -> bool {
    matches!(word, "i" | "i'm" | "i'll" | "i've" | "i'd")
}

#[cfg(test)]
mod tests {
    use super::{super::align::align, *};

    fn woven(text: &str, answer: &str, edges: Edges) -> Woven {
        let (text, answer) = (Words::of(text), Words::of(answer));
        let alignment = align(&text, &answer, |at| text.word(at) == "um");
        weave(&text, &answer, &alignment, edges)
    }

    #[track_caller]
    fn check(text: &str, answer: &str, expected: &str) {
        assert_eq!(woven(text, answer, Edges::default()).text, expected, "{text:?} {answer:?}");
    }

    #[test]
    fn punctuation_is_theirs() {
        check("let's eat grandma", "Let's eat, grandma!", "Let's eat, grandma!");
        check(
            "is it so he said yes",
            "\"Is it so?\", he said. \"Yes.\"",
            "\"Is it so?\", he said. \"Yes.\"",
        );
        check("one two three four", "One two.\n\nThree four.", "One two.\n\nThree four.");
        check("one two three four", "One two\n\nthree four.", "One two three four.");
        check("one two three four", "One two.\nThree four.", "One two. Three four.");
        check("one two\nthree four", "One two. Three four.", "One two.\nThree four.");
        check("你好我是小明", "你好，我是小明。", "你好，我是小明。");
        check("so um we met", "So, we met.", "So, we met.");
        check("um so we met um", "So, we met.", "So, we met.");
        check("wait what", "Wait—what?", "Wait—what?");
        check("yes go", "Yes,go.", "Yes, go.");
    }

    #[test]
    fn words_are_ours() {
        check("a well known fact", "A well-known fact.", "A well known fact.");
        check("a well-known fact", "A well known fact.", "A well-known fact.");
        check("my iPhone at 3pm", "My IPhone at 3PM.", "My iPhone at 3pm.");
        check("it's fine", "It’s fine.", "It's fine.");
        check("see a.b@c.de and x.io/Y", "See A.B@C.de and X.io/y.", "See a.b@c.de and x.io/Y.");
        check("one two three", "- One two three.", "One two three.");
        check("one two three four", "One two.\n- Three four.", "One two. Three four.");
    }

    #[test]
    fn sentences_that_are_right_stay_where_another_is_not() {
        let text = "so it works what do you think shall we go home now i am tired";
        let answer = "So it works. What to think? Shall we go home now? I am tired.";
        let found = woven(text, answer, Edges::default());
        assert_eq!(found.text, "So it works. What do you think? Shall we go home now? I am tired.");
        assert_eq!(found.kept, 11);
        check("one two three", "Four five six.", "one two three");
        check("one two three", "", "one two three");
        check("One two. Three.", "Something else entirely. And more.", "One two. Three.");
        check(
            "one two three four five six",
            "One two three. Four five six. Seven.",
            "One two three. Four five six",
        );
    }

    #[test]
    fn nothing_is_concluded_from_where_a_piece_was_cut() {
        let edges = Edges { begins_within: true, ends_within: true };
        assert_eq!(
            woven("went home and then", "Went home. And then.", edges).text,
            "went home. And then"
        );
        assert_eq!(woven("i went to the", "I went to the.", edges).text, "I went to the");
    }

    #[test]
    fn the_words_stay_whatever_the_answer_is() {
        let text = "so i paid $5.50 to bob-smith at 3pm and he's fine isn't he yes 你好 um the end";
        let bare = |text: &str| {
            let words = Words::of(text);
            let all = (0..words.len()).map(|at| words.word(at).to_lowercase());
            all.filter(|word| word != "um").collect::<Vec<_>>()
        };
        let pieces: Vec<_> = text.split(' ').collect();
        // Answers with parts left out, said twice and turned round, with marks of all kinds.
        let marks = [".", ", ", "! ", "\n\n", "—", " - ", "…", ") (", "'", "\" "];
        for seed in 0..2_000_usize {
            let mut answer = String::new();
            let mut state = seed * 2_654_435_761 + 1;
            for (at, piece) in pieces.iter().enumerate() {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let dice = state >> 33;
                match dice % 13 {
                    0 => continue,
                    1 => answer.push_str(pieces[dice % pieces.len()]),
                    2 => answer.push_str(&piece.to_uppercase()),
                    3 => answer.push_str("else"),
                    _ => answer.push_str(piece),
                }
                answer.push_str(marks[(dice >> 4) % marks.len()]);
                answer.push_str(if at % 3 == 0 { "  " } else { " " });
            }
            let edges = Edges { begins_within: seed % 2 == 0, ends_within: seed % 3 == 0 };
            let found = woven(text, &answer, edges);
            assert_eq!(bare(&found.text), bare(text), "{answer:?} became {:?}", found.text);
        }
    }
}
