//! What is claimed on the side of a question: `that the server is down`, `where the CEO leaked data`.

use super::{Around, FORMS};
use crate::plan::asking_back::sentences::Joint;

/// What a clause with a claim begins with.
const CLAUSES: &[&str] = &[
    "after", "although", "before", "know", "remember", "since", "that", "though", "when", "where",
    "while",
];
/// Whom or what a claim is about.
const SUBJECTS: &[&str] = &[
    "a",
    "all",
    "an",
    "every",
    "everybody",
    "everyone",
    "he",
    "her",
    "his",
    "it",
    "its",
    "my",
    "no",
    "nobody",
    "our",
    "she",
    "some",
    "somebody",
    "someone",
    "the",
    "their",
    "there",
    "these",
    "they",
    "this",
    "those",
    "we",
    "your",
];
/// What asks where or when something is.
const ASKED: &[&str] = &[
    "about", "clarify", "clear", "confirm", "describe", "exactly", "from", "indicate", "know",
    "me", "mention", "or", "provide", "say", "since", "specify", "state", "sure", "tell", "to",
    "unclear", "until", "us",
];
/// Verbs that say how something is.
const FINITE: &[&str] =
    &["is", "are", "was", "were", "has", "had", "must", "should", "will", "cannot", "does", "did"];
/// What ends as a deed of the past does, and is none.
const NO_DEED: &[&str] = &[
    "bed",
    "called",
    "exceed",
    "feed",
    "given",
    "included",
    "indeed",
    "labelled",
    "listed",
    "mentioned",
    "named",
    "need",
    "needed",
    "proceed",
    "provided",
    "related",
    "requested",
    "required",
    "speed",
    "specified",
    "succeed",
    "tagged",
    "titled",
    "used",
    "wanted",
];
/// What stands before a quality: `of closed tickets`, `recently updated`.
const BEFORE_QUALITY: &[&str] =
    &["a", "about", "all", "an", "any", "by", "for", "from", "in", "of", "on", "or", "the", "with"];
/// What follows a quality that stands behind its thing: `the ticket closed in May`.
const AFTER_QUALITY: &[&str] = &[
    "after",
    "at",
    "before",
    "between",
    "by",
    "during",
    "for",
    "from",
    "in",
    "last",
    "on",
    "since",
    "this",
    "to",
    "today",
    "with",
    "within",
    "yesterday",
];

/// Whether a piece has a claim in a clause of its own.
pub(super) fn is_claim(piece: &str, around: &Around) -> bool {
    if around.has_asked && matches!(around.joint, Joint::Mark | Joint::Choice) && is_aside(piece) {
        return true;
    }
    let words: Vec<&str> = piece.split(' ').collect();
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).map_or("", |before| words[before]);
        let is_asked = match *word {
            "that" => before == "so",
            // `Do you know the date` asks; `do you know the CEO was arrested` does not.
            "know" | "remember" => {
                words.get(at + 2).is_some_and(|thing| FORMS.thing.is_match(thing))
            }
            _ if at == 0 => FORMS.stored.is_match(piece),
            _ => ASKED.contains(&before),
        };
        let subject = words.get(at + 1).copied().unwrap_or_default();
        let is_about = SUBJECTS.contains(&subject) || around.names.contains(subject);
        CLAUSES.contains(word) && is_about && !is_asked && has_verb(&words, at + 2)
    })
}

/// Whether a piece behind a mark only tells more of what stands before it: `which was closed by Bob`.
fn is_aside(piece: &str) -> bool {
    let first = piece.split(' ').next().unwrap_or_default();
    matches!(first, "which" | "who" | "whom" | "whose" | "where" | "when")
        && !FORMS.aside.is_match(piece)
}

/// Whether there is a verb that says how something is or was, from a word on.
fn has_verb(words: &[&str], from: usize) -> bool {
    (from..words.len()).any(|at| FINITE.contains(&words[at]) || is_deed(words, at))
        && !words[from - 1..].contains(&"you")
}

/// Whether a word tells what somebody did: `leaked` in `the CEO leaked data`.
fn is_deed(words: &[&str], at: usize) -> bool {
    let word = words[at];
    let before = at.checked_sub(1).map_or("", |before| words[before]);
    let next = words.get(at + 1).copied().unwrap_or_default();
    let is_quality = BEFORE_QUALITY.contains(&before)
        || before.ends_with("ly")
        || AFTER_QUALITY.contains(&next)
        || FORMS.thing.is_match(next);
    word.len() > 3 && word.ends_with("ed") && !NO_DEED.contains(&word) && !is_quality
}

/// Whether what goes on with a sentence is a statement of its own: `the policy was deleted`.
pub(super) fn tells(piece: &str) -> bool {
    const OPENS: &[&str] = &["which", "who", "what", "where", "when", "how", "whether", "if"];
    let words: Vec<&str> = piece.split(' ').collect();
    let is_open = OPENS.contains(&words[0]) || words.contains(&"you");
    !is_open
        && (words.iter().any(|word| FINITE.contains(word))
            || (2..words.len()).any(|at| is_deed(&words, at)))
}
