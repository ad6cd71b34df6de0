//! Whether a question bears a text.

use std::collections::HashSet;

use super::{
    asked::Asked,
    dates,
    decimal::Decimal,
    kin, letters, replaced,
    tokens::{self, Token},
};
use crate::policy;

/// How many words of a search may come from elsewhere.
const MAX_FOREIGN: usize = 2;
/// One word in so many may.
const FOREIGN_SHARE: usize = 3;

/// Why a text is not borne out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strange {
    /// There is nothing in it.
    Empty,
    /// It has characters that nobody sees.
    Unseen,
    /// An id, an address or another particular is not in the question.
    Particular,
    /// Too many words are not.
    Words,
}

/// What is strange about a text, if anything. For a search, a few words may be others.
pub(super) fn strange(text: &str, asked: &Asked, is_search: bool) -> Option<Strange> {
    if letters::has_unseen(text) && !asked.raw.contains(text) {
        return Some(Strange::Unseen);
    }
    let normal = letters::normal(text);
    if normal.is_empty() {
        return Some(Strange::Empty);
    }
    if is_number(&normal, asked) || is_date(&normal, asked) {
        return None;
    }
    // Signs that are no letters part tokens, so they are looked at here.
    let is_sign = |one: &char| !one.is_ascii() && !letters::is_letter(*one);
    let mut signs = normal.chars().filter(|one| is_sign(one) && !letters::is_unspaced(*one));
    if signs.any(|sign| !asked.text.contains(sign)) {
        return Some(Strange::Particular);
    }
    let mut argument = Argument { asked, is_search, words: Vec::new(), particulars: 0 };
    // Quotes make a phrase of words, and leave them what they are.
    let may_quote = is_search && normal.matches('"').count().is_multiple_of(2);
    for chunk in tokens::chunks(&normal) {
        let unquoted = if may_quote { chunk.trim_matches('"') } else { chunk };
        if let Some(strange) = argument.take(if unquoted.is_empty() { chunk } else { unquoted }) {
            return Some(strange);
        }
    }
    let is_borne = if is_search { argument.is_search(text) } else { argument.is_said(text) };
    (!is_borne).then_some(Strange::Words)
}

/// An argument, token by token.
struct Argument<'a> {
    asked: &'a Asked,
    is_search: bool,
    words: Vec<&'a str>,
    /// How many particulars it has that stand in the question.
    particulars: usize,
}

impl<'a> Argument<'a> {
    /// Takes one chunk; what is particular in it must stand in the question.
    fn take(&mut self, chunk: &'a str) -> Option<Strange> {
        let is_mixed = chunk.contains(letters::is_unspaced);
        if is_mixed && self.asked.has_part(tokens::plain(chunk)) {
            self.particulars += 1;
            return None;
        }
        tokens::split(chunk).iter().find_map(|token| self.token(token))
    }

    fn token(&mut self, token: &Token<'a>) -> Option<Strange> {
        if token.is_unspaced {
            let is_there = self.asked.has_part(token.text)
                || (self.is_search && is_made_of_pairs(token.text, &self.asked.text));
            self.particulars += 1;
            return (!is_there).then_some(Strange::Words);
        }
        let text = tokens::plain(token.text);
        if text.chars().all(|one| matches!(one, '.' | ',' | '?' | '!')) {
            return None;
        }
        // Of a word with hyphens, no part comes from elsewhere: `prod-db` is not `prod-db-replica`.
        let is_known = |word: &str| self.is_search && self.asked.has_kin(word);
        let is_compound = text.contains(['-', '\'']) && !letters::words(text).all(is_known);
        let is_particular = tokens::is_special(text) || !token.is_whole || is_compound;
        if !is_particular {
            self.words.extend(letters::words(text));
            return None;
        }
        self.particulars += 1;
        let is_there = self.asked.has_token(token.text) || self.asked.has_token(text);
        (!is_there && !self.is_labelled(text)).then_some(Strange::Particular)
    }

