//! Days of the year, however they are written: `2026-11-15`, `15 November 2026`, `Nov. 15`.
//!
//! `03/04/2026` is not read: it is another day in another country. It counts as a code, which
//! must be in the evidence as it is.

use super::words::{Gap, Kind, Word};

/// A day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Date {
    year: Option<u16>,
    month: u16,
    day: u16,
}

impl Date {
    /// Reads `2026-11-15`.
    pub fn iso(written: &str) -> Option<Self> {
        let mut parts = written.split('-');
        let mut next = |length: usize| {
            let part = parts.next()?;
            let is_part = part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
            if is_part { part.parse::<u16>().ok() } else { None }
        };
        let (year, month, day) = (next(4)?, next(2)?, next(2)?);
        if parts.next().is_some() {
            return None;
        }
        Self { year: Some(year), month, day }.real()
    }

    /// Whether a claim may say this of the other: it may leave out the year.
    pub fn is_within(self, other: Date) -> bool {
        (self.month, self.day) == (other.month, other.day)
            && (self.year.is_none() || self.year == other.year)
    }

    fn real(self) -> Option<Self> {
        ((1..=12).contains(&self.month) && (1..=31).contains(&self.day)).then_some(self)
    }
}

/// Makes one word of the words of a date.
pub(super) fn join(words: &mut Vec<Word>) {
    let mut at = 0;
    while at < words.len() {
        if let Some((date, count)) = date_at(&words[at..]) {
            let last = &words[at + count - 1];
            let range = words[at].range.start..last.range.end;
            let text: Vec<&str> = words[at..at + count].iter().map(|word| &*word.text).collect();
            let text = text.join(" ");
            let first = &mut words[at];
            first.key = text.to_lowercase();
            first.stem.clone_from(&first.key);
            first.range = range;
            first.text = text;
            first.kind = Kind::Date(date);
            words.drain(at + 1..at + count);
        }
        at += 1;
    }
}

/// The date at the start of some words, and how many of them it has.
fn date_at(words: &[Word]) -> Option<(Date, usize)> {
    let whole = |at: usize| words.get(at)?.number()?.whole();
    // `may` is a month only with a capital.
    let is_name = |word: &&Word| word.key != "may" || word.text.starts_with('M');
    let month = |at: usize| words.get(at).filter(is_name).and_then(|word| month(&word.key));
    // `15. März`, `15 de marzo`, `15th of March`
    let of = usize::from(words.get(1).is_some_and(|word| matches!(&*word.key, "of" | "de")));
    let (month, day, count) = match (whole(0), month(1 + of), month(0), whole(1)) {
        (Some(day), Some(month), _, _) => (month, day, 2 + of),
        (_, _, Some(month), Some(day)) => (month, day, 2),
        _ => return None,
    };
    let date = Date { year: None, month, day }.real()?;
    let of = usize::from(words.get(count).is_some_and(|word| word.key == "de"));
    let is_near = words.get(count + of).is_some_and(|word| word.gap < Gap::Clause);
    match whole(count + of).filter(|year| is_near && (1000..=2999).contains(year)) {
        Some(year) => Some((Date { year: Some(year), ..date }, count + of + 1)),
        None => Some((date, count)),
    }
}

/// The number of a month, by its name in small letters.
pub(super) fn month(key: &str) -> Option<u16> {
    Some(match key {
        "january" | "jan" | "januar" | "janvier" | "enero" | "gennaio" => 1,
        "february" | "feb" | "februar" | "février" | "febrero" | "febbraio" => 2,
        "march" | "mar" | "märz" | "mars" | "marzo" => 3,
        "april" | "apr" | "avril" | "abril" | "aprile" => 4,
        "may" | "mai" | "mayo" | "maggio" => 5,
        "june" | "jun" | "juni" | "juin" | "junio" | "giugno" => 6,
        "july" | "jul" | "juli" | "juillet" | "julio" | "luglio" => 7,
        "august" | "aug" | "août" | "agosto" => 8,
        "september" | "sep" | "sept" | "septembre" | "septiembre" | "settembre" => 9,
        "october" | "oct" | "oktober" | "okt" | "octobre" | "octubre" | "ottobre" => 10,
        "november" | "nov" | "novembre" | "noviembre" => 11,
        "december" | "dec" | "dezember" | "dez" | "décembre" | "diciembre" | "dicembre" => 12,
        _ => return None,
    })
}
