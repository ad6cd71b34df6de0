//! Numbers by their value, however they are written: `1,000` is `1000` is `one thousand`.
//!
//! Where the value depends on the country, the text decides: `1.000` is only `1.000`. A sign is
//! part of the number: `30%` is `30 percent` and not `30`.

use super::words::{Gap, Kind, Word};

/// How many digits a number by value has at most; a longer one is compared as it is written.
const MAX_DIGITS: usize = 30;

/// A number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Number {
    /// Its value as a plain decimal, or its text where the value is in doubt.
    value: String,
    /// `%`, a currency, `°`, or nothing.
    sign: String,
    /// What stands before it: a minus, `<`, `≥`.
    prefix: String,
    order: Order,
}

/// Whether a number counts or orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// `5`
    Count,
    /// `5th`, which in a date is 5.
    Both,
    /// `fifth`
    Rank,
    /// `twice`
    Times,
}

impl Number {
    /// Reads a number written with digits.
    pub fn parse(written: &str) -> Option<Self> {
        let is_before = |one: char| !one.is_ascii_digit();
        let digits = written.trim_start_matches(is_before);
        let before = &written[..written.len() - digits.len()];
        let body = digits.trim_end_matches(is_before);
        let behind = digits[body.len()..].trim();
        if body.is_empty() || before.chars().chain(behind.chars()).any(char::is_alphanumeric) {
            return None;
        }
        let is_part =
            |one: char| one.is_ascii_digit() || matches!(one, '.' | ',' | '\'' | '’' | ' ');
        if !body.chars().all(is_part) {
            return None;
        }
        let mut prefix = String::new();
        let mut sign = behind.to_owned();
        for one in before.chars() {
            match one {
                '$' | '€' | '£' | '¥' | '₹' => sign.push(one),
                '−' | '–' => prefix.push('-'),
                '+' | '=' => {}
                _ => prefix.push(one),
            }
        }
        let value = value(body).unwrap_or_else(|| body.to_owned());
        Some(Self { value, sign, prefix, order: Order::Count })
    }

    /// Reads a number that is a word.
    pub fn word(key: &str) -> Option<Self> {
        let (value, order) = match key {
            "twice" | "double" | "doubled" | "doubles" => ("2".to_owned(), Order::Times),
            "thrice" | "triple" | "tripled" | "triples" => ("3".to_owned(), Order::Times),
            "half" | "halves" | "½" => ("0.5".to_owned(), Order::Count),
            "¼" => ("0.25".to_owned(), Order::Count),
            "¾" => ("0.75".to_owned(), Order::Count),
            _ => match (cardinal(key), rank(key)) {
                (Some(value), _) => (value.to_string(), Order::Count),
                (None, Some(value)) => (value.to_string(), Order::Rank),
                (None, None) => return None,
            },
        };
        Some(Self { value, sign: String::new(), prefix: String::new(), order })
    }

    /// The same number as a rank.
    pub fn ordinal(self) -> Self {
        Self { order: Order::Both, ..self }
    }

    /// Whether it is written as a rank.
    pub fn is_ordinal(&self) -> bool {
        self.order == Order::Both
    }

    /// Whether both say the same.
    pub fn is(&self, other: &Number) -> bool {
        let same_order = match (self.order, other.order) {
            (Order::Both, Order::Count | Order::Rank)
            | (Order::Count | Order::Rank, Order::Both) => true,
            (one, another) => one == another,
        };
        same_order
            && self.value == other.value
            && self.sign == other.sign
            && self.prefix == other.prefix
    }

    /// The value as a small whole number, if it is one without a sign.
    pub fn whole(&self) -> Option<u16> {
        let is_plain = self.sign.is_empty() && self.prefix.is_empty();
        if is_plain && self.order != Order::Times { self.value.parse().ok() } else { None }
    }
}

