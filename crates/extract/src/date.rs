//! The one reader of dates as people and machines write them.

use std::{fmt, ops::RangeInclusive};

use jiff::{Timestamp, civil::Date};

/// Years that a page may be from.
const PAGE_YEARS: RangeInclusive<i16> = 1990..=2035;
/// The text of an attribute that may hold a date, in bytes.
const MAX_ATTRIBUTE_BYTES: usize = 64;

/// The names of the months, in the languages of most pages.
const MONTHS: [&str; 12] = [
    "january januar jänner janvier enero gennaio janeiro januari stycznia января ocak leden ledna jan",
    "february februar feber février fevrier febrero febbraio fevereiro februari lutego февраля şubat února feb fév",
    "march märz maerz mars marzo março maart marca марта mart března mar mär mrz",
    "april avril abril aprile kwietnia апреля nisan dubna apr avr abr",
    "may mai mayo maggio maio mei maja мая mayıs května maj",
    "june juni juin junio giugno junho czerwca июня haziran června jun",
    "july juli juillet julio luglio julho lipca июля temmuz července jul juil",
    "august août aout agosto augustus sierpnia августа ağustos srpna augusti aug ago",
    "september septembre septiembre settembre setembro września сентября eylül září sep sept set",
    "october oktober octobre octubre ottobre outubro października октября ekim října oct okt out",
    "november novembre noviembre novembro listopada ноября kasım listopadu nov",
    "december dezember décembre decembre diciembre dicembre dezembro grudnia декабря aralık prosince dec dez dic déc",
];

/// The time when a page was published, as exactly as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PublicationTime {
    Day(Date),
    /// RFC 3339, with its own offset.
    Exact(String),
}

impl From<Date> for PublicationTime {
    fn from(day: Date) -> Self {
        PublicationTime::Day(day)
    }
}

impl fmt::Display for PublicationTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PublicationTime::Day(day) => write!(formatter, "{day}"),
            PublicationTime::Exact(text) => formatter.write_str(text),
        }
    }
}

