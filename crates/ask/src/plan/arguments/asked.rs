//! A question, taken apart once for all of its arguments.

use std::{
    cell::OnceCell,
    collections::{HashMap, HashSet},
};

use super::{
    dates::{self, Date},
    decimal::Decimal,
    kin, letters, numbers,
    tokens::{self, Token},
};
use crate::policy;

/// How many tokens in a row may be one id: `sp 001`.
const MAX_RUN: usize = 4;
/// How much of a question is read, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// A question, taken apart.
pub(super) struct Asked {
    /// As it was typed.
    pub raw: String,
    /// Its normal form.
    pub text: String,
    tokens: HashSet<String>,
    words: HashSet<String>,
    /// The words that are no part of an address.
    plain: HashSet<String>,
    /// Words in their order, where each stands.
    order: HashMap<String, Vec<usize>>,
    /// Words with a capital in the middle of a sentence, and neither more nor less than that.
    names: HashSet<String>,
    /// The stems of all others.
    stems: HashSet<String>,
    is_german: bool,
    numbers: HashSet<Decimal>,
    /// The days, months and years that it names.
    pub dates: Vec<Date>,
    runs: OnceCell<HashSet<String>>,
}

impl Asked {
    /// Takes a question apart.
    pub fn new(question: &str) -> Self {
        let raw = question[..question.floor_char_boundary(MAX_BYTES)].to_owned();
        // What a long dash parts are two things, and a hyphen parts none.
        let text = letters::normal(&raw.replace(['\u{2014}', '\u{2015}'], " \u{2014} "));
        let split = tokens::split(&text);
        let mut whole = HashSet::new();
        for chunk in tokens::chunks(&text) {
            tokens::offer(chunk, &mut |token| {
                whole.insert(token.to_owned());
            });
        }
        for token in split.iter().filter(|token| token.is_whole) {
            tokens::offer(token.text, &mut |token| {
                whole.insert(token.to_owned());
            });
        }
        let mut plain = HashSet::new();
        for token in split.iter().filter(|token| !is_address(token.text)) {
            plain.extend(letters::words(token.text).flat_map(spellings));
        }
        let spoken: Vec<&str> = letters::words(&text).collect();
        let bare: Vec<_> = spoken.iter().map(|word| letters::bare(word)).collect();
        let bare: Vec<&str> = bare.iter().map(|word| &**word).collect();
        let mut order: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, word) in bare.iter().enumerate() {
            order.entry((*word).to_owned()).or_default().push(at);
        }
        let (names, acronyms) = names(&raw);
        let common = bare.iter().filter(|word| !names.contains(**word));
        let stems = common.map(|word| kin::stem(word)).chain(acronyms);
        let dates = dates::find(&text);
        let mut numbers = numbers::find(&split, &bare);
        for date in dates.iter().filter(|date| date.month > 0) {
            let parts = [date.year, date.month, date.day].into_iter().filter(|part| *part > 0);
            numbers.extend(parts.map(|part| Decimal::small(part.into())));
        }
        Self {
            tokens: whole,
            words: spoken.iter().copied().flat_map(spellings).collect(),
            plain,
            order,
            stems: stems.collect(),
            names,
            is_german: kin::is_german(&bare),
            numbers,
            dates,
            runs: OnceCell::new(),
            raw,
            text,
        }
    }

    /// Whether a token stands in the question, whole. Case and the marks `-`, `_` and space inside an
    /// id are aside: to a person, `SP001` is `sp-001`.
    pub fn has_token(&self, token: &str) -> bool {
        let other = token.strip_suffix('/').filter(|short| !short.is_empty());
        self.tokens.contains(token)
            || other.is_some_and(|token| self.tokens.contains(token))
            || self.has_run(token)
    }

    fn has_run(&self, token: &str) -> bool {
        let is_id = is_plain_id(token)
            && token.contains(|one: char| matches!(one, '-' | '_') || one.is_numeric());
        is_id && self.runs.get_or_init(|| runs(&tokens::split(&self.text))).contains(&key(token))
    }

    /// Whether a word stands in the question, in just this form.
    pub fn has_word(&self, word: &str) -> bool {
        self.words.contains(&*letters::bare(word))
    }

    /// Whether a word stands in the question, and not only within an address.
    pub fn has_plain_word(&self, word: &str) -> bool {
        self.plain.contains(&*letters::bare(word))
    }

    /// Whether a word or a form of it stands in the question, or another word for the same.
    pub fn has_kin(&self, word: &str) -> bool {
        let word = &*letters::bare(word);
        if self.words.contains(word) {
            return true;
        }
        let stem = kin::stem(word);
        if self.stems.contains(&stem)
            || kin::synonyms(&stem).any(|other| self.stems.contains(other))
        {
            return true;
        }
        let is_common = |word: &str| self.words.contains(word) && !self.names.contains(word);
        let is_noun = |word: &str| self.is_german && self.names.contains(word);
        kin::has_other_form(word, &is_common, false) || kin::has_other_form(word, &is_noun, true)
    }

    /// Whether it is in German, where every noun is written as a name.
    pub fn is_german(&self) -> bool {
        self.is_german
    }

    /// Whether a word is written as a name.
    pub fn is_name(&self, word: &str) -> bool {
        self.names.contains(&*letters::bare(word))
    }

    /// Whether two words stand side by side.
    pub fn are_neighbours(&self, one: &str, other: &str) -> bool {
        let places = |word: &str| self.order.get(&*letters::bare(word));
        let (Some(one), Some(other)) = (places(one), places(other)) else { return false };
        one.iter().any(|at| {
            other.binary_search(&(at + 1)).is_ok()
                || at.checked_sub(1).is_some_and(|at| other.binary_search(&at).is_ok())
        })
    }

    /// Whether a number stands in the question.
    pub fn has_number(&self, number: &Decimal) -> bool {
        self.numbers.contains(number)
    }

    /// Whether a text of a script without spaces stands in the question; where it goes over into
    /// another script, it must end where a token does.
    pub fn has_part(&self, part: &str) -> bool {
        self.text.match_indices(part).any(|(start, found)| {
            let end = start + found.len();
            let is_open = |one: char| letters::is_unspaced(one) || one.is_whitespace();
            let before = self.text[..start].rsplit(is_open).next().unwrap_or_default();
            let after = self.text[end..].split(is_open).next().unwrap_or_default();
            let is_mark = |one: char| {
                !letters::is_letter(one)
                    && !matches!(one, '/' | '-' | '_' | '\\' | '@' | '~' | '#' | '+')
            };
            (part.starts_with(letters::is_unspaced) || before.chars().all(is_mark))
                && (part.ends_with(letters::is_unspaced) || after.chars().all(is_mark))
        })
    }
}

