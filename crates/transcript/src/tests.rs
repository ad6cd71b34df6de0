//! The cases of the two collections, bad input, and what holds for every text.

mod bad_input;
mod cases;
mod collection;
mod properties;
mod texts;

use std::sync::LazyLock;

use regex::Regex;

use super::{CleaningError, clean};

static TAGS: LazyLock<Regex> = LazyLock::new(|| Regex::new("<[^>]*>").unwrap());
static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\w+(?:['\u{2019}.@/-]\w+)*").unwrap());

/// The text, cleaned.
fn cleaned(text: &str) -> String {
    clean(text).unwrap_or_else(|refusal| panic!("{refusal:?}: {text:?}")).text
}

/// The words of a text in lower case, as the collection of cases counts them.
fn words(text: &str) -> Vec<String> {
    let text = TAGS.replace_all(text, " ").to_lowercase();
    WORD.find_iter(&text).map(|found| found.as_str().to_owned()).collect()
}

/// True if some are all among others, in that order.
fn is_subsequence<T: PartialEq>(some: &[T], others: &[T]) -> bool {
    let mut others = others.iter();
    some.iter().all(|one| others.any(|other| one == other))
}
