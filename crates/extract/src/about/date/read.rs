//! Dates as people and machines write them.

use std::fmt;

use jiff::{Timestamp, civil::Date};

/// Years that a page may be from.
const YEARS: std::ops::RangeInclusive<i16> = 1990..=2035;

/// A day.
pub(super) type Day = Date;

/// A moment as exactly as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Moment {
    Day(Day),
    /// RFC 3339, with its own offset.
    Exact(String),
}

impl From<Day> for Moment {
    fn from(day: Day) -> Self {
        Moment::Day(day)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Moment::Day(day) => write!(formatter, "{day}"),
            Moment::Exact(text) => formatter.write_str(text),
        }
    }
}

/// A moment of an attribute or of JSON: what machines write, and where that fails what people do.
pub(super) fn moment(text: &str) -> Option<Moment> {
    let text = text.trim();
    if let Some(exact) = exact(text) {
        return Some(Moment::Exact(exact));
    }
    if text.len() >= 10 && text.bytes().all(|one| one.is_ascii_digit()) {
        // Seconds or milliseconds since 1970.
        let number: i64 = text.parse().ok()?;
        let seconds = if text.len() >= 13 { number / 1_000 } else { number };
        let day = Timestamp::from_second(seconds).ok()?.to_zoned(jiff::tz::TimeZone::UTC).date();
        return plausible(day).map(Moment::Day);
    }
    in_text(text.get(..64).unwrap_or(text)).map(Moment::Day)
}

/// The text as RFC 3339, if it has a day, a time and an offset.
fn exact(text: &str) -> Option<String> {
    let text = text.replacen(' ', "T", usize::from(text.as_bytes().get(10) == Some(&b' ')));
    let bytes = text.as_bytes();
    if bytes.len() < 17 || bytes[4] != b'-' || bytes[7] != b'-' || !matches!(bytes[10], b'T' | b't')
    {
        return None;
    }
    let day: Date = text.get(..10)?.parse().ok()?;
    plausible(day)?;
    let text = text.replace(" +", "+").replace(" -", "-").replace(" Z", "Z");
    // `+0100` for `+01:00`, and times without seconds.
    let split = text.get(11..)?.find(['Z', 'z', '+', '-'])? + 11;
    let (moment, offset) = text.split_at(split);
    let moment = if moment.len() == 16 { format!("{moment}:00") } else { moment.to_owned() };
    let offset = match offset.len() {
        1 => "Z".to_owned(),
        3 => format!("{offset}:00"),
        5 => format!("{}:{}", offset.get(..3)?, offset.get(3..)?),
        _ => offset.to_owned(),
    };
    let whole = format!("{moment}{offset}");
    whole.parse::<Timestamp>().ok().map(|_| whole)
}

fn plausible(day: Date) -> Option<Date> {
    YEARS.contains(&day.year()).then_some(day)
}

