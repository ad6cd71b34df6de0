//! The values of a question: its texts, words, numbers and dates.

use std::collections::HashSet;

use jiff::civil::{Date, DateTime, Time};

use crate::{
    shortlist,
    text::{is_unspaced, normal, words},
};

/// The most words of a date.
const MAX_DATE_WORDS: usize = 4;
/// The most groups of three digits behind the first.
const MAX_DIGIT_GROUPS: usize = 6;
/// The greatest length of the unit right behind a number, as in `30d` and `512mb`, in bytes.
const MAX_UNIT_BYTES: usize = 4;
/// Longer words are no words, in bytes.
const MAX_WORD_BYTES: usize = 64;
/// Marks that join two parts of an id, a path or an address.
const JOINING: &str = "-_./\\@:#+&=%~?";
/// Quotation marks and brackets that may stand around a value.
const AROUND: &[char] = &['\'', '(', ')', '[', ']', '{', '}', '<', '>', '*'];
/// Marks that no plain words of a search have.
const CODE_MARKS: &str = "$|;<>{}[]\\=~^&%*";
/// The ways in which people write a day.
const DATE_FORMATS: &[&str] = &[
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d %B %Y", "%d %b %Y",
    "%B %d %Y", "%b %d %Y",
];
/// Small numbers in words, from 2: `one` and `zero` are rarely numbers.
const NUMBER_WORDS: [&str; 11] =
    ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

pub(in crate::plan) struct QuestionValues {
    /// In normal form, with one kind of quotation mark.
    text: String,
    /// The stems of its words.
    words: HashSet<String>,
    numbers: HashSet<String>,
    dates: HashSet<Date>,
}

impl QuestionValues {
    pub fn new(question: &str) -> Self {
        let text = one_quote(&normal(question));
        let words = words(&text).map(shortlist::stem).collect();
        Self { words, numbers: numbers(&text), dates: dates(&text), text }
    }

    /// True if a text stands in the question as a whole: not as a part of a longer id, path or address.
    pub fn has_text(&self, text: &str) -> bool {
        let needle = one_quote(&normal(text));
        let needle = needle.trim_matches(['\'', ' ']);
        !needle.is_empty()
            && self.text.match_indices(needle).any(|(at, found)| {
                let (before, behind) = (&self.text[..at], &self.text[at + found.len()..]);
                begins(before, found.chars().next()) && ends(behind, found.chars().next_back())
            })
    }

    pub fn has_word(&self, word: &str) -> bool {
        self.words.contains(&shortlist::stem(&normal(word)))
    }

    pub fn has_number(&self, number: &str) -> bool {
        decimal(number).is_some_and(|number| self.numbers.contains(&number))
    }

