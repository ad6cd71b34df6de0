//! What is said to come first: that something is told, which asks for it, or that something is done, which is an order.

use super::FORMS;

/// Words that say when something is to be done.
const WHEN: &[&str] =
    &["after", "before", "once", "soon", "unless", "until", "when", "while", "by"];
/// Where a condition may begin.
const BEGINS: &[&str] = &["after", "as soon as", "if", "once", "unless", "until", "when"];
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
/// Having done so is having told, with the same as a request.
const TOLD: &[(&str, &str)] = &[
    ("chosen", "choose"),
    ("clarified", "clarify"),
    ("given", "give"),
    ("mentioned", "mention"),
    ("named", "name"),
    ("picked", "pick"),
    ("provided", "provide"),
    ("selected", "select"),
    ("shared", "share"),
    ("specified", "specify"),
    ("told", "tell"),
];

/// What stands before a condition that asks for something to be told, if a piece ends with one.
pub(super) fn before_telling(piece: &str) -> Option<&str> {
    BEGINS.iter().find_map(|begin| {
        let (at, _) = piece.match_indices(begin).find(|(at, _)| {
            let is_start = *at == 0 || piece[..*at].ends_with(' ');
            is_start && piece[at + begin.len()..].starts_with(' ')
        })?;
        is_telling(piece[at + begin.len()..].trim_start()).then(|| piece[..at].trim_end())
    })
}

/// Whether a clause is that the person tells something, or that it is known.
fn is_telling(clause: &str) -> bool {
    let has_told = clause.strip_prefix("you have ").or_else(|| clause.strip_prefix("you've "));
    if let Some((told, rest)) = has_told.map(|told| told.split_once(' ').unwrap_or((told, ""))) {
        let request = TOLD.iter().find(|(other, _)| *other == told).map(|(_, request)| request);
        return request
            .is_some_and(|request| FORMS.asks.is_match(format!("{request} {rest}").trim_end()));
    }
    match clause.strip_prefix("you ") {
        Some(does) => {
            let does = does.strip_prefix("can ").or_else(|| does.strip_prefix("could "));
            let does = does.unwrap_or(&clause["you ".len()..]);
            FORMS.asks.is_match(does)
        }
        None => FORMS.knows.is_match(clause),
    }
}

/// Whether a piece says that something is to be done first: `once you have disabled it`, `by running it`.
pub(super) fn orders_on_the_side(piece: &str) -> bool {
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
