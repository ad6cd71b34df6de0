//! The date of a search result. Services write it in many ways; callers get an RFC 3339 time in
//! UTC, a date, or nothing.

use std::ops::RangeInclusive;

use jiff::{Timestamp, Unit, Zoned, civil::Date, fmt::rfc2822, fmt::strtime};

/// The longest text that is looked at, in bytes.
const MAX_BYTES: usize = 64;

/// RFC 3339 has four digits for the year.
const YEARS: RangeInclusive<i16> = 1_000..=9_999;

/// The time or the date, or nothing where the text is neither.
pub(super) fn normalised(text: &str, now: Timestamp) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_BYTES {
        return None;
    }
    if text.bytes().all(|one| one.is_ascii_digit()) {
        return from_digits(text);
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return shown(time);
    }
    // Without an offset the hour says nothing for sure, the day does.
    if let Ok(date) = text.parse::<Date>() {
        return in_our_time(date);
    }
    if let Ok(time) = rfc2822::parse(text) {
        return shown(time.timestamp());
    }
    written(text).map(|date| date.to_string()).or_else(|| relative(text, now))
}

/// A date in words or numbers. With slashes and the year last nobody knows which number is the month.
fn written(text: &str) -> Option<Date> {
    if text.find('/').is_some_and(|at| at < 4) {
        return None;
    }
    let date = extract::date::in_text(text, &YEARS)?;
    // A weekday that is another day's says that one of the two is wrong.
    let first = text.split([',', ' ']).next()?;
    let weekday =
        ["%A", "%a"].iter().find_map(|format| strtime::parse(format, first).ok()?.weekday());
    weekday.is_none_or(|weekday| weekday == date.weekday()).then_some(date)
}

/// `20250101`, or seconds or milliseconds since 1970.
fn from_digits(text: &str) -> Option<String> {
    let number: i64 = text.parse().ok()?;
    match text.len() {
        8 => strtime::parse("%Y%m%d", text).ok()?.to_date().ok().and_then(in_our_time),
        9 | 10 => shown(Timestamp::from_second(number).ok()?),
        12 | 13 => shown(Timestamp::from_millisecond(number).ok()?),
        _ => None,
    }
}

/// `3 days ago`: no better than a day.
fn relative(text: &str, now: Timestamp) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let hours = match text.as_str() {
        "today" | "just now" => 0,
        "yesterday" => 24,
        text => {
            let mut words = text.strip_suffix("ago")?.split_whitespace();
            let (count, unit) = (words.next()?, words.next()?);
            let count: i64 = match count {
                "a" | "an" | "one" => 1,
                count => count.parse().ok().filter(|count| (0..=10_000).contains(count))?,
            };
            let hours = match unit.strip_suffix('s').unwrap_or(unit) {
                "second" | "sec" | "minute" | "min" => 0,
                "hour" | "hr" => 1,
                "day" => 24,
                "week" => 168,
                _ => return None,
            };
            words.next().is_none().then_some(count * hours)?
        }
    };
    let then = now.checked_sub(jiff::SignedDuration::from_hours(hours)).ok()?;
    in_our_time(utc(then).date())
}

fn shown(time: Timestamp) -> Option<String> {
    in_our_time(utc(time).date())?;
    Some(time.round(Unit::Millisecond).unwrap_or(time).to_string())
}

fn utc(time: Timestamp) -> Zoned {
    time.to_zoned(jiff::tz::TimeZone::UTC)
}

fn in_our_time(date: Date) -> Option<String> {
    YEARS.contains(&date.year()).then(|| date.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_come_out_alike() {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        for (given, expected) in [
            ("2025-01-01", Some("2025-01-01")),
            (" 2025-01-01 ", Some("2025-01-01")),
            ("2025-01-01T10:00:00Z", Some("2025-01-01T10:00:00Z")),
            ("2025-01-01t10:00:00z", Some("2025-01-01T10:00:00Z")),
            ("2025-01-01T10:00:00.123456Z", Some("2025-01-01T10:00:00.123Z")),
            ("2025-01-01T01:00:00+02:00", Some("2024-12-31T23:00:00Z")),
            ("2025-01-01 01:00:00+0200", Some("2024-12-31T23:00:00Z")),
            ("2025-01-01T10:00:00", Some("2025-01-01")),
            ("2025-01-01 10:00:00", Some("2025-01-01")),
            ("20250101", Some("2025-01-01")),
            ("1735689600", Some("2025-01-01T00:00:00Z")),
            ("1735689600123", Some("2025-01-01T00:00:00.123Z")),
            ("Wed, 01 Jan 2025 10:00:00 GMT", Some("2025-01-01T10:00:00Z")),
            ("Wed, 1 Jan 2025 10:00:00 +0100", Some("2025-01-01T09:00:00Z")),
            ("Jan 1, 2025", Some("2025-01-01")),
            ("jan 1, 2025", Some("2025-01-01")),
            ("January 1, 2025", Some("2025-01-01")),
            ("1 January 2025", Some("2025-01-01")),
            ("01 Jan 2025", Some("2025-01-01")),
            ("Wednesday, January 1, 2025", Some("2025-01-01")),
            ("2025/01/31", Some("2025-01-31")),
            ("31.01.2025", Some("2025-01-31")),
            ("3 days ago", Some("2026-11-12")),
            ("an hour ago", Some("2026-11-15")),
            ("13 hours ago", Some("2026-11-14")),
            ("2 weeks ago", Some("2026-11-01")),
            ("Yesterday", Some("2026-11-14")),
            ("01/02/2025", None),
            ("2 months ago", None),
            ("99999999999999 days ago", None),
            ("2025", None),
            ("2025-13-01", None),
            ("2025-02-30", None),
            ("Thu, 01 Jan 2025", None),
            ("soon", None),
            ("", None),
            ("0001-01-01T00:00:00Z", None),
            ("99999999999999999999", None),
            ("99999999", None),
            ("-1", None),
        ] {
            assert_eq!(normalised(given, now).as_deref(), expected, "{given}");
        }
        assert_eq!(normalised(&"1".repeat(100_000), now), None);
    }
}
