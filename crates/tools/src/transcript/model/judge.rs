//! What becomes of an answer.

use super::{
    super::{rules, rules::Language, unicode},
    align::{Difference, align},
    reply,
    weave::{Edges, Woven, weave},
    words::{Words, is_end_mark},
};

/// At least one in so many words must be in sentences that are right.
const LEAST_KEPT: usize = 4;

/// Why an answer is not taken as it is.
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
    /// It has less punctuation than there was.
    LostPunctuation,
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
            Reason::LostPunctuation => "lost_punctuation",
        }
    }
}

/// What becomes of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// What is printed; nothing where the piece stays as the rules left it.
    pub text: Option<String>,
    /// Why not all of the answer was taken.
    pub reason: Option<Reason>,
}

/// Holds an answer against the piece that it is about.
pub(super) fn judge(
    piece: &str,
    answer: &str,
    ending: Option<Reason>,
    language: Language,
    edges: Edges,
) -> Verdict {
    let answer = unicode::normal(reply::without_thoughts(answer).trim());
    let text = Words::of(piece);
    // Quotes around all of it are punctuation too, but none that was meant.
    let quoted = piece.starts_with(['"', '“', '„', '«', '\'']);
    let as_it_came = if quoted { &*answer } else { reply::without_quotes(&answer) };
    let mut best = compare(&text, as_it_came, language, edges);
    if best.1.is_some() {
        let bare = compare(&text, reply::bare(&answer), language, edges);
        if bare.1.is_none() || bare.0.kept > best.0.kept {
            best = bare;
        }
    }
    let (woven, difference) = best;
    let reason = match difference {
        // No answer, or one after which nothing but marks is left.
        _ if answer.is_empty() || Words::of(&woven.text).len() == 0 => {
            return Verdict { text: None, reason: Some(Reason::Empty) };
        }
        None if has_fewer_ends(piece, &woven.text) => {
            return Verdict { text: None, reason: Some(Reason::LostPunctuation) };
        }
        // An answer that is complete may end however it likes.
        None => None,
        Some(_) if ending.is_some() => ending,
        Some(Difference::Missing) => Some(Reason::WordsMissing),
        Some(Difference::Added) => Some(Reason::WordsAdded),
        Some(Difference::Changed) => Some(Reason::WordsChanged),
    };
    let is_kept = reason.is_none()
        || woven.kept * LEAST_KEPT >= text.len() && !has_fewer_ends(piece, &woven.text);
    Verdict { text: is_kept.then_some(woven.text), reason }
}

fn compare(
    text: &Words<'_>,
    answer: &str,
    language: Language,
    edges: Edges,
) -> (Woven, Option<Difference>) {
    let answer = Words::of(answer);
    let may_go = |at: usize| {
        let before = at.checked_sub(1).map(|before| text.word(before));
        rules::is_removable(text.word(at), before, language)
    };
    let alignment = align(text, &answer, may_go);
    (weave(text, &answer, &alignment, edges), alignment.difference)
}

/// Whether more than half of the ends of sentences are gone.
fn has_fewer_ends(before: &str, after: &str) -> bool {
    let ends = |text: &str| {
        let pieces = text.split_whitespace();
        pieces
            .filter(|piece| piece.trim_end_matches(['"', '”', ')']).ends_with(is_end_mark))
            .count()
    };
    ends(after) * 2 < ends(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(piece: &str, answer: &str, text: Option<&str>, reason: Option<Reason>) {
        let verdict = judge(piece, answer, None, Language::English, Edges::default());
        let expected = Verdict { text: text.map(str::to_owned), reason };
        assert_eq!(verdict, expected, "{answer:?}");
    }

    #[test]
    fn the_words_decide() {
        let piece = "so we met at nine can you send it";
        let right = Some("So we met at nine. Can you send it?");
        check(piece, "So we met at nine. Can you send it?", right, None);
        check(piece, "Here's the text: So we met at nine. Can you send it?", right, None);
        check(piece, "```\nSo we met at nine. Can you send it?\n```", right, None);
        check(piece, "\"So we met at nine. Can you send it?\"", right, None);
        check(piece, "<think>Hm.</think>So we met at nine. Can you send it?", right, None);
        check(piece, "", None, Some(Reason::Empty));
        check(piece, "<think>Hm", None, Some(Reason::Empty));
        check(piece, "I cannot help with that.", None, Some(Reason::WordsChanged));
        check(piece, "So we met at nine.", None, Some(Reason::WordsMissing));
        check(piece, "So we met at 9. Can you send it?", None, Some(Reason::WordsChanged));
        let more = "So we met at nine. Can you send it? Yes, I can send it to you at once.";
        check(piece, more, Some("So we met at nine. Can you send it"), Some(Reason::WordsAdded));
        check("we can not go", "We cannot go.", None, Some(Reason::WordsChanged));
        check(
            "One two. Three four. Five.",
            "one two three four five",
            None,
            Some(Reason::LostPunctuation),
        );
    }

    #[test]
    fn what_says_nothing_may_go() {
        check("and and we er left", "And we left.", Some("And we left."), None);
        check("hm hm hm", "Hm.", Some("Hm."), None);
        check("hm hm hm", "...", None, Some(Reason::Empty));
        check("it was like that", "It was that.", None, Some(Reason::WordsMissing));
    }

    #[test]
    fn a_speaker_may_speak_like_a_model() {
        let piece = "here's the cleaned transcript hi all";
        check(
            piece,
            "Here's the cleaned transcript: hi, all.",
            Some("Here's the cleaned transcript: hi, all."),
            None,
        );
    }
}
