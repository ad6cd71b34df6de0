//! Compares an answer with its chunk: it has the words of the chunk, one for one, or nothing of it is taken.
//!
//! Of an answer that has them these are taken: marks behind words, in addition or in exchange; the capitals of first letters; and
//! breaks between paragraphs. Everything else that is printed is the piece itself.

use serde::Serialize;

use super::{
    chunks::SentenceCut,
    words::{PunctuatedWord, is_beginning, is_end_mark, is_new_mark, words},
    wrapping,
};
use crate::unicode;

/// The most marks behind one word.
const MAX_MARKS: usize = 3;
/// A paragraph that has a colon within so many words looks as if somebody spoke.
const LABEL_WORDS: usize = 5;

/// The reason why an answer was not taken, by its name in the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FallbackReason {
    /// There was none.
    Empty,
    /// It went on for too long.
    TooLong,
    /// The model was not allowed to write all of it.
    CutOff,
    /// Words are not in it.
    WordsMissing,
    /// It has words that nobody said.
    WordsAdded,
    /// It has others in their place.
    WordsChanged,
}

/// Holds an answer against the piece that it is about: what is printed instead of it, or why it stays as it is.
pub(super) fn verify(
    piece: &str,
    answer: &str,
    is_cut_off: bool,
    edges: SentenceCut,
) -> Result<String, FallbackReason> {
    let answer = unicode::normal(wrapping::without_thoughts(answer).trim());
    if answer.is_empty() {
        return Err(FallbackReason::Empty);
    }
    let ours = words(piece);
    let mut reason = None;
    // What models put around their answers is looked for only where the words are not right without that.
    for text in [&*answer, wrapping::bare(&answer)] {
        let theirs = words(text);
        match difference(&ours, &theirs) {
            // An answer that is complete may end however it likes.
            None => return Ok(print(&ours, &theirs, edges)),
            Some(other) => reason = reason.or(Some(other)),
        }
    }
    Err(if is_cut_off { FallbackReason::CutOff } else { reason.unwrap_or(FallbackReason::Empty) })
}

fn difference(
    ours: &[PunctuatedWord<'_>],
    theirs: &[PunctuatedWord<'_>],
) -> Option<FallbackReason> {
    let same =
        ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(one, other)| one.is(other));
    if same {
        return None;
    }
    Some(if is_within(theirs, ours) {
        FallbackReason::WordsMissing
    } else if is_within(ours, theirs) {
        FallbackReason::WordsAdded
    } else {
        FallbackReason::WordsChanged
    })
}

/// True if all words of one text are in the other, in their order.
fn is_within(some: &[PunctuatedWord<'_>], all: &[PunctuatedWord<'_>]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|one| rest.any(|other| one.is(other)))
}

fn print(ours: &[PunctuatedWord<'_>], theirs: &[PunctuatedWord<'_>], edges: SentenceCut) -> String {
    let mut out = String::with_capacity(ours.len() * 8);
    // Whether a sentence ends before the word at hand: in our text, and in what is printed.
    let (mut ended, mut ends) = (!edges.begins_within, !edges.begins_within);
    for (at, (one, other)) in ours.iter().zip(theirs).enumerate() {
        let is_break = other.gap.matches('\n').count() > 1;
        if at > 0 && is_break && ends && !looks_like_label(&ours[at..]) && !one.gap.contains('\n') {
            out.push_str("\n\n");
        } else {
            out.push_str(one.gap);
        }
        out.push_str(one.lead);
        if one.lead.is_empty() && other.lead.chars().count() == 1 && !one.is_fixed {
            out.extend(other.lead.chars().filter(|lead| is_beginning(*lead)));
        }
        let capital = match (one.has_capital(), other.has_capital()) {
            (false, true) => at > 0 || !edges.begins_within,
            // A capital that only an end of a sentence gave, which is one no more.
            (true, false) => !(at > 0 && ended && !ends),
            (same, _) => same,
        };
        out.push_str(&one.with_capital(capital));
        let is_last = at + 1 == ours.len();
        let marks = behind(one, other, is_last && edges.ends_within);
        ended = one.marks().ends_with(is_end_mark);
        ends = marks.chars().any(is_end_mark);
        out.push_str(&marks);
    }
    out
}

/// The marks behind a word: our own marks, with the answer's in their place or in addition.
fn behind(one: &PunctuatedWord<'_>, other: &PunctuatedWord<'_>, as_it_is: bool) -> String {
    let theirs: String =
        other.marks().chars().filter(|mark| is_new_mark(*mark)).take(MAX_MARKS).collect();
    let own = one.marks();
    if as_it_is || theirs.is_empty() || !own.chars().all(is_new_mark) {
        return one.trail.to_owned();
    }
    if own.is_empty() {
        return format!("{}{theirs}", one.trail);
    }
    one.trail.replacen(&own, &theirs, 1)
}

