//! Whether a switch may be set.
//!
//! What the contract sets anyway may be set. What widens a call (`include_deleted: true`) or takes a
//! guard away (`dry_run: false`) must be asked for: the words of the property's name stand in the
//! question. Descriptions do not count, since they speak of everything.

use super::{
    asked::Asked,
    schema::{self, Place},
};

/// Words of names that say nothing of what is switched.
const FILLERS: &[&str] = &[
    "include",
    "included",
    "includes",
    "including",
    "with",
    "only",
    "is",
    "has",
    "show",
    "enable",
    "enabled",
    "use",
    "allow",
    "items",
    "item",
    "results",
    "result",
    "return",
    "get",
    "fetch",
    "want",
    "flag",
    "be",
    "do",
    "should",
    "the",
    "and",
    "or",
    "of",
    "in",
    "by",
];
/// Words of names of guards: on is the careful side.
const GUARDS: &[&str] = &[
    "safe",
    "safety",
    "dry",
    "verify",
    "validate",
    "redact",
    "mask",
    "anonymize",
    "confirm",
    "strict",
    "sandbox",
    "readonly",
    "read",
    "secure",
    "check",
    "encrypt",
    "exclude",
    "skip",
    "hide",
    "without",
    "omit",
];

/// Whether a switch may be set so.
pub(super) fn is_fine(value: bool, place: &Place, asked: &Asked) -> bool {
    let words = schema::split_name(place.name);
    let is_guard = words.iter().any(|word| GUARDS.contains(&word.as_str()));
    // Without a default, nothing is switched by leaving a switch on its careful side.
    if !place.has_default() && value == is_guard {
        return true;
    }
    let mut telling = words.iter().filter(|word| !FILLERS.contains(&word.as_str())).peekable();
    telling.peek().is_some() && telling.all(|word| asked.has_kin(word))
}