fn day(year: i32, month: u32, day: u32) -> Option<Date> {
    let (year, month, day) =
        (i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    plausible(Date::new(year, month, day).ok()?)
}

/// `/2023/11/06/`, `/2023-11-06-`, `/20231106`.
pub(super) fn in_path(path: &str) -> Option<Date> {
    let numbers: Vec<(usize, &str)> = path
        .split(|one: char| !one.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .map(|part| (part.as_ptr() as usize - path.as_ptr() as usize, part))
        .collect();
    for window in numbers.windows(3) {
        let [(a, year), (b, month), (c, date)] = window else { continue };
        let together = b - (a + year.len()) == 1 && c - (b + month.len()) == 1;
        if together && year.len() == 4 && month.len() <= 2 && date.len() <= 2 {
            let found = day(year.parse().ok()?, month.parse().ok()?, date.parse().ok()?);
            if found.is_some() {
                return found;
            }
        }
    }
    for window in numbers.windows(3) {
        let [(a, date), (b, month), (c, year)] = window else { continue };
        let together = b - (a + date.len()) == 1 && c - (b + month.len()) == 1;
        if together && year.len() == 4 && month.len() <= 2 && date.len() <= 2 {
            let found = day(year.parse().ok()?, month.parse().ok()?, date.parse().ok()?);
            if found.is_some() {
                return found;
            }
        }
    }
    numbers.iter().filter(|(_, text)| text.len() == 8).find_map(|(_, text)| {
        day(text[..4].parse().ok()?, text[4..6].parse().ok()?, text[6..].parse().ok()?)
    })
}

/// The first date that a text says.
pub(super) fn in_text(text: &str) -> Option<Date> {
    let words: Vec<&str> = text
        .split(|one: char| {
            one.is_whitespace() || matches!(one, ',' | '(' | ')' | '|' | '·' | '•' | ':' | ';')
        })
        .filter(|word| !word.is_empty())
        .collect();
    for (at, word) in words.iter().enumerate() {
        if let Some(found) = in_numbers(word) {
            return Some(found);
        }
        let Some(month) = month(word) else { continue };
        let before = at.checked_sub(1).and_then(|at| number(words[at]));
        let after = words.get(at + 1).and_then(|word| number(word));
        let later = words.get(at + 2).and_then(|word| number(word));
        // "6 November 2023", "6. November", "6 de noviembre de 2023"
        let of =
            |at: usize| words.get(at).copied().filter(|word| matches!(*word, "de" | "del" | "of"));
        let before = before
            .or_else(|| (at >= 2 && of(at - 1).is_some()).then(|| number(words[at - 2])).flatten());
        let year = after
            .filter(|number| *number > 1_900)
            .or_else(|| of(at + 1).and(later).filter(|number| *number > 1_900));
        if let (Some(date), Some(year)) = (before.filter(|one| (1..=31).contains(one)), year) {
            let found = day(i32::try_from(year).ok()?, month, date);
            if found.is_some() {
                return found;
            }
        }
        // "2023 Nov 6"
        if let (Some(year), Some(date)) = (before.filter(|one| *one > 1_900), after)
            && date <= 31
        {
            let found = day(i32::try_from(year).ok()?, month, date);
            if found.is_some() {
                return found;
            }
        }
        // "November 6, 2023"
        if let (Some(date), Some(year)) = (after.filter(|one| (1..=31).contains(one)), later)
            && year > 1_900
        {
            let found = day(i32::try_from(year).ok()?, month, date);
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

/// A number, also "6.", "6th" and "2023:".
fn number(word: &str) -> Option<u32> {
    let end = word.find(|one: char| !one.is_ascii_digit()).unwrap_or(word.len());
    let rest = &word[end..];
    let fine = matches!(
        rest.to_ascii_lowercase().as_str(),
        "" | "." | "st" | "nd" | "rd" | "th" | "er" | "º" | ":" | ";" | "-" | "–" | "года" | "г."
    );
    if end == 0 || end > 4 || !fine {
        return None;
    }
    word[..end].parse().ok()
}

/// `2023-11-06`, `2023/11/06`, `06.11.2023`, `06/11/2023`, `11/06/23`, and Chinese and Japanese ones.
fn in_numbers(word: &str) -> Option<Date> {
    let start = word.find(|one: char| one.is_ascii_digit())?;
    let word = &word[start..];
    let parts: Vec<&str> = word.split(|one: char| !one.is_ascii_digit()).take(4).collect();
    let [first, second, third, ..] = parts.as_slice() else { return None };
    let between = word.get(first.len()..)?.chars().next()?;
    if !matches!(between, '-' | '/' | '.' | '年' | '_') || second.is_empty() || second.len() > 2 {
        return None;
    }
    let number = |text: &str| text.parse::<u32>().ok();
    if first.len() == 4 && third.len() <= 2 {
        return day(i32::try_from(number(first)?).ok()?, number(second)?, number(third)?);
    }
    let short = third.len() == 2 && between == '.';
    if first.len() > 2 || !(third.len() == 4 || short) {
        return None;
    }
    let year = number(third)? + if short { 2_000 } else { 0 };
    let (year, one, other) = (i32::try_from(year).ok()?, number(first)?, number(second)?);
    // With slashes Americans put the month first; whoever has a thirteenth month does not.
    if between == '/' && one <= 12 { day(year, one, other) } else { day(year, other, one) }
}

/// The number of a month, in the languages of most pages.
fn month(word: &str) -> Option<u32> {
    const NAMES: [&[&str]; 12] = [
        &[
            "january",
            "januar",
            "jänner",
            "janvier",
            "enero",
            "gennaio",
            "janeiro",
            "januari",
            "stycznia",
            "января",
            "ocak",
            "leden",
            "ledna",
            "jan",
        ],
        &[
            "february",
            "februar",
            "feber",
            "février",
            "fevrier",
            "febrero",
            "febbraio",
            "fevereiro",
            "februari",
            "lutego",
            "февраля",
            "şubat",
            "února",
            "feb",
            "fév",
        ],
        &[
            "march",
            "märz",
            "maerz",
            "mars",
            "marzo",
            "março",
            "maart",
            "marca",
            "марта",
            "mart",
            "března",
            "mar",
            "mär",
            "mrz",
        ],
        &[
            "april",
            "avril",
            "abril",
            "aprile",
            "kwietnia",
            "апреля",
            "nisan",
            "dubna",
            "apr",
            "avr",
            "abr",
        ],
        &["may", "mai", "mayo", "maggio", "maio", "mei", "maja", "мая", "mayıs", "května", "maj"],
        &[
            "june", "juni", "juin", "junio", "giugno", "junho", "czerwca", "июня", "haziran",
            "června", "jun",
        ],
        &[
            "july",
            "juli",
            "juillet",
            "julio",
            "luglio",
            "julho",
            "lipca",
            "июля",
            "temmuz",
            "července",
            "jul",
            "juil",
        ],
        &[
            "august",
            "août",
            "aout",
            "agosto",
            "augustus",
            "sierpnia",
            "августа",
            "ağustos",
            "srpna",
            "augusti",
            "aug",
            "ago",
        ],
        &[
            "september",
            "septembre",
            "septiembre",
            "settembre",
            "setembro",
            "września",
            "сентября",
            "eylül",
            "září",
            "sep",
            "sept",
            "set",
        ],
        &[
            "october",
            "oktober",
            "octobre",
            "octubre",
            "ottobre",
            "outubro",
            "października",
            "октября",
            "ekim",
            "října",
            "oct",
            "okt",
            "out",
        ],
        &[
            "november",
            "novembre",
            "noviembre",
            "novembro",
            "listopada",
            "ноября",
            "kasım",
            "listopadu",
            "nov",
        ],
        &[
            "december",
            "dezember",
            "décembre",
            "decembre",
            "diciembre",
            "dicembre",
            "dezembro",
            "grudnia",
            "декабря",
            "aralık",
            "prosince",
            "dec",
            "dez",
            "dic",
            "déc",
        ],
    ];
    let word = word.trim_end_matches(['.', ',']);
    if word.chars().count() < 3 || word.chars().count() > 12 {
        return None;
    }
    let word = word.to_lowercase();
    NAMES
        .iter()
        .position(|names| names.contains(&word.as_str()))
        .and_then(|at| u32::try_from(at + 1).ok())
}

#[cfg(test)]
mod tests {
    use super::{in_path, in_text, moment};

    #[test]
    fn dates_in_words_are_read() {
        for text in [
            "Posted on November 6, 2023 by Ada",
            "6 November 2023",
            "6. November 2023, 12:30 Uhr",
            "le 6 novembre 2023",
            "6 de noviembre de 2023",
            "Mon, 06 Nov 2023 10:00:00 GMT",
            "06.11.2023",
            "Stand: 06.11.23",
            "2023/11/06 10:00",
            "2023年11月6日",
            "Nov. 6th, 2023",
            "11/06/2023",
            "Datum:6. November 2023",
            "2023 Nov 6",
        ] {
            assert_eq!(
                in_text(text).map(|day| day.to_string()).as_deref(),
                Some("2023-11-06"),
                "{text}"
            );
        }
        for text in ["", "may 2023", "1.2.3.4", "call 555-12-3456", "32.13.2023", "6 November"] {
            assert_eq!(in_text(text), None, "{text}");
        }
    }

    #[test]
    fn moments_are_as_exact_as_they_were_given() {
        let of = |text| moment(text).map(|moment| moment.to_string());
        assert_eq!(of("2023-11-06T10:00:00+01:00").as_deref(), Some("2023-11-06T10:00:00+01:00"));
        assert_eq!(of("2023-11-06 10:00:00 +0100").as_deref(), Some("2023-11-06T10:00:00+01:00"));
        assert_eq!(of("2023-11-06T10:00Z").as_deref(), Some("2023-11-06T10:00:00Z"));
        assert_eq!(of("2023-11-06T10:00:00").as_deref(), Some("2023-11-06"));
        assert_eq!(of("1699264800").as_deref(), Some("2023-11-06"));
        assert_eq!(of("9999-11-06"), None);
    }

    #[test]
    fn addresses_hold_dates() {
        let of = |path| in_path(path).map(|day| day.to_string());
        assert_eq!(of("/2023/11/06/title").as_deref(), Some("2023-11-06"));
        assert_eq!(of("/news/2023-11-06-title").as_deref(), Some("2023-11-06"));
        assert_eq!(of("/news/20231106").as_deref(), Some("2023-11-06"));
        assert_eq!(of("/2023/11/title-6"), None);
    }
}
