//! Numbers as they are written, so that no digit is lost: 1234567890123456789 is not …700.

use std::cmp::Ordering;

/// How far a point is moved.
const MAX_SHIFT: usize = 400;

/// A number, in digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Decimal {
    is_negative: bool,
    whole: String,
    fraction: String,
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        // Without zeros in front, more digits are more.
        let size = |one: &Self| (one.whole.len(), one.whole.clone(), one.fraction.clone());
        match (self.is_negative, other.is_negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => size(self).cmp(&size(other)),
            (true, true) => size(other).cmp(&size(self)),
        }
    }
}

impl Decimal {
    /// A number from its digits before and after the point.
    pub fn new(is_negative: bool, whole: &str, fraction: &str) -> Self {
        let whole = whole.trim_start_matches('0').to_owned();
        let fraction = fraction.trim_end_matches('0').to_owned();
        let is_zero = whole.is_empty() && fraction.is_empty();
        Self { is_negative: is_negative && !is_zero, whole, fraction }
    }

    /// A number as JSON or a program writes it: `-12.50`, `1e6`.
    pub fn parse(written: &str) -> Option<Self> {
        let (number, power) = written.split_once(['e', 'E']).unwrap_or((written, "0"));
        let power: isize = power.parse().ok().filter(|_| power.len() < 5)?;
        let (is_negative, digits) =
            number.strip_prefix('-').map_or((false, number), |digits| (true, digits));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let is_number =
            !whole.is_empty() && !fraction.is_empty() && is_digits(whole) && is_digits(fraction);
        is_number
            .then(|| Self::new(is_negative, whole, fraction))
            .and_then(|one| one.shifted(power))
    }

    /// A small number.
    pub fn small(number: u64) -> Self {
        Self::new(false, &number.to_string(), "")
    }

    /// The number below zero.
    pub fn negated(&self) -> Self {
        Self::new(!self.is_negative, &self.whole, &self.fraction)
    }

    /// The number times a power of ten.
    pub fn shifted(&self, power: isize) -> Option<Self> {
        let places = power.unsigned_abs();
        if places > MAX_SHIFT {
            return None;
        }
        let zeros = "0".repeat(places);
        let (whole, fraction) = if power >= 0 {
            let digits = format!("{}{zeros}", self.fraction);
            let (moved, rest) = digits.split_at(places);
            (format!("{}{moved}", self.whole), rest.to_owned())
        } else {
            let digits = format!("{zeros}{}", self.whole);
            let (rest, moved) = digits.split_at(digits.len() - places);
            (rest.to_owned(), format!("{moved}{}", self.fraction))
        };
        Some(Self::new(self.is_negative, &whole, &fraction))
    }
}