/// The value of digits, unless it depends on the country or there are too many of them.
fn value(body: &str) -> Option<String> {
    if body.len() > MAX_DIGITS {
        return None;
    }
    let marks: Vec<char> = body.chars().filter(|one| !one.is_ascii_digit()).collect();
    let parts: Vec<&str> = body.split(|one: char| !one.is_ascii_digit()).collect();
    let (last, front) = parts.split_last()?;
    let Some(mark) = marks.last() else { return Some(plain(body, "")) };
    let is_grouped = |parts: &[&str]| {
        parts.first().is_some_and(|first| (1..=3).contains(&first.len()))
            && parts[1..].iter().all(|part| part.len() == 3)
    };
    let front_marks = &marks[..marks.len() - 1];
    let same = |marks: &[char]| marks.windows(2).all(|two| two[0] == two[1]);
    match mark {
        '.' if front_marks.is_empty() && last.len() == 3 && *front[0] != *"0" => None,
        ',' if front_marks.is_empty() && last.len() != 3 => Some(plain(front[0], last)),
        '.' if front_marks.is_empty() => Some(plain(front[0], last)),
        // `1,234.5`, `1.234,5`, `1 234,5`
        '.' | ',' if !front_marks.is_empty() && !front_marks.contains(mark) => {
            (same(front_marks) && is_grouped(front)).then(|| plain(&front.concat(), last))
        }
        '.' => None,
        _ => (same(&marks) && is_grouped(&parts)).then(|| plain(&parts.concat(), "")),
    }
}

fn plain(whole: &str, fraction: &str) -> String {
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

/// Whether letters behind digits make a rank of them.
pub(super) fn is_ordinal(letters: &str) -> bool {
    matches!(&*letters.to_lowercase(), "st" | "nd" | "rd" | "th")
}

fn cardinal(key: &str) -> Option<u64> {
    const SMALL: [&str; 21] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    if let Some(at) = SMALL.iter().position(|word| *word == key) {
        return u64::try_from(at).ok();
    }
    Some(match key {
        "thirty" | "dreißig" | "trente" | "treinta" => 30,
        "forty" => 40,
        "fifty" => 50,
        "sixty" | "sechzig" | "soixante" | "sesenta" => 60,
        "seventy" => 70,
        "eighty" => 80,
        "ninety" | "neunzig" | "noventa" => 90,
        "hundred" | "hundert" | "cien" => 100,
        "thousand" | "tausend" => 1_000,
        "million" | "millions" | "millionen" | "millones" => 1_000_000,
        "billion" | "billions" => 1_000_000_000,
        "zwei" | "deux" | "dos" => 2,
        "drei" | "trois" | "tres" => 3,
        "vier" | "quatre" | "cuatro" => 4,
        "fünf" | "cinq" | "cinco" => 5,
        "sechs" | "seis" => 6,
        "sieben" | "siete" => 7,
        "acht" | "huit" | "ocho" => 8,
        "neun" | "neuf" | "nueve" => 9,
        "zehn" | "diez" => 10,
        "dozen" | "zwölf" | "douze" | "doce" => 12,
        _ => return None,
    })
}

fn rank(key: &str) -> Option<u64> {
    const SMALL: [&str; 12] = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
        "tenth", "eleventh", "twelfth",
    ];
    let at = SMALL.iter().position(|word| *word == key)?;
    u64::try_from(at + 1).ok()
}

/// Makes one number of several words: `twenty-five`, `2 million`, `30 percent`, `5 dollars`.
pub(super) fn join(words: &mut Vec<Word>) {
    let mut joined: Vec<Word> = Vec::with_capacity(words.len());
    for word in words.drain(..) {
        if word.gap == Gap::None
            && let Some(last) = joined.last_mut()
            && let Kind::Number(number) = &mut last.kind
            && number.take(&word)
        {
            last.range.end = word.range.end;
            last.text = format!("{} {}", last.text, word.text);
            continue;
        }
        joined.push(word);
    }
    *words = joined;
}

impl Number {
    /// The number with letters behind it that multiply it: `10k`, `5M`.
    pub fn scaled(mut self, letters: &str) -> Option<Self> {
        let zeros = match letters {
            "k" | "K" => 3,
            "M" | "mn" | "mio" | "Mio" => 6,
            "bn" | "B" => 9,
            _ => return None,
        };
        self.scale(zeros).then_some(self)
    }

