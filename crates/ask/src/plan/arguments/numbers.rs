//! The numbers of a question: in digits, in words, in lists, with the marks that people put between
//! digits. What can be read in two ways is read in both.

use std::collections::HashSet;

use super::{decimal::Decimal, tokens::Token, words};

/// Units that stand right behind their number.
const UNITS: &[&str] = &[
    "%", "am", "cm", "d", "day", "days", "eur", "gb", "h", "hrs", "kb", "kg", "km", "m", "mb",
    "min", "mins", "mm", "mo", "ms", "nd", "pm", "px", "rd", "s", "sec", "st", "tb", "th", "usd",
    "w", "x", "y",
];
/// How many groups of three digits may follow the first.
const MAX_GROUPS: usize = 6;
/// Signs in Chinese, Japanese and Korean that a numeral counts, right behind it.
const COUNTERS: &str = "个個件条條名份张張封篇つ枚本개건";
/// Numerals that count, from 2.
const NUMERALS: &str = "二三四五六七八九十";

/// All the numbers that a question has, as its tokens and as its words have them.
pub(super) fn find(tokens: &[Token], spoken: &[&str]) -> HashSet<Decimal> {
    let mut found = HashSet::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        if token.is_unspaced {
            numerals(token.text, &mut found);
            continue;
        }
        let next = tokens.get(at).map_or("", |next| bare(next.text));
        if let Some(groups) = grouped(token.text, &tokens[at..], &mut found) {
            at += groups;
            continue;
        }
        let mut numbers = Vec::new();
        written(token.text, &mut numbers);
        for number in numbers {
            take(number, next, &mut found);
        }
    }
    words::numbers(spoken, &mut found);
    found
}

fn bare(token: &str) -> &str {
    token.trim_matches(|one: char| !one.is_alphanumeric() && one != '%')
}

/// A number, and what the word behind it makes of it.
fn take(number: Decimal, next: &str, found: &mut HashSet<Decimal>) {
    if let Some(power) = words::power(next) {
        found.extend(number.shifted(power));
        return;
    }
    match next {
        "%" | "percent" | "prozent" => found.extend(number.shifted(-2)),
        // Degrees of the south and the west are below zero.
        "s" | "south" | "w" | "west" => found.extend([number.negated()]),
        _ => {}
    }
    found.insert(number);
}

/// `1 000 000`: how many tokens more it takes. `12 345` may also be two numbers.
fn grouped(first: &str, rest: &[Token], found: &mut HashSet<Decimal>) -> Option<usize> {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !(1..=3).contains(&first.len()) || !is_digits(first) {
        return None;
    }
    let groups = rest.iter().take(MAX_GROUPS).map(|token| bare(token.text));
    let groups: Vec<_> = groups.take_while(|text| text.len() == 3 && is_digits(text)).collect();
    if groups.is_empty() {
        return None;
    }
    found.insert(Decimal::new(false, &format!("{first}{}", groups.concat()), ""));
    if groups.iter().any(|group| group.starts_with('0')) { Some(groups.len()) } else { None }
}

/// The numbers of one token.
fn written(token: &str, found: &mut Vec<Decimal>) {
    let token =
        token.trim_start_matches(['(', '[', '{', '<', '"', '\'', '`', '#', '$', '=', '~', '*']);
    let token = token
        .trim_end_matches([')', ']', '}', '>', '"', '\'', '`', ',', ';', ':', '!', '?', '.', '*']);
    let token = token.strip_suffix("'s").unwrap_or(token);
    if !token.bytes().any(|byte| byte.is_ascii_digit()) || token.contains(['/', '@', '\\', '?']) {
        return;
    }
    // `-5,3` may be a list, and its sign is that of the first.
    let is_signed_list = token.starts_with('-') && token.contains(',');
    if (one(token, found) || range(token, found)) && !is_signed_list {
        return;
    }
    // Lists, pairs of key and value, JSON, the time of day.
    let parts = token.split([',', ';', '=', ':', '"', '[', ']', '{', '}', '(', ')', '<', '>', '|']);
    if token.contains(':') && token.matches(':').count() > 1 && !token.contains(['"', ',']) {
        return;
    }
    for part in parts.filter(|part| *part != token) {
        let _ = one(part, found) || range(part, found);
    }
}

