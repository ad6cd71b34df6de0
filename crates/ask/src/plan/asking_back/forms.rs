//! The forms that a piece of a sentence may have.

mod vocabulary;

use std::sync::LazyLock;

use regex::Regex;

use vocabulary::{
    ASKS, BEFORE, COURTESIES, EXAMPLES, GOES_ON, INTRODUCES, MISSES, NO_TOOL, QUESTIONS, expand,
};

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// It asks for information, or says which is missing.
    Asking,
    /// It says that no tool fits.
    NoTool,
    /// It says thanks, or sorry.
    Courtesy,
    /// It says what for, or in which case.
    Introduction,
    /// It gives an example.
    Example,
    /// It goes on with the piece before.
    Continuation,
}

struct Forms {
    courtesies: Regex,
    before: Regex,
    introduces: Regex,
    examples: Regex,
    asks: Regex,
    misses: Regex,
    no_tool: Regex,
    questions: Regex,
    goes_on: Regex,
}

static FORMS: LazyLock<Forms> = LazyLock::new(|| {
    let ready = |template: &str| Regex::new(&expand(template)).expect("the pattern is sound");
    Forms {
        courtesies: ready(COURTESIES),
        before: ready(BEFORE),
        introduces: ready(INTRODUCES),
        examples: ready(EXAMPLES),
        asks: ready(ASKS),
        misses: ready(MISSES),
        no_tool: ready(NO_TOOL),
        questions: ready(QUESTIONS),
        goes_on: ready(GOES_ON),
    }
});

/// Words that say when something is to be done.
const WHEN: &[&str] =
    &["after", "before", "once", "soon", "unless", "until", "when", "while", "by"];
/// What a person may be said to do besides.
const WANTS: &[&str] = &[
    "are", "asked", "can", "have", "know", "like", "mean", "meant", "need", "refer", "want",
    "would",
];
/// Doing so is telling.
const TELLING: &[&str] = &[
    "adding",
    "choosing",
    "clarifying",
    "giving",
    "including",
    "mentioning",
    "naming",
    "providing",
    "rephrasing",
    "specifying",
    "telling",
];
/// What hides a condition or an order behind what cannot be done.
const CONDITIONS: &[&str] = &[
    "after", "before", "first", "if", "must", "should", "since", "so", "that's", "unless", "until",
];
/// Questions to which the answer is already in them.
const SUGGESTS: &[&str] = &[
    "aware that",
    "know that",
    "true that",
    "noticed that",
    "remember that",
    "what if",
    "how about",
    "which is why",
    "which means",
];

/// The form of a normalised piece, if it has one. `is_going_on` says whether something stands before it that it may go on with.
pub(super) fn of(piece: &str, is_question: bool, is_going_on: bool) -> Option<Form> {
    let forms = &*FORMS;
    if SUGGESTS.iter().any(|words| piece.contains(words)) || orders_on_the_side(piece) {
        return None;
    }
    let mut rest = piece;
    let mut is_polite = false;
    while let Some(found) = forms.courtesies.find(rest).filter(|found| !found.is_empty()) {
        rest = rest[found.end()..].trim_start();
        is_polite = true;
    }
    if rest.is_empty() {
        return is_polite.then_some(Form::Courtesy);
    }
    if let Some(form) = main(rest, is_question) {
        return Some(form);
    }
    // `To find it please tell me which one`: what is introduced may follow without a comma.
    let (introduction, introduced) = match forms.before.find(rest) {
        Some(found) => (rest[..found.start()].trim_end(), &rest[found.start()..]),
        None => (rest, ""),
    };
    if forms.examples.is_match(rest) {
        return Some(Form::Example);
    }
    if forms.introduces.is_match(introduction) {
        return match introduced {
            "" => Some(Form::Introduction),
            _ => of(introduced, is_question, is_going_on),
        };
    }
    (is_going_on && forms.goes_on.is_match(rest) && !tells(rest)).then_some(Form::Continuation)
}

fn main(piece: &str, is_question: bool) -> Option<Form> {
    let forms = &*FORMS;
    let is_asking = forms.asks.is_match(piece)
        || forms.misses.is_match(piece)
        || is_question && forms.questions.is_match(piece);
    if is_asking {
        return Some(Form::Asking);
    }
    let is_plain = !piece.split(' ').any(|word| CONDITIONS.contains(&word));
    (is_plain && forms.no_tool.is_match(piece)).then_some(Form::NoTool)
}

/// Whether a piece says that something is to be done first: `once you have disabled it`, `by running it`.
fn orders_on_the_side(piece: &str) -> bool {
    let words: Vec<&str> = piece.split(' ').collect();
    words.iter().enumerate().any(|(at, word)| {
        let word_at = |offset: usize| words.get(at + offset).copied().unwrap_or_default();
        let (next, third) = (word_at(1), word_at(2));
        let is_doing = next.ends_with("ing") && !TELLING.contains(&next);
        let has_done = match next {
            "you've" => true,
            "you" if third == "have" => {
                !matches!(word_at(3), "" | "a" | "an" | "in" | "one" | "the")
            }
            "you" => !WANTS.contains(&third),
            _ => false,
        };
        WHEN.contains(word) && (is_doing || has_done)
    })
}

/// Whether what goes on with a sentence is a statement of its own: `the policy was deleted`.
fn tells(piece: &str) -> bool {
    const FINITE: &[&str] = &[
        "is", "are", "was", "were", "has", "had", "must", "should", "will", "cannot", "does", "did",
    ];
    const OPENS: &[&str] = &["which", "who", "what", "where", "when", "how", "whether", "if"];
    let words: Vec<&str> = piece.split(' ').collect();
    let is_open = OPENS.contains(&words[0]) || words.contains(&"you");
    !is_open && words.iter().any(|word| FINITE.contains(word))
}

/// Whether a text is in Latin letters, so far as its first ones tell.
pub(super) fn is_latin(text: &str) -> bool {
    let letters = text.chars().filter(|one| one.is_alphabetic()).take(20);
    let (latin, other): (Vec<char>, Vec<char>) = letters.partition(|one| *one < '\u{250}');
    latin.len() >= other.len()
}
