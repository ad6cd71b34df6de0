//! Whether a choice is the one that the question names.
//!
//! A model may choose freely from what the contract offers, as long as the question leaves it open. Where it names one of the
//! choices and not the one that was taken, another was asked for.

use serde_json::Value;

use super::{
    asked::Asked,
    kin, letters,
    schema::{self, Budget, Place},
};

/// Words of names of properties that say how something is shown. The words for it stand in many questions by chance.
const SHOWN: &[&str] = &[
    "by",
    "detail",
    "direction",
    "format",
    "language",
    "mode",
    "order",
    "output",
    "sort",
    "style",
    "unit",
    "units",
    "verbosity",
    "view",
];
/// What turns a choice into its opposite.
const NEGATIONS: &[&str] = &[
    "not",
    "no",
    "non",
    "without",
    "except",
    "excluding",
    "but",
    "other",
    "than",
    "instead",
    "never",
    "neither",
    "t",
];
/// What a question begins with, and is no choice there: `open the list`.
const DEEDS: &[&str] = &[
    "archive", "change", "check", "close", "find", "get", "list", "look", "open", "order", "read",
    "report", "request", "review", "search", "show", "test", "update", "view",
];
/// What may stand before such a word.
const POLITE: &[&str] = &["can", "could", "i", "me", "please", "to", "want", "would", "you"];

/// The choice that the question names instead of the one that was taken, if there is one.
pub(super) fn named_instead(
    place: &Place,
    value: &Value,
    asked: &Asked,
    budget: &mut Budget,
) -> Option<String> {
    let name = schema::split_name(place.name);
    if name.iter().any(|word| SHOWN.contains(&word.as_str())) || place.is_default(value) {
        return None;
    }
    let (taken, choices) = match value {
        Value::String(text) => (vec![text.as_str()], place.choices()),
        Value::Array(items) => {
            let taken = items.iter().filter_map(Value::as_str).collect();
            (taken, place.item(0, budget).choices())
        }
        _ => return None,
    };
    let is_choice = !taken.is_empty() && taken.iter().all(|text| choices.contains(text));
    let is_plain = letters::words(&asked.text).all(|word| !NEGATIONS.contains(&word));
    let said = things(asked);
    let is_asked = |choice: &&str| is_meant(choice, asked) || is_named(choice, &said);
    if !is_choice || !is_plain || taken.iter().any(is_asked) {
        return None;
    }
    choices.into_iter().find(|choice| is_named(choice, &said)).map(str::to_owned)
}

/// Whether a choice or another word for it stands in the question.
fn is_meant(choice: &str, asked: &Asked) -> bool {
    let words = schema::split_name(choice);
    !words.is_empty() && words.iter().all(|word| asked.has_kin(word))
}

/// Whether a choice stands among the stems of a question.
fn is_named(choice: &str, said: &[String]) -> bool {
    let words = schema::split_name(choice);
    let is_telling = words.iter().any(|word| word.len() > 2 && !kin::is_stop(word));
    is_telling && words.iter().all(|word| said.contains(&kin::stem(&letters::bare(word))))
}

/// The stems of the words of a question, without what it tells to do.
fn things(asked: &Asked) -> Vec<String> {
    let mut words = letters::words(&asked.text).skip_while(|word| POLITE.contains(word)).peekable();
    if words.peek().is_some_and(|word| DEEDS.contains(word)) {
        words.next();
    }
    words.map(|word| kin::stem(&letters::bare(word))).collect()
}