    fn scale(&mut self, zeros: usize) -> bool {
        let (whole, fraction) = self.value.split_once('.').unwrap_or((&*self.value, ""));
        let is_plain = self.value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if !is_plain || fraction.len() > zeros || whole.len() + zeros > MAX_DIGITS {
            return false;
        }
        let rest = "0".repeat(zeros - fraction.len());
        self.value = plain(&format!("{whole}{fraction}{rest}"), "");
        true
    }

    /// Takes in the next word, if it goes on with this number.
    fn take(&mut self, next: &Word) -> bool {
        if self.order != Order::Count {
            return false;
        }
        if self.sign.is_empty() && !next.text.starts_with(|one: char| one.is_ascii_digit()) {
            let sign = match &*next.key {
                "percent" | "prozent" | "%" | "percentage" => "%",
                "dollar" | "dollars" | "usd" => "$",
                "euro" | "euros" | "eur" => "€",
                "pounds" | "gbp" => "£",
                "yen" | "jpy" => "¥",
                "degrees" | "grad" => "°",
                _ => "",
            };
            if !sign.is_empty() {
                sign.clone_into(&mut self.sign);
                return true;
            }
        }
        let Some(factor) = cardinal(&next.key).filter(|_| next.number().is_some()) else {
            return false;
        };
        let (whole, fraction) = self.value.split_once('.').unwrap_or((&*self.value, ""));
        match factor {
            100 | 1_000 | 1_000_000 | 1_000_000_000 => self.scale(factor.ilog10() as usize),
            // `twenty five`, `two hundred five`: the smaller one fills the zeros of the larger.
            1..=99 if fraction.is_empty() => {
                let zeros = whole.len() - whole.trim_end_matches('0').len();
                let places = factor.ilog10() as usize + 1;
                let is_word = !next.text.is_empty() && whole.len() <= 18;
                match whole.parse::<u64>() {
                    Ok(value) if is_word && value >= 20 && places <= zeros => {
                        self.value = (value + factor).to_string();
                        true
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::words::read, *};

    fn only(text: &str) -> Number {
        let numbers: Vec<Number> =
            read(text).iter().filter_map(|word| word.number().cloned()).collect();
        assert_eq!(numbers.len(), 1, "{text}: {numbers:?}");
        numbers[0].clone()
    }

    #[track_caller]
    fn check(one: &str, other: &str, same: bool) {
        assert_eq!(only(one).is(&only(other)), same, "{one} and {other}");
        assert_eq!(only(other).is(&only(one)), same, "{other} and {one}");
    }

    #[test]
    fn numbers_are_compared_by_value() {
        for (one, other) in [
            ("1,000", "1000"),
            ("1 000", "1000"),
            ("1'000", "1000"),
            ("1,234.50", "1234.5"),
            ("1.234,50", "1234.5"),
            ("2.50", "2.5"),
            ("2,5", "2.5"),
            ("30%", "30 percent"),
            ("30 %", "30 percent"),
            ("$5", "5 dollars"),
            ("5 €", "EUR is not before, 5 EUR"),
            ("twenty-five", "25"),
            ("two hundred", "200"),
            ("2.5 million", "2500000"),
            ("first", "1st"),
            ("15th", "15"),
            ("007", "7"),
            ("10k", "10,000"),
            ("$2.5M", "2.5 million dollars"),
            ("half", "0.5"),
            ("−5", "-5"),
        ] {
            check(one, other, true);
        }
    }

    #[test]
    fn what_may_differ_differs() {
        for (one, other) in [
            ("1.000", "1000"),
            ("1.000", "1"),
            ("30%", "30"),
            ("$5", "5"),
            ("$5", "5 €"),
            ("-5", "5"),
            ("<5", "5"),
            ("first", "1"),
            ("twice", "2"),
            ("10", "100"),
        ] {
            check(one, other, false);
        }
    }

    #[test]
    fn numbers_with_something_before_them_are_not_joined() {
        assert_eq!(
            read("in 2026, five users").iter().filter(|one| one.number().is_some()).count(),
            2
        );
        assert_eq!(read("30 60").iter().filter(|one| one.number().is_some()).count(), 2);
    }
}