/// A word as it is, and with its umlauts in two letters.
fn spellings(word: &str) -> impl Iterator<Item = String> {
    [Some(letters::bare(word).into_owned()), letters::without_umlauts(word)].into_iter().flatten()
}

/// Whether a token is a host, an address or a mailbox: its words are no names by themselves.
fn is_address(token: &str) -> bool {
    let inside = tokens::plain(token);
    let has_dot = inside.split('.').skip(1).any(|after| after.starts_with(letters::is_letter));
    inside.contains("://") || inside.contains('@') || has_dot
}

/// Whether a token has nothing in it but letters, digits and the marks of ids.
fn is_plain_id(token: &str) -> bool {
    let is_plain = |one: char| {
        (letters::is_letter(one) && !letters::is_unspaced(one)) || matches!(one, '-' | '_')
    };
    let is_ended = |one: char| !matches!(one, '-' | '_');
    token.chars().all(is_plain) && token.starts_with(is_ended) && token.ends_with(is_ended)
}

/// An id without its marks. Between two digits they stay: `12-34` is not `1234`.
fn key(id: &str) -> String {
    let mut key = String::with_capacity(id.len());
    let mut is_apart = false;
    for one in id.chars() {
        if matches!(one, '-' | '_' | ' ') {
            is_apart = true;
            continue;
        }
        if is_apart && one.is_numeric() && key.ends_with(char::is_numeric) {
            key.push('-');
        }
        is_apart = false;
        key.push(one);
    }
    key
}

/// The keys of all ids that tokens in a row may be.
fn runs(tokens: &[Token]) -> HashSet<String> {
    let mut keys = HashSet::new();
    for start in 0..tokens.len() {
        let mut run = String::new();
        for token in tokens[start..].iter().take(MAX_RUN) {
            let mut inner = token.text;
            let mut shortest = inner.len() + 1;
            // Of what the token stands for, the least: without the marks around it.
            tokens::offer(token.text, &mut |offered| {
                if offered.len() < shortest && token.text.starts_with(offered)
                    || is_plain_id(offered) && !is_plain_id(inner)
                {
                    (inner, shortest) = (offered, offered.len());
                }
            });
            if !token.is_whole || !is_plain_id(inner) {
                break;
            }
            run.push(' ');
            run.push_str(inner);
            keys.insert(key(&run));
            // A mark behind a token ends what it belongs to.
            if !token.text.ends_with(inner) {
                break;
            }
        }
    }
    keys
}

/// The words that have a capital though no sentence begins with them, and apart from these the
/// abbreviations that stand in the plural: `APIs`.
fn names(question: &str) -> (HashSet<String>, Vec<String>) {
    let text = policy::visible(question);
    let (mut names, mut acronyms) = (HashSet::new(), Vec::new());
    let mut is_start = true;
    for chunk in text.split_whitespace() {
        for word in letters::words(chunk) {
            let is_capital = word.starts_with(char::is_uppercase);
            let singular = word.strip_suffix('s').filter(|rest| rest.len() > 1);
            if let Some(rest) = singular.filter(|rest| rest.chars().all(char::is_uppercase)) {
                acronyms.push(policy::folded(rest));
            } else if is_capital && !is_start {
                names.insert(letters::bare(&policy::folded(word)).into_owned());
            }
            is_start = false;
        }
        let end = chunk.trim_end_matches(['"', ')', '\'']);
        is_start |= end.ends_with(['.', '?', '!', ':']);
    }
    (names, acronyms)
}