    pub fn has_numbers(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// The whole numbers, in order.
    pub fn integers(&self) -> Vec<i64> {
        let mut integers: Vec<i64> =
            self.numbers.iter().filter_map(|one| one.parse().ok()).collect();
        integers.sort_unstable();
        integers
    }

    /// True if a text is a day that the question names, or that day at a time that it names.
    pub fn has_date(&self, text: &str) -> bool {
        let text = normal(text);
        if date_readings(&text).any(|date| self.dates.contains(&date)) {
            return true;
        }
        let without_zone = text.strip_suffix('z').unwrap_or(&text);
        let Ok(at) = without_zone.to_uppercase().parse::<DateTime>() else { return false };
        let minutes = format!("{:02}:{:02}", at.hour(), at.minute());
        self.dates.contains(&at.date())
            && (at.time() == Time::midnight() || self.has_text(&minutes))
    }

    /// The words of a text that the question does not have. Ids, paths and addresses count as many: they are not made up.
    pub fn new_words(&self, text: &str) -> Vec<String> {
        let text = one_quote(&normal(text));
        let is_code = text.contains(|one| CODE_MARKS.contains(one) && !self.text.contains(one));
        let mut new = Vec::new();
        for token in text.split_whitespace() {
            let token = token.trim_matches(|one: char| !one.is_alphanumeric());
            if token.is_empty() || self.has_text(token) {
                continue;
            }
            let is_made_up = is_code
                || token.len() > MAX_WORD_BYTES
                || token.chars().any(|one| one.is_numeric() || "_./\\@:".contains(one));
            for word in words(token).filter(|word| !self.has_word(word)) {
                // Without spaces there is no telling words apart: two signs count as one.
                let count = match word.chars().next() {
                    _ if is_made_up => super::MAX_NEW_WORDS + 1,
                    Some(first) if is_unspaced(first) => word.chars().count().div_ceil(2),
                    _ => 1,
                };
                if !self.text.contains(word) || !word.chars().all(is_unspaced) {
                    new.extend(std::iter::repeat_n(word.to_owned(), count));
                }
            }
        }
        new
    }
}

/// True if a value begins behind this text: it is no part of a longer id, path or address.
fn begins(before: &str, first: Option<char>) -> bool {
    let bare = before.trim_end_matches(AROUND);
    let Some(last) = bare.chars().next_back() else { return true };
    let is_word = first.is_some_and(char::is_alphanumeric);
    if is_unspaced(last) || first.is_some_and(is_unspaced) {
        return is_word || bare.len() < before.len();
    }
    // `/etc/hosts` has no `etc/hosts`.
    if matches!(last, '/' | '\\' | '.') && is_word {
        return false;
    }
    if last.is_alphanumeric() {
        // `backup/etc` has no `/etc`, but `'a' and` has an `a`.
        return bare.len() < before.len() && is_word;
    }
    // `id:policy-002` and `id=policy-002` are fine, `urn:policy:002` has no `002`.
    let label =
        bare.strip_suffix([':', '=']).and_then(|label| label.rsplit(char::is_whitespace).next());
    label.is_some_and(|label| {
        !label.contains(|one| JOINING.contains(one)) && (is_word || last == '=')
    }) || !JOINING.contains(last)
        || !bare[..bare.len() - last.len_utf8()].ends_with(char::is_alphanumeric)
}

/// True if a value ends before this text.
fn ends(behind: &str, last: Option<char>) -> bool {
    let bare = behind.trim_start_matches(AROUND);
    let mut characters = bare.chars();
    let Some(next) = characters.next() else { return true };
    if is_unspaced(next) || last.is_some_and(is_unspaced) {
        return last.is_some_and(char::is_alphanumeric) || bare.len() < behind.len();
    }
    if next.is_alphanumeric() {
        return bare.len() < behind.len();
    }
    // `10.0.0.1:8080` has the address and its port.
    let following = characters.next();
    let is_port = next == ':' && following.is_some_and(char::is_numeric);
    is_port || !JOINING.contains(next) || !following.is_some_and(char::is_alphanumeric)
}

fn one_quote(text: &str) -> String {
    text.replace(['"', '`'], "'")
}

/// A number in one spelling: no sign but `-`, no zeros that say nothing.
fn decimal(written: &str) -> Option<String> {
    if written.contains(['e', 'E']) {
        let value: f64 = written.parse().ok()?;
        return decimal(&format!("{value}")).filter(|_| value.is_finite());
    }
    let (sign, digits) = written.strip_prefix('-').map_or(("", written), |digits| ("-", digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    Some(match (whole, fraction) {
        ("", "") => "0".to_owned(),
        (_, "") => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{fraction}"),
    })
}

/// All numbers of a text. What can be read in two ways is read in both.
fn numbers(text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    let is_end =
        |one: char| one.is_whitespace() || ":=;|'[]{}()<>*".contains(one) || is_unspaced(one);
    let tokens: Vec<&str> = text.split(is_end).filter(|token| !token.is_empty()).collect();
    for (at, token) in tokens.iter().enumerate() {
        let token = token.trim_start_matches(['$', '€', '£', '#', '+', '~', ',']);
        let token = token.trim_end_matches([',', '.', '!', '?']);
        if let Some(number) = NUMBER_WORDS.iter().position(|word| *word == token) {
            found.insert((number + 2).to_string());
        }
        found.extend(decimal(token));
        let (sign, rest) = token.strip_prefix('-').map_or(("", token), |rest| ("-", rest));
        let end = rest.find(|one: char| !one.is_ascii_digit() && !matches!(one, '.' | ','));
        let (digits, unit) = rest.split_at(end.unwrap_or(rest.len()));
        if unit.len() <= MAX_UNIT_BYTES && unit.chars().all(|one| one.is_alphabetic() || one == '%')
        {
            let thousands = if unit == "k" { "000" } else { "" };
            found.extend(
                readings(digits, sign)
                    .filter_map(|number| decimal(&format!("{number}{thousands}"))),
            );
        }
        // `5-10`
        if let Some((from, to)) = token.split_once('-')
            && (from.len() <= 3 && to.len() <= 3 || from.len() == to.len())
            && [from, to]
                .iter()
                .all(|end| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit()))
        {
            found.extend([from, to].into_iter().filter_map(decimal));
        }
        // `1 000 000`
        let is_group =
            |group: &&&str| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
        let groups: Vec<&str> =
            tokens[at + 1..].iter().take(MAX_DIGIT_GROUPS).take_while(is_group).copied().collect();
        if !groups.is_empty() && token.len() <= 3 {
            found.extend(decimal(&format!("{token}{}", groups.concat())));
        }
    }
    found
}

/// The readings of digits with points and commas: groups, a fraction, or a list.
fn readings(digits: &str, sign: &str) -> impl Iterator<Item = String> {
    let parts: Vec<&str> = digits.split(['.', ',']).collect();
    let is_grouped = parts.len() > 1
        && (1..=3).contains(&parts[0].len())
        && parts[1..].iter().all(|part| part.len() == 3);
    let grouped = is_grouped.then(|| format!("{sign}{}", parts.concat()));
    // `1,234.5` and `1.234,5`
    let last = digits.rfind(['.', ',']);
    let marked = last.map(|at| {
        let whole: String = digits[..at].chars().filter(char::is_ascii_digit).collect();
        format!("{sign}{whole}.{}", &digits[at + 1..])
    });
    let is_mixed = digits.contains('.') && digits.contains(',')
        || parts.len() == 2 && !(is_grouped && digits.contains(','));
    let plain = (parts.len() == 1).then(|| format!("{sign}{digits}"));
    // `80,443` may be two ports, `1,000` is one number.
    let is_list = digits.contains(',')
        && !(is_grouped && parts[1..].iter().any(|part| part.starts_with('0')));
    let items = digits.split(',').enumerate().filter(|(_, item)| is_list && !item.is_empty());
    let several: Vec<String> =
        items.map(|(at, item)| format!("{}{item}", if at == 0 { sign } else { "" })).collect();
    plain.into_iter().chain(grouped).chain(marked.filter(|_| is_mixed)).chain(several)
}

/// All days of a text, however they are written.
fn dates(text: &str) -> HashSet<Date> {
    let is_end = |one: char| one.is_whitespace() || "'()[]{}<>".contains(one);
    let tokens: Vec<&str> = text.split(is_end).filter(|token| !token.is_empty()).collect();
    let mut found = HashSet::new();
    for start in 0..tokens.len() {
        for end in start + 1..=(start + MAX_DATE_WORDS).min(tokens.len()) {
            found.extend(date_readings(&tokens[start..end].join(" ")));
        }
    }
    found
}

/// The days that a text can mean. `03/05/2024` means two.
fn date_readings(text: &str) -> impl Iterator<Item = Date> + use<> {
    let words = text.split([' ', ',']).filter(|word| !matches!(*word, "" | "of" | "the"));
    let words = words.map(|word| {
        let digits = word.trim_end_matches(['.', '!', '?', ';', ':']);
        let bare = digits.trim_end_matches(|one: char| one.is_ascii_alphabetic());
        let is_ordinal = matches!(&digits[bare.len()..], "st" | "nd" | "rd" | "th");
        if is_ordinal && !bare.is_empty() { bare } else { digits }
    });
    let words: Vec<&str> = words.collect();
    let has_year = words.iter().any(|word| word.bytes().filter(u8::is_ascii_digit).count() >= 4);
    let text = words.join(" ");
    let formats = DATE_FORMATS.iter().filter(move |_| has_year);
    formats.filter_map(move |format| Date::strptime(format, &text).ok())
}
