//! How many a question asks for: `find 100 tickets`, `the first 20`, `page 3`.
//!
//! A model has to choose a limit or a page where nobody says one, so any number will do there. Where somebody does, another
//! number is not what they asked. Most numbers of a question are about something else (`of the last 30 days`), so only those
//! count that stand where people put such a number.

use super::{
    decimal::Decimal,
    numbers,
    schema::{self, Place},
    tokens, words,
};

/// Words of names of properties that say how many are wanted.
const COUNTING: &[&str] = &[
    "count", "first", "hits", "k", "limit", "max", "maximum", "n", "num", "per", "results", "rows",
    "size", "take", "top",
];
/// Words of names of properties that count something else, whatever else they say.
const OTHERWISE: &[&str] = &[
    "age",
    "bytes",
    "characters",
    "chars",
    "days",
    "depth",
    "distance",
    "height",
    "hours",
    "length",
    "level",
    "minutes",
    "ms",
    "offset",
    "retries",
    "score",
    "seconds",
    "skip",
    "start",
    "timeout",
    "tokens",
    "width",
    "words",
];
/// What is asked for with a number behind it.
pub(super) const VERBS: &[&str] = &[
    "are", "bring", "check", "choose", "collect", "display", "fetch", "find", "get", "give",
    "grab", "is", "like", "list", "load", "locate", "look", "looking", "name", "need", "open",
    "pick", "print", "provide", "pull", "query", "read", "retrieve", "return", "search", "see",
    "select", "send", "show", "suggest", "take", "view", "want", "what", "which", "zeige", "finde",
    "suche", "montre", "trouve", "muestra", "busca",
];
/// What makes a bound of the number behind it.
const BOUNDS: &[&str] =
    &["most", "than", "max", "maximum", "to", "only", "just", "first", "top", "limit"];
/// What may stand between the verb and the number.
const FILLERS: &[&str] = &[
    "a", "all", "any", "at", "exactly", "first", "for", "just", "last", "latest", "limit", "max",
    "maximum", "me", "mir", "more", "most", "my", "newest", "next", "no", "of", "oldest", "only",
    "our", "please", "recent", "some", "than", "the", "to", "top", "up", "us", "die", "ersten",
    "letzten",
];
/// What is measured and not counted, and what a text is made of.
const MEASURED: &[&str] = &[
    "bullets",
    "bytes",
    "characters",
    "chapters",
    "days",
    "degrees",
    "digits",
    "dollars",
    "euros",
    "hours",
    "lines",
    "meters",
    "metres",
    "miles",
    "minutes",
    "months",
    "pages",
    "paragraphs",
    "percent",
    "seconds",
    "sections",
    "sentences",
    "steps",
    "times",
    "tokens",
    "weeks",
    "words",
    "years",
];
/// Marks at which a thought ends.
const ENDS: &[char] = &['.', '!', '?', ';', ',', ')'];
/// How many words may stand between a number and what it counts: `10 open network tickets`.
const MAX_BETWEEN: usize = 3;

/// Whether a number for a place is one that the question leaves open, or the one that it gives. What is beyond the bounds of
/// the schema may become its bound.
pub(super) fn agrees(number: &Decimal, place: &Place, question: &str) -> bool {
    let asked = asked_for(place.name, question);
    asked.is_empty()
        || asked.contains(number)
        || asked.iter().all(|asked| place.is_bound(number, asked))
}

/// The numbers that a question in its normal form gives for a property of this name.
fn asked_for(name: &str, question: &str) -> Vec<Decimal> {
    let name = schema::split_name(name);
    let is_in = |list: &[&str]| name.iter().any(|word| list.contains(&word.as_str()));
    let is_count = is_in(COUNTING) && !is_in(OTHERWISE);
    let words: Vec<&str> = question.split_whitespace().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let length = run(&words[at..]);
        let (before, after) = (&words[..at], &words[at + length..]);
        let is_last = length > 0 && (after.is_empty() || words[at + length - 1].ends_with(ENDS));
        let is_asked = || {
            is_wanted(before) && counts(after) || is_bounded(before) && (is_last || counts(after))
        };
        if length > 0 && (is_named(before, &name) || (is_count && is_asked())) {
            found.extend(value(&words[at..at + length]));
        }
        at += length.max(1);
    }
    found
}

/// How many words the number at the start of some takes.
fn run(words: &[&str]) -> usize {
    let is_number = |word: &&&str| {
        let word = bare(word);
        let mut parts = word.split('-');
        word.starts_with(|one: char| one.is_ascii_digit())
            || parts.all(|part| words::value(part).is_some() || words::power(part).is_some())
    };
    words.iter().take_while(is_number).count()
}

/// The number that some words are, if they are one.
fn value(run: &[&str]) -> Option<Decimal> {
    let text = run.join(" ");
    let spoken: Vec<&str> = text.split([' ', '-']).collect();
    let mut found = numbers::find(&tokens::split(&text), &spoken).into_iter();
    let first = found.next();
    if found.next().is_none() { first } else { None }
}

/// `page 3`, `limit=20`, `a timeout of 5`: the name stands right before the number.
fn is_named(before: &[&str], name: &[String]) -> bool {
    let mut words = before.iter().rev().map(|word| bare(word));
    let word = words.find(|word| !matches!(*word, "of" | "is" | "to" | "" | "number" | "no"));
    word.is_some_and(|word| word.len() > 2 && name.iter().any(|part| part == word))
}

/// Whether something is asked for right before the number, or the question begins there.
fn is_wanted(before: &[&str]) -> bool {
    let mut words = before.iter().rev();
    let word = words.find(|word| !FILLERS.contains(&bare(word)));
    word.is_none_or(|word| VERBS.contains(&bare(word)) || word.ends_with(['.', '!', '?', ':', ';']))
}

/// `tickets about mail, at most 20`: a bound that is set apart from what stands before it.
fn is_bounded(before: &[&str]) -> bool {
    let fillers = before.iter().rev().take_while(|word| FILLERS.contains(&bare(word))).count();
    let (rest, fillers) = before.split_at(before.len() - fillers);
    // The mark may stand behind the last word, or before the first of the bound: `(at most 20)`.
    let is_apart = rest.last().is_some_and(|word| word.ends_with([',', '-', '(']))
        || fillers.first().is_some_and(|word| word.starts_with('('));
    let bound = fillers.iter().map(|word| bare(word)).rfind(|word| !matches!(*word, "of" | "the"));
    is_apart && bound.is_some_and(|word| BOUNDS.contains(&word))
}

/// Whether what follows can be counted, and is not measured.
fn counts(after: &[&str]) -> bool {
    let near = after.iter().take(MAX_BETWEEN).map(|word| bare(word));
    let things =
        near.take_while(|word| !matches!(*word, "of" | "in" | "for" | "about" | "and" | "or"));
    let mut plurals =
        things.filter(|word| word.len() > 3 && word.ends_with('s') && !word.ends_with("ss"));
    plurals.next().is_some_and(|word| !MEASURED.contains(&word))
}

/// A word without the marks around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|one: char| !one.is_alphanumeric())
}
