//! A day of the calendar, as contracts write it: `2026-12-31`.

use std::{borrow::Cow, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A day from 1970 to 9999, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CalendarDate {
    year: u16,
    month: u8,
    day: u8,
}

const SECONDS_OF_DAY: u64 = 86_400;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// The first day of the epoch was a Thursday.
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

impl CalendarDate {
    /// The day that a text like `2026-12-31` names, if there is one.
    pub fn parse(text: &str) -> Option<Self> {
        let (year, rest) = text.split_once('-')?;
        let (month, day) = rest.split_once('-')?;
        let number = |text: &str, length: usize| -> Option<u16> {
            let fits = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
            fits.then(|| text.parse().ok())?
        };
        let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
        let (month, day) = (u8::try_from(month).ok()?, u8::try_from(day).ok()?);
        let is_there = year >= 1970
            && (1..=12).contains(&month)
            && (1..=days_of_month(year, month)).contains(&day);
        is_there.then_some(Self { year, month, day })
    }

    /// The days from the first of January 1970 to this one.
    fn days(self) -> u64 {
        let years: u64 = (1970..self.year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
        let months: u64 =
            (1..self.month).map(|month| u64::from(days_of_month(self.year, month))).sum();
        years + months + u64::from(self.day) - 1
    }

    /// Its first second, in seconds since 1970.
    pub fn begin(self) -> u64 {
        self.days() * SECONDS_OF_DAY
    }

    /// Its last second, as HTTP writes dates.
    pub fn http_end(self) -> String {
        let Self { year, month, day } = self;
        let weekday = WEEKDAYS.iter().cycle().nth((self.days() % 7) as usize).unwrap_or(&"");
        let month = MONTHS.get(usize::from(month) - 1).unwrap_or(&"");
        format!("{weekday}, {day:02} {month} {year:04} 23:59:59 GMT")
    }
}

fn is_leap(year: u16) -> bool {
    year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400)
}

fn days_of_month(year: u16, month: u8) -> u8 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl fmt::Display for CalendarDate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl Serialize for CalendarDate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CalendarDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format_args!("`{text}` is not a date like 2026-12-31"))
        })
    }
}

impl JsonSchema for CalendarDate {
    fn schema_name() -> Cow<'static, str> {
        "CalendarDate".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string", "format": "date", "pattern": "^(19[7-9]|[2-9][0-9])",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::CalendarDate;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (text, begin, end) in [
            ("1970-01-01", 0, "Thu, 01 Jan 1970 23:59:59 GMT"),
            ("2023-07-01", 1_688_169_600, "Sat, 01 Jul 2023 23:59:59 GMT"),
            ("2024-02-29", 1_709_164_800, "Thu, 29 Feb 2024 23:59:59 GMT"),
            ("2026-12-31", 1_798_675_200, "Thu, 31 Dec 2026 23:59:59 GMT"),
            ("9999-12-31", 253_402_214_400, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] {
            let date = CalendarDate::parse(text).unwrap();
            assert_eq!((date.begin(), date.http_end().as_str()), (begin, end), "{text}");
            assert_eq!(date.to_string(), text);
        }
        for wrong in [
            "",
            "2026",
            "2026-1-1",
            "2026-13-01",
            "2026-00-01",
            "2026-02-30",
            "2023-02-29",
            "2100-02-29",
            "1969-12-31",
            "+026-01-01",
            "2026-01-01T00:00:00Z",
            "2026-01-0١",
        ] {
            assert_eq!(CalendarDate::parse(wrong), None, "{wrong}");
        }
    }
}