/// The time in an attribute or in JSON: as machines write it, and where that fails as people do.
pub(crate) fn in_attribute(text: &str) -> Option<PublicationTime> {
    let text = text.trim();
    if let Some(exact) = exact(text).or_else(|| of_mail(text)) {
        return Some(PublicationTime::Exact(exact));
    }
    if text.len() >= 10 && text.bytes().all(|one| one.is_ascii_digit()) {
        // Seconds or milliseconds since 1970.
        let number: i64 = text.parse().ok()?;
        let seconds = if text.len() >= 13 { number / 1_000 } else { number };
        let day = Timestamp::from_second(seconds).ok()?.to_zoned(jiff::tz::TimeZone::UTC).date();
        return PAGE_YEARS.contains(&day.year()).then_some(PublicationTime::Day(day));
    }
    in_page(text.get(..MAX_ATTRIBUTE_BYTES).unwrap_or(text)).map(PublicationTime::Day)
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
    if !PAGE_YEARS.contains(&day.year()) {
        return None;
    }
    let text = [(" UTC", "Z"), (" GMT", "Z"), (" Z", "Z"), (" +", "+"), (" -", "-")]
        .iter()
        .fold(text, |text, (written, meant)| text.replace(written, meant));
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

/// The time as mails and HTTP write it, with its own offset: `Sun, 05 Nov 2023 23:30:00 -0500`.
fn of_mail(text: &str) -> Option<String> {
    let moment = jiff::fmt::rfc2822::parse(text).ok()?;
    PAGE_YEARS.contains(&moment.year()).then(|| moment.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())
}

/// The date in the path of an address: `/2023/11/06/`, `/2023-11-06-`, `/06-11-2023`, `/20231106`.
pub(crate) fn in_path(path: &str) -> Option<Date> {
    let numbers: Vec<(usize, &str)> = path
        .split(|one: char| !one.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .map(|part| (part.as_ptr() as usize - path.as_ptr() as usize, part))
        .collect();
    let in_row = |year_first: bool| {
        numbers.windows(3).find_map(|window| {
            let [(a, first), (b, month), (c, last)] = window else { return None };
            let (year, day) = if year_first { (first, last) } else { (last, first) };
            let together = b - (a + first.len()) == 1 && c - (b + month.len()) == 1;
            let fits = together && year.len() == 4 && month.len() <= 2 && day.len() <= 2;
            if fits { date(&PAGE_YEARS, year, month, day) } else { None }
        })
    };
    in_row(true).or_else(|| in_row(false)).or_else(|| {
        let long = numbers.iter().filter(|(_, text)| text.len() == 8);
        long.into_iter()
            .find_map(|(_, text)| date(&PAGE_YEARS, &text[..4], &text[4..6], &text[6..]))
    })
}

/// The first date in the text of a page.
pub(crate) fn in_page(text: &str) -> Option<Date> {
    in_text(text, &PAGE_YEARS)
}

/// The first date of one of these years in a text, in words or in numbers.
pub fn in_text(text: &str, years: &RangeInclusive<i16>) -> Option<Date> {
    let words: Vec<&str> = text
        .split(|one: char| {
            one.is_whitespace() || matches!(one, ',' | '(' | ')' | '|' | '·' | '•' | ':' | ';')
        })
        .filter(|word| !word.is_empty())
        .collect();
    let number_at = |at: usize| words.get(at).and_then(|word| number(word));
    let is_of = |at: usize| words.get(at).is_some_and(|word| matches!(*word, "de" | "del" | "of"));
    let is_day = |number: &u32| (1..=31).contains(number);
    let is_year = |number: &u32| *number > 1_900;
    for (at, word) in words.iter().enumerate() {
        if let Some(found) = in_numbers(word, years) {
            return Some(found);
        }
        let Some(month) = month(word) else { continue };
        let before = at.checked_sub(1).and_then(number_at);
        let before =
            before.or_else(|| (at >= 2 && is_of(at - 1)).then(|| number_at(at - 2)).flatten());
        let (after, later) = (number_at(at + 1), number_at(at + 2));
        let year_after =
            after.filter(is_year).or_else(|| is_of(at + 1).then_some(later)?.filter(is_year));
        let forms = [
            // "6 November 2023", "6. November 2023", "6 de noviembre de 2023"
            (before.filter(is_day), year_after),
            // "2023 Nov 6"
            (after, before.filter(is_year)),
            // "November 6, 2023"
            (after.filter(is_day), later.filter(is_year)),
        ];
        let found = forms.into_iter().find_map(|(day, year)| new_date(years, year?, month, day?));
        if found.is_some() {
            return found;
        }
    }
    None
}

fn new_date(years: &RangeInclusive<i16>, year: u32, month: u32, day: u32) -> Option<Date> {
    let year = i16::try_from(year).ok().filter(|year| years.contains(year))?;
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn date(years: &RangeInclusive<i16>, year: &str, month: &str, day: &str) -> Option<Date> {
    new_date(years, year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
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
fn in_numbers(word: &str, years: &RangeInclusive<i16>) -> Option<Date> {
    let start = word.find(|one: char| one.is_ascii_digit())?;
    let word = &word[start..];
    let parts: Vec<&str> = word.split(|one: char| !one.is_ascii_digit()).take(4).collect();
    let [first, second, third, ..] = parts.as_slice() else { return None };
    let between = word.get(first.len()..)?.chars().next()?;
    if !matches!(between, '-' | '/' | '.' | '年' | '_') || second.is_empty() || second.len() > 2 {
        return None;
    }
    if first.len() == 4 && third.len() <= 2 {
        return date(years, first, second, third);
    }
    let short = third.len() == 2 && between == '.';
    if first.len() > 2 || !(third.len() == 4 || short) {
        return None;
    }
    let year = third.parse::<u32>().ok()? + if short { 2_000 } else { 0 };
    let (one, other) = (first.parse().ok()?, second.parse().ok()?);
    // With slashes Americans put the month first; whoever has a thirteenth month does not.
    let (month, day) = if between == '/' && one <= 12 { (one, other) } else { (other, one) };
    new_date(years, year, month, day)
}

/// The number of a month by its name.
fn month(word: &str) -> Option<u32> {
    let word = word.trim_end_matches(['.', ',']);
    if !(3..=12).contains(&word.chars().count()) {
        return None;
    }
    let word = word.to_lowercase();
    let at = MONTHS.iter().position(|names| names.split(' ').any(|name| name == word));
    at.and_then(|at| u32::try_from(at + 1).ok())
}

#[cfg(test)]
mod tests {
    use super::{in_attribute, in_page, in_path};

    #[test]
    fn times_keep_their_own_offset() {
        for (text, expected) in [
            ("Sun, 05 Nov 2023 23:30:00 -0500", "2023-11-05T23:30:00-05:00"),
            ("2023-11-05 23:30:00 UTC", "2023-11-05T23:30:00Z"),
            ("2023-11-05T23:30-0500", "2023-11-05T23:30:00-05:00"),
            ("2023-11-05 23:30 GMT+02:00", "2023-11-05"),
        ] {
            let found = in_attribute(text).map(|time| time.to_string());
            assert_eq!(found.as_deref(), Some(expected), "{text}");
        }
    }

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
                in_page(text).map(|day| day.to_string()).as_deref(),
                Some("2023-11-06"),
                "{text}"
            );
        }
        for text in ["", "may 2023", "1.2.3.4", "call 555-12-3456", "32.13.2023", "6 November"] {
            assert_eq!(in_page(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_as_exact_as_they_were_given() {
        let of = |text| in_attribute(text).map(|time| time.to_string());
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
