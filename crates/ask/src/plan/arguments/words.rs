//! Numbers in words, where they are meant as numbers: `one` in "no one knows" is none.

use std::collections::HashSet;

use super::decimal::Decimal;

/// Numbers below twenty, and tens.
const NUMBERS: &[(&str, u64)] = &[
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
];
/// The same in other languages, as far as they are used for counting, and what counts by itself.
const OTHERS: &[(&str, u64)] = &[
    ("zwei", 2),
    ("drei", 3),
    ("vier", 4),
    ("funf", 5),
    ("sechs", 6),
    ("sieben", 7),
    ("acht", 8),
    ("neun", 9),
    ("zehn", 10),
    ("deux", 2),
    ("trois", 3),
    ("quatre", 4),
    ("cinq", 5),
    ("sept", 7),
    ("huit", 8),
    ("dix", 10),
    ("tres", 3),
    ("cuatro", 4),
    ("cinco", 5),
    ("seis", 6),
    ("siete", 7),
    ("ocho", 8),
    ("nueve", 9),
    ("diez", 10),
    ("both", 2),
    ("couple", 2),
    ("pair", 2),
    ("twice", 2),
    ("dozen", 12),
];
/// Places in a row.
const ORDINALS: &[(&str, u64)] = &[
    ("first", 1),
    ("second", 2),
    ("third", 3),
    ("fourth", 4),
    ("fifth", 5),
    ("sixth", 6),
    ("seventh", 7),
    ("eighth", 8),
    ("ninth", 9),
    ("tenth", 10),
    ("erste", 1),
    ("ersten", 1),
    ("premier", 1),
    ("primer", 1),
];
/// What takes the number out of `one`.
const NOBODY: &[&str] =
    &["no", "any", "every", "some", "each", "this", "that", "which", "another", "the", "a"];
/// What makes a number of it where nothing follows.
const ALONE: &[&str] = &["only", "just", "exactly"];
/// What does not follow a `one` that counts.
const NOT_COUNTED: &[&str] = &[
    "of", "is", "was", "can", "could", "should", "would", "will", "may", "must", "might", "has",
    "had", "do", "does", "did", "to", "in", "on", "at", "for", "with", "and", "or", "that", "who",
    "about", "from", "by", "as", "the", "a", "i", "we", "you",
];

/// What a number word says, if a text is one.
pub(super) fn value(word: &str) -> Option<u64> {
    lookup(NUMBERS, word).or_else(|| lookup(OTHERS, word))
}

/// The power of ten of a word that multiplies.
pub(super) fn power(word: &str) -> Option<isize> {
    Some(match word {
        "hundred" => 2,
        "thousand" | "tausend" => 3,
        "million" | "millionen" | "millions" => 6,
        "billion" | "billions" => 9,
        _ => return None,
    })
}

/// The numbers that words say, longest first: `one hundred and fifty` is one number.
pub(super) fn numbers(words: &[&str], found: &mut HashSet<Decimal>) {
    let mut at = 0;
    while at < words.len() {
        let before = at.checked_sub(1).map_or("", |before| words[before]);
        if let Some((number, length)) = number(&words[at..]) {
            let next = words.get(at + length).copied().unwrap_or_default();
            let is_counted = length > 1 || words[at] != "one" || is_one(before, next);
            if is_counted {
                let number = Decimal::small(number);
                if matches!(next, "percent" | "prozent") {
                    found.extend(number.shifted(-2));
                }
                let is_below = matches!(before, "minus" | "negative");
                found.insert(if is_below { number.negated() } else { number });
            }
            at += length;
            continue;
        }
        let next = words.get(at + 1).copied().unwrap_or_default();
        other(words[at], before, next, found);
        at += 1;
    }
}

fn other(word: &str, before: &str, next: &str, found: &mut HashSet<Decimal>) {
    if word == "half" {
        found.insert(Decimal::new(false, "", "5"));
    }
    if let Some(number) = lookup(OTHERS, word) {
        found.insert(Decimal::small(number));
    }
    // `the first three` is three; `a second` is a while.
    let is_while = word == "second" && matches!(before, "a" | "per" | "one" | "each" | "every");
    let is_counting =
        number(&[next]).is_some() || next.starts_with(|one: char| one.is_ascii_digit());
    if let Some(number) = lookup(ORDINALS, word).filter(|_| !is_while && !is_counting) {
        found.insert(Decimal::small(number));
    }
    let is_latest = matches!(word, "latest" | "newest" | "oldest" | "last");
    if is_latest && !is_counting && !next.is_empty() && !next.ends_with('s') {
        found.insert(Decimal::small(1));
    }
    if word == "dos" && next.ends_with('s') {
        found.insert(Decimal::small(2));
    }
}

/// Whether a `one` counts: `one ticket`, `only one`.
fn is_one(before: &str, next: &str) -> bool {
    let is_noun = !next.is_empty()
        && next.chars().all(char::is_alphabetic)
        && !next.ends_with('s')
        && !NOT_COUNTED.contains(&next);
    !NOBODY.contains(&before) && (is_noun || (next.is_empty() && ALONE.contains(&before)))
}

/// The number at the start of some words, and how many of them it takes.
fn number(words: &[&str]) -> Option<(u64, usize)> {
    let (mut total, mut current, mut taken) = (0_u64, None::<u64>, 0);
    let mut is_open = true;
    for (at, word) in words.iter().enumerate() {
        if let Some(value) = lookup(NUMBERS, word) {
            current = match current {
                None => Some(value),
                Some(before) if before % 100 == 0 && before > 0 => Some(before + value),
                Some(before)
                    if before % 10 == 0 && before % 100 >= 20 && (1..10).contains(&value) =>
                {
                    Some(before + value)
                }
                Some(_) => break,
            };
            is_open = false;
        } else if let Some(power) = power(word).filter(|_| taken > 0) {
            let factor = 10_u64.pow(u32::try_from(power).ok()?);
            match current {
                Some(before) if power == 2 => current = before.checked_mul(factor),
                Some(before) => {
                    total = total.checked_add(before.checked_mul(factor)?)?;
                    current = None;
                }
                None => break,
            }
            is_open = true;
        } else if *word == "and" && taken > 0 && is_open {
            // It belongs to the number only if more of it follows.
            let goes_on = words.get(at + 1).is_some_and(|next| lookup(NUMBERS, next).is_some());
            if goes_on {
                continue;
            }
            break;
        } else {
            break;
        }
        taken = at + 1;
    }
    (taken > 0).then(|| (total.saturating_add(current.unwrap_or(0)), taken))
}

fn lookup(table: &[(&str, u64)], word: &str) -> Option<u64> {
    table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}