/// True if a paragraph that began here would look as if somebody else spoke.
fn looks_like_label(words: &[PunctuatedWord<'_>]) -> bool {
    words.iter().take(LABEL_WORDS).any(|word| word.trail.contains([':', '：']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(piece: &str, answer: &str, expected: Result<&str, FallbackReason>) {
        let verdict = verify(piece, answer, false, SentenceCut::default());
        assert_eq!(verdict.as_deref(), expected.as_ref().copied(), "{answer:?}");
    }

    #[test]
    fn the_words_decide() {
        let piece = "so we met at nine can you send it";
        let right = Ok("So we met at nine. Can you send it?");
        check(piece, "So we met at nine. Can you send it?", right);
        check(piece, "Here's the text: So we met at nine. Can you send it?", right);
        check(piece, "```\nSo we met at nine. Can you send it?\n```", right);
        check(piece, "\"So we met at nine. Can you send it?\"", right);
        check(piece, "<think>Hm.</think>So we met at nine. Can you send it?", right);
        check(piece, "", Err(FallbackReason::Empty));
        check(piece, "<think>Hm", Err(FallbackReason::Empty));
        check(piece, "I cannot help with that.", Err(FallbackReason::WordsChanged));
        check(piece, "So we met at nine.", Err(FallbackReason::WordsMissing));
        check(piece, "So we met at 9. Can you send it?", Err(FallbackReason::WordsChanged));
        check(piece, "So we met at nine. Can you send it? Yes.", Err(FallbackReason::WordsAdded));
        check("we can not go", "We cannot go.", Err(FallbackReason::WordsChanged));
        check("and and we er left", "And we left.", Err(FallbackReason::WordsMissing));
        check("a well known man", "A well-known man.", Err(FallbackReason::WordsChanged));
        check("mail ops@acme.io now", "Mail. Ops@acme.io, now.", Ok("Mail. ops@acme.io, now."));
    }

    #[test]
    fn what_is_no_plain_word_stays_to_the_letter() {
        for piece in [
            "run `git add file` now",
            "it is 5 degrees",
            "it is –5 degrees",
            "so 10 - 5 is",
            "a 5\" disk",
            "git push --force now",
            "an A- in math",
            "go cd .. now",
            "call main() now",
            "at /etc/passwd- now",
        ] {
            check(piece, piece, Ok(piece));
        }
        check(
            "run `git add file` now",
            "run `git, add, file` now",
            Err(FallbackReason::WordsChanged),
        );
        check("run `echo um done` now", "run `echo done` now", Err(FallbackReason::WordsChanged));
        check("it is 5 degrees", "It is –5 degrees.", Err(FallbackReason::WordsChanged));
        check("it is –5 degrees", "It is 5 degrees.", Err(FallbackReason::WordsChanged));
        check("so 10 - 5 is", "So 10 5 is.", Err(FallbackReason::WordsMissing));
        check("a 5\" disk", "A 5 disk.", Err(FallbackReason::WordsChanged));
        check("git push --force now", "Git push force now.", Err(FallbackReason::WordsChanged));
        check("an A- in math", "An A in math.", Err(FallbackReason::WordsChanged));
        check("vitamin B now", "Vitamin B- now.", Err(FallbackReason::WordsChanged));
        check(
            "we love music so much",
            "We love [music] so much.",
            Err(FallbackReason::WordsChanged),
        );
    }

    #[test]
    fn nothing_but_marks_capitals_and_paragraphs_is_taken() {
        check("we met anna here", "**We** met anna here", Err(FallbackReason::WordsChanged));
        check(
            "We met Anna at NASA. She left.",
            "we met anna at nasa. she left.",
            Ok("We met Anna at NASA. She left."),
        );
        check("wE mEt", "We Met", Ok("wE mEt"));
        check("he said no and left", "He said \"no\" and left.", Ok("He said no and left."));
        check(
            "so it is done anna yes I agree",
            "So it is done.\n\nAnna: yes, I agree.",
            Ok("So it is done.\n\nAnna yes, I agree."),
        );
        check(
            "it is done. tell anna: yes",
            "It is done.\n\nTell Anna: yes.",
            Ok("It is done. Tell Anna: yes."),
        );
        check("We left. It was late.", "We left, it was late.", Ok("We left, it was late."));
        check("We left. Anna stayed.", "We left Anna stayed", Ok("We left. Anna stayed."));
        check("cómo estás hoy", "¿Cómo estás hoy?", Ok("¿Cómo estás hoy?"));
        check("你好我是你的朋友", "你好，我是你的朋友。", Ok("你好，我是你的朋友。"));
        check("one two", "One,\n\ntwo.", Ok("One, two."));
        check("(so) \"no\" then", "(So). \"No\", then!", Ok("(So). \"No\", then!"));
    }

    #[test]
    fn at_a_cut_the_answer_knows_nothing() {
        let within = SentenceCut { begins_within: true, ends_within: true };
        let verdict = verify("and then we met", "And then we met.", false, within);
        assert_eq!(verdict.as_deref(), Ok("and then we met"));
    }
}
