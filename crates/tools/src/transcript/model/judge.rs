//! What becomes of an answer: it has the words of the piece, one for one, or nothing of it is taken.
//!
//! Of an answer that has them these are taken: marks behind words, in addition or in exchange; the capitals of first letters; and
//! breaks between paragraphs. Everything else that is printed is the piece itself.

use super::{
    super::unicode,
    reply,
    words::{Word, is_beginning, is_end_mark, is_new_mark, words},
};

/// How many marks one word may have behind it.
const MAX_MARKS: usize = 3;
/// A paragraph that has a colon within so many words looks as if somebody spoke.
const LABEL_WORDS: usize = 5;

/// Why an answer is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
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

impl Reason {
    /// Its name in the metrics.
    pub fn word(self) -> &'static str {
        match self {
            Reason::Empty => "empty",
            Reason::TooLong => "too_long",
            Reason::CutOff => "cut_off",
            Reason::WordsMissing => "words_missing",
            Reason::WordsAdded => "words_added",
            Reason::WordsChanged => "words_changed",
        }
    }
}

/// Where a piece was cut, the answer knows nothing of what comes before or behind.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Edges {
    /// It begins in the middle of a sentence.
    pub begins_within: bool,
    /// It ends in the middle of one.
    pub ends_within: bool,
}

/// Holds an answer against the piece that it is about: what is printed instead of it, or why it stays as it is.
pub(super) fn judge(
    piece: &str,
    answer: &str,
    is_cut_off: bool,
    edges: Edges,
) -> Result<String, Reason> {
    let answer = unicode::normal(reply::without_thoughts(answer).trim());
    if answer.is_empty() {
        return Err(Reason::Empty);
    }
    let ours = words(piece);
    let mut reason = None;
    // What models put around their answers is looked for only where the words are not right without that.
    for text in [&*answer, reply::bare(&answer)] {
        let theirs = words(text);
        match difference(&ours, &theirs) {
            // An answer that is complete may end however it likes.
            None => return Ok(print(&ours, &theirs, edges)),
            Some(other) => reason = reason.or(Some(other)),
        }
    }
    Err(if is_cut_off { Reason::CutOff } else { reason.unwrap_or(Reason::Empty) })
}

fn difference(ours: &[Word<'_>], theirs: &[Word<'_>]) -> Option<Reason> {
    let same =
        ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(one, other)| one.is(other));
    if same {
        return None;
    }
    Some(if is_within(theirs, ours) {
        Reason::WordsMissing
    } else if is_within(ours, theirs) {
        Reason::WordsAdded
    } else {
        Reason::WordsChanged
    })
}

/// Whether all words of one text are in the other, in their order.
fn is_within(some: &[Word<'_>], all: &[Word<'_>]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|one| rest.any(|other| one.is(other)))
}

fn print(ours: &[Word<'_>], theirs: &[Word<'_>], edges: Edges) -> String {
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

/// What stands behind a word: our own marks, with the answer's in their place or in addition.
fn behind(one: &Word<'_>, other: &Word<'_>, as_it_is: bool) -> String {
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

/// Whether a paragraph that began here would look as if somebody else spoke.
fn looks_like_label(words: &[Word<'_>]) -> bool {
    words.iter().take(LABEL_WORDS).any(|word| word.trail.contains([':', '：']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(piece: &str, answer: &str, expected: Result<&str, Reason>) {
        let verdict = judge(piece, answer, false, Edges::default());
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
        check(piece, "", Err(Reason::Empty));
        check(piece, "<think>Hm", Err(Reason::Empty));
        check(piece, "I cannot help with that.", Err(Reason::WordsChanged));
        check(piece, "So we met at nine.", Err(Reason::WordsMissing));
        check(piece, "So we met at 9. Can you send it?", Err(Reason::WordsChanged));
        check(piece, "So we met at nine. Can you send it? Yes.", Err(Reason::WordsAdded));
        check("we can not go", "We cannot go.", Err(Reason::WordsChanged));
        check("and and we er left", "And we left.", Err(Reason::WordsMissing));
        check("a well known man", "A well-known man.", Err(Reason::WordsChanged));
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
        check("run `git add file` now", "run `git, add, file` now", Err(Reason::WordsChanged));
        check("run `echo um done` now", "run `echo done` now", Err(Reason::WordsChanged));
        check("it is 5 degrees", "It is –5 degrees.", Err(Reason::WordsChanged));
        check("it is –5 degrees", "It is 5 degrees.", Err(Reason::WordsChanged));
        check("so 10 - 5 is", "So 10 5 is.", Err(Reason::WordsMissing));
        check("a 5\" disk", "A 5 disk.", Err(Reason::WordsChanged));
        check("git push --force now", "Git push force now.", Err(Reason::WordsChanged));
        check("an A- in math", "An A in math.", Err(Reason::WordsChanged));
        check("vitamin B now", "Vitamin B- now.", Err(Reason::WordsChanged));
        check("we love music so much", "We love [music] so much.", Err(Reason::WordsChanged));
    }

    #[test]
    fn nothing_but_marks_capitals_and_paragraphs_is_taken() {
        check("we met anna here", "**We** met anna here", Err(Reason::WordsChanged));
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
        let within = Edges { begins_within: true, ends_within: true };
        let verdict = judge("and then we met", "And then we met.", false, within);
        assert_eq!(verdict.as_deref(), Ok("and then we met"));
    }
}