    /// `tag:urgent` in a search, where the question speaks of tags and says `urgent`.
    fn is_labelled(&self, text: &str) -> bool {
        let Some((key, value)) = tokens::pair(text).filter(|_| self.is_search) else {
            return false;
        };
        let is_value = self.asked.has_token(value)
            || (!tokens::is_special(value) && self.asked.has_word(value));
        !tokens::is_special(key) && self.asked.has_kin(key) && is_value
    }

    /// Whether all words stand in the question. Names of one person are not put together from two.
    fn is_said(&self, text: &str) -> bool {
        let capitals = capitals(text);
        let is_name = |word: &str| self.asked.is_name(word) || capitals.contains(word);
        // `it` and `this` name nothing, unless someone is called so; `me` names the person.
        let is_nothing =
            |word: &str| kin::is_stop(word) && word != "me" && !self.asked.is_name(word);
        let mut words = self.words.iter();
        if self.particulars == 0 && words.all(|word| is_nothing(word)) {
            return false;
        }
        self.words.iter().all(|word| self.asked.has_plain_word(word) || self.asked.has_token(word))
            && self.words.windows(2).all(|pair| {
                !(is_name(pair[0]) && is_name(pair[1]))
                    || self.asked.are_neighbours(pair[0], pair[1])
            })
    }

    /// Whether most words of a search stand in the question in some form.
    fn is_search(&self, text: &str) -> bool {
        let content = self.words.iter().enumerate().filter(|(_, word)| !kin::is_stop(word));
        let mut content = content.peekable();
        if content.peek().is_none() {
            let is_something = self.particulars > 0 || !self.words.is_empty();
            return is_something && self.words.iter().all(|word| self.asked.has_word(word));
        }
        let capitals = capitals(text);
        let first = self.words.first().copied();
        let (mut known, mut foreign) = (self.particulars, Vec::new());
        for (at, word) in content {
            if self.asked.has_kin(word) {
                known += 1;
            } else if !kin::is_light(word) {
                // A name that nobody asked for is more than another word.
                if capitals.contains(*word) && first != Some(*word) {
                    return false;
                }
                foreign.push(at);
            }
        }
        let count = foreign.len();
        let capital = first.filter(|word| capitals.contains(*word));
        known > 0
            && count <= MAX_FOREIGN
            && count * FOREIGN_SHARE <= known + count
            && !replaced::is_name_replaced(text, &self.words, &foreign, capital, self.asked)
    }
}

/// The words of a text that begin with a capital, in small letters.
fn capitals(text: &str) -> HashSet<String> {
    let text = policy::visible(text);
    let capitals = letters::words(&text).filter(|word| word.starts_with(char::is_uppercase));
    capitals.map(letters::normal).collect()
}

/// Whether a search in a script without spaces is put together from what the question has: every
/// character, and two thirds of the pairs.
fn is_made_of_pairs(part: &str, question: &str) -> bool {
    let starts: Vec<usize> = part.char_indices().map(|(at, _)| at).chain([part.len()]).collect();
    let is_there = |count: usize| {
        starts
            .windows(count + 1)
            .filter(|ends| question.contains(&part[ends[0]..ends[count]]))
            .count()
    };
    let length = starts.len() - 1;
    // Longer ones are looked for as they are: this takes time with the square.
    (2..=64).contains(&length) && is_there(1) == length && is_there(2) * 3 >= (length - 1) * 2
}

/// A number in a text, as programs write it.
fn is_number(text: &str, asked: &Asked) -> bool {
    let is_plain =
        text == "0" || !text.trim_start_matches('-').starts_with('0') || text.starts_with("0.");
    let number = Decimal::parse(text).filter(|_| is_plain && !text.contains('e'));
    number.is_some_and(|number| asked.has_number(&number))
}

fn is_date(text: &str, asked: &Asked) -> bool {
    !asked.dates.is_empty()
        && text.len() <= 40
        && text.contains(|one: char| one.is_ascii_digit())
        && dates::is_borne(text, &asked.dates, |time| asked.has_token(time))
}
