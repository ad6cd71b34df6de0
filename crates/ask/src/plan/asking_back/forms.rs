//! The forms that a piece of a sentence may have.

mod claims;
mod conditions;
mod vocabulary;

use std::{collections::HashSet, sync::LazyLock};

use regex::Regex;

use super::sentences::Joint;
use vocabulary::{
    ASIDE, ASKS, BEFORE, BEGINS, CHOOSES, COURTESIES, EXAMPLES, GOES_ON, INTRODUCES, KNOWS, MISSES,
    NO_TOOL, QUALITY, QUESTIONS, STORED, THING, expand,
};

/// What stands around a piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around<'a> {
    /// Whether the sentence ends with the mark of a question.
    pub is_question: bool,
    /// Whether something stands before it that it may go on with.
    pub is_going_on: bool,
    /// Whether the sentence has asked for something before.
    pub has_asked: bool,
    /// How it is joined to what stands before.
    pub joint: Joint,
    /// The words of the sentence that are written as names.
    pub names: &'a HashSet<String>,
}

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
    begins: Regex,
    chooses: Regex,
    quality: Regex,
    thing: Regex,
    knows: Regex,
    aside: Regex,
    stored: Regex,
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
        begins: ready(BEGINS),
        chooses: ready(CHOOSES),
        quality: ready(QUALITY),
        thing: ready(THING),
        knows: ready(KNOWS),
        aside: ready(ASIDE),
        stored: ready(STORED),
    }
});

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

/// The form of a normalised piece, if it has one.
pub(super) fn of(piece: &str, around: &Around) -> Option<Form> {
    let forms = &*FORMS;
    if SUGGESTS.iter().any(|words| piece.contains(words)) || claims::is_claim(piece, around) {
        return None;
    }
    // `I can look that up once you tell me the id` asks for the id.
    if let Some(before) = conditions::before_telling(piece) {
        return match before {
            "" => Some(Form::Asking),
            _ => of(before, around).map(|_| Form::Asking),
        };
    }
    if conditions::orders_on_the_side(piece) {
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
    if let Some(form) = main(rest, around.is_question) {
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
            _ => of(introduced, around),
        };
    }
    if !around.is_going_on && forms.begins.is_match(rest) {
        return Some(Form::Introduction);
    }
    let goes_on = (forms.goes_on.is_match(rest) || is_choice(rest, around)) && !claims::tells(rest);
    (around.is_going_on && goes_on).then_some(Form::Continuation)
}

/// Whether a piece is one of several things to choose from: `or ServiceNow`, `or closed ones`. In a question, the last word may
/// be any; an order has more than one.
fn is_choice(piece: &str, around: &Around) -> bool {
    let forms = &*FORMS;
    let is_name = |word: &str| around.names.contains(word) || forms.thing.is_match(word);
    let words: Vec<&str> = piece.split(' ').collect();
    let (last, before) = words.split_last().expect("a text has at least one part");
    let is_thing = before.iter().all(|word| is_name(word) || forms.quality.is_match(word))
        && (around.is_question || is_name(last));
    around.joint == Joint::Choice
        && (is_thing || around.is_question && forms.chooses.is_match(piece))
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

/// Whether a text is in Latin letters, so far as its first ones tell.
pub(super) fn is_latin(text: &str) -> bool {
    let letters = text.chars().filter(|one| one.is_alphabetic()).take(20);
    let (latin, other): (Vec<char>, Vec<char>) = letters.partition(|one| *one < '\u{250}');
    latin.len() >= other.len()
}
