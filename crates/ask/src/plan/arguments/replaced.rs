//! Names of the question that a search puts another word in the place of.
//!
//! A few words of a search may be others, but `Fabrikam invoices` is no other word for the invoices of Contoso. A word from
//! elsewhere takes the place of a name where the search leaves the name out, and the word stands first with a capital, or where
//! the name stood.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use super::{asked::Asked, counts, kin, letters};
use crate::policy;

/// How many names of a question are looked at.
const MAX_NAMES: usize = 32;
/// In how many places one is.
const MAX_PLACES: usize = 8;
/// The shortest name, in bytes.
const MIN_NAME: usize = 3;
/// What has a capital and is no name that could be replaced.
const DAYS: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "english",
];
/// Words that may begin a sentence with `'s` behind them.
const SHORTENED: &[&str] =
    &["he", "here", "how", "it", "let", "she", "that", "there", "what", "when", "where", "who"];
/// What a question may begin with besides, and is no name.
const TELLS: &[&str] = &[
    "analyse",
    "analyze",
    "any",
    "anything",
    "compare",
    "count",
    "describe",
    "explain",
    "how",
    "many",
    "report",
    "review",
    "some",
    "something",
    "summarise",
    "summarize",
    "tell",
    "translate",
    "verify",
];
/// Where is searched is not what is searched for: `search Confluence`.
const SEARCHES: &[&str] = &["search", "searching", "query", "browse"];
/// What may stand between such a word and a name.
const BETWEEN: &[&str] = &["in", "on", "the", "our", "through"];

/// Whether one of the words from elsewhere takes the place of a name that a text leaves out. `capital` is the first word of the
/// search, if it has one.
pub(super) fn is_name_replaced(
    text: &str,
    words: &[&str],
    foreign: &[usize],
    capital: Option<&str>,
    asked: &Asked,
) -> bool {
    if foreign.is_empty() || asked.is_german() {
        return false;
    }
    let text = letters::normal(text);
    let kept: HashSet<String> = letters::words(&text).map(stem).collect();
    let mut names = names(&asked.raw);
    names.retain(|name| !kept.contains(&kin::stem(name)));
    if names.is_empty() {
        return is_opening_replaced(words, foreign, &kept, asked);
    }
    if capital.is_some_and(|capital| foreign.first().is_some_and(|at| words[*at] == capital)) {
        return true;
    }
    let search = Search::new(words, asked);
    names.iter().any(|name| {
        let places = (0..search.said.len()).filter(|at| search.said[*at] == *name);
        places.take(MAX_PLACES).any(|place| foreign.iter().any(|at| search.stands(*at, place)))
    })
}

/// Whether a search is the whole question but for its first word: `Contoso invoices` may begin with a name.
fn is_opening_replaced(
    words: &[&str],
    foreign: &[usize],
    kept: &HashSet<String>,
    asked: &Asked,
) -> bool {
    let [at] = *foreign else { return false };
    let is_first = words[..at].iter().all(|word| kin::is_stop(word));
    let mut said = letters::words(&asked.text).filter(|word| !kin::is_stop(word));
    let is_name = said.next().is_some_and(|word| {
        let is_deed = counts::VERBS.contains(&word) || TELLS.contains(&word);
        asked.text.starts_with(word)
            && !is_deed
            && !kin::is_light(word)
            && !kept.contains(&stem(word))
    });
    is_first && is_name && said.all(|word| kept.contains(&stem(word)))
}

/// The words of a search, and those of the question.
struct Search<'a> {
    /// The stems of the words of the search.
    words: Vec<String>,
    /// The words of the question.
    said: Vec<Cow<'a, str>>,
    /// Where a stem stands in the question first, and where last.
    places: HashMap<String, (usize, usize)>,
}

impl<'a> Search<'a> {
    fn new(words: &[&str], asked: &'a Asked) -> Self {
        let said: Vec<_> = letters::words(&asked.text).map(letters::bare).collect();
        let mut places: HashMap<String, (usize, usize)> = HashMap::new();
        for (at, word) in said.iter().enumerate() {
            places.entry(kin::stem(word)).or_insert((at, at)).1 = at;
        }
        Self { words: words.iter().map(|word| stem(word)).collect(), said, places }
    }

    /// Whether a word of the search stands where a word of the question does: beside the same, or before or between the same.
    fn stands(&self, at: usize, place: usize) -> bool {
        let beside = self.beside(place);
        let mut neighbours = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        if neighbours.any(|word| self.words.get(word).is_some_and(|word| beside.contains(word))) {
            return true;
        }
        let place_of = |word: &String| self.places.get(word).copied();
        let left = self.words[..at].iter().rev().find_map(place_of);
        let mut behind = self.words[at + 1..].iter().filter_map(place_of);
        let Some((first, last)) = behind.next() else { return false };
        let is_before = match left {
            Some((left, _)) => left < place,
            None => first > place && behind.all(|(first, _)| first > place),
        };
        is_before && last > place
    }

    /// The stems of what belongs to a word of the question: right behind it, or before it with small words between.
    fn beside(&self, place: usize) -> Vec<String> {
        let is_telling = |at: &usize| !kin::is_stop(&self.said[*at]);
        let after = (place + 1..self.said.len()).find(|at| self.said[*at] != "s");
        let before = (0..place).rev().find(is_telling);
        let beside = after.filter(is_telling).into_iter().chain(before);
        beside.map(|at| kin::stem(&self.said[at])).collect()
    }
}

/// The stem of a word of a normalised text.
fn stem(word: &str) -> String {
    kin::stem(&letters::bare(word))
}

/// The names of a question that are written as people and companies write theirs: one capital, and no sentence begins with it.
fn names(question: &str) -> Vec<String> {
    let text = policy::visible(question);
    let mut names = Vec::new();
    let (mut is_start, mut before) = (true, String::new());
    for chunk in text.split_whitespace() {
        for word in letters::words(chunk) {
            let mut rest = word.chars();
            let is_capital = rest.next().is_some_and(char::is_uppercase);
            let is_plain = is_capital && rest.all(char::is_lowercase);
            let name = letters::bare(&policy::folded(word)).into_owned();
            let is_owner = [format!("{word}'s"), format!("{word}’s")]
                .iter()
                .any(|owner| chunk.contains(owner.as_str()));
            let is_known = !is_start || is_owner && !SHORTENED.contains(&name.as_str());
            let is_other = name.len() < MIN_NAME
                || DAYS.contains(&name.as_str())
                || kin::is_stop(&name)
                || kin::is_light(&name)
                || SEARCHES.contains(&before.as_str());
            let is_new = names.len() < MAX_NAMES && !names.contains(&name);
            if is_plain && is_known && !is_other && is_new {
                names.push(name.clone());
            }
            if !BETWEEN.contains(&name.as_str()) {
                before = name;
            }
            is_start = false;
        }
        let end = chunk.trim_end_matches(['"', ')', '\'']);
        is_start |= end.ends_with(['.', '?', '!', ':']);
    }
    names
}