/// `5-10`: both ends, where it is no telephone number.
fn range(token: &str, found: &mut Vec<Decimal>) -> bool {
    let Some((from, to)) = token.split_once('-') else { return false };
    let is_end = |text: &str| {
        !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_even = (from.len() <= 3 && to.len() <= 3) || from.len() == to.len();
    let is_range = is_end(from) && is_end(to) && is_even;
    if is_range {
        found.extend([Decimal::new(false, from, ""), Decimal::new(false, to, "")]);
    }
    is_range
}

/// One number with its sign and its unit, in every way that it can be read.
fn one(written: &str, found: &mut Vec<Decimal>) -> bool {
    let written = written.strip_prefix("top").map_or(written, |rest| rest.trim_start_matches('-'));
    let (is_negative, rest) = match written.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, written.strip_prefix(['+', 'v', '$']).unwrap_or(written)),
    };
    if let Some(number) = Decimal::parse(rest).filter(|_| rest.contains('e')) {
        found.push(if is_negative { number.negated() } else { number });
        return true;
    }
    let end = rest.find(|one: char| !one.is_ascii_digit() && !matches!(one, '.' | ',' | '\''));
    let (digits, unit) = rest.split_at(end.unwrap_or(rest.len()));
    let power = match unit {
        "k" => 3,
        "" => 0,
        _ if UNITS.contains(&unit) => 0,
        _ => return false,
    };
    let mut numbers = Vec::new();
    readings(digits, is_negative, &mut numbers);
    let is_one = !numbers.is_empty();
    for (whole, fraction) in numbers {
        let Some(number) = Decimal::new(is_negative, &whole, &fraction).shifted(power) else {
            continue;
        };
        if unit == "%" {
            found.extend(number.shifted(-2));
        }
        found.push(number);
    }
    is_one
}

/// What digits with points and commas can mean, as digits before and after the point.
fn readings(digits: &str, is_negative: bool, found: &mut Vec<(String, String)>) {
    let parts: Vec<&str> = digits.split(['.', ',', '\'']).collect();
    if parts.iter().any(|part| part.is_empty()) {
        // `.5` is a half.
        if let ["", fraction] = parts[..]
            && digits.starts_with('.')
            && !fraction.is_empty()
        {
            found.push((String::new(), fraction.to_owned()));
        }
        return;
    }
    let marks: Vec<char> = digits.chars().filter(|one| !one.is_ascii_digit()).collect();
    let is_grouped = |parts: &[&str]| {
        parts[0].len() <= 3
            && !parts[0].starts_with('0')
            && parts[1..].iter().all(|part| part.len() == 3)
    };
    let is_same = marks.windows(2).all(|pair| pair[0] == pair[1]);
    match (&parts[..], &marks[..]) {
        ([whole], _) => found.push(((*whole).to_owned(), String::new())),
        (_, [.., ',']) if is_same && !is_grouped(&parts) && parts.len() > 2 => list(&parts, found),
        (_, _) if is_same && is_grouped(&parts) => {
            found.push((parts.concat(), String::new()));
            if let ([whole, fraction], ['.']) = (&parts[..], &marks[..]) {
                found.push(((*whole).to_owned(), (*fraction).to_owned()));
            }
            if marks[0] == ','
                && !is_negative
                && !parts[1..].iter().any(|part| part.starts_with('0'))
            {
                list(&parts, found);
            }
        }
        ([whole, fraction], [mark]) if *mark != '\'' => {
            found.push(((*whole).to_owned(), (*fraction).to_owned()));
            if *mark == ',' && !is_negative {
                list(&parts, found);
            }
        }
        ([groups @ .., fraction], [marks @ .., point])
            if !marks.contains(point) && is_grouped(groups) && *point != '\'' =>
        {
            found.push((groups.concat(), (*fraction).to_owned()));
        }
        _ => {}
    }
}

fn list(parts: &[&str], found: &mut Vec<(String, String)>) {
    found.extend(parts.iter().map(|part| ((*part).to_owned(), String::new())));
}

/// `三个`: numerals that count something.
fn numerals(text: &str, found: &mut HashSet<Decimal>) {
    let characters: Vec<char> = text.chars().collect();
    for (at, pair) in characters.windows(2).enumerate() {
        let is_first = at == 0 || !NUMERALS.contains(characters[at - 1]);
        if is_first && COUNTERS.contains(pair[1]) {
            let value = NUMERALS.chars().zip(2..).find(|(sign, _)| *sign == pair[0]);
            found.extend(value.map(|(_, value)| Decimal::small(value)));
        }
    }
}
