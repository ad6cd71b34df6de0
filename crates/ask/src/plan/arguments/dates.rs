//! Days, whichever way they are written: `March 5, 2024` is `2024-03-05`.

use super::letters::is_unspaced;

/// The names of months, without the marks on their letters; shorter forms of three letters or more count.
const MONTHS: [&[&str]; 12] = [
    &["january", "januar", "janner", "janvier", "enero"],
    &["february", "februar", "fevrier", "febrero"],
    &["march", "marz", "maerz", "mars", "marzo"],
    &["april", "avril", "abril"],
    &["may", "mai", "mayo"],
    &["june", "juni", "juin", "junio"],
    &["july", "juli", "juillet", "julio"],
    &["august", "aout", "agosto"],
    &["september", "septembre", "septiembre", "sept"],
    &["october", "oktober", "octobre", "octubre"],
    &["november", "novembre", "noviembre"],
    &["december", "dezember", "decembre", "diciembre"],
];

/// A day, a month or a year; what is not said is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Date {
    /// The year.
    pub year: u16,
    /// The month, from 1.
    pub month: u16,
    /// The day, from 1.
    pub day: u16,
}

impl Date {
    fn new(year: u16, month: u16, day: u16) -> Option<Self> {
        let is_date = (1000..=2999).contains(&year) && (1..=12).contains(&month) && day <= 31;
        (is_date && day <= last_day(year, month)).then_some(Self { year, month, day })
    }

    /// Whether a question with this date bears another: the same, or the first or last day of a month
    /// or year that is named whole.
    fn bears(self, other: Date) -> bool {
        let Date { year, month, day } = other;
        let is_month = self.day == 0 && self.month == month;
        let is_end = |day: u16| day == 1 || day == last_day(year, month);
        let is_year_end = matches!((month, day), (1, 1) | (12, 31));
        self.year == year
            && (self == other || (is_month && is_end(day)) || (self.month == 0 && is_year_end))
    }
}

fn last_day(year: u16, month: u16) -> u16 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Whether a text is a date, perhaps with a time, that some of the dates of a question bear.
/// `has_time` says whether a time of day stands in the question.
pub(super) fn is_borne(text: &str, dates: &[Date], has_time: impl Fn(&str) -> bool) -> bool {
    let (day, time) = text.split_once(['t', ' ']).unwrap_or((text, ""));
    let time = time.trim_end_matches('z');
    let is_whole_day = matches!(time, "" | "00:00" | "00:00:00" | "23:59" | "23:59:59");
    let is_time = || {
        let short = time.strip_suffix(":00").filter(|short| short.contains(':')).unwrap_or(time);
        let is_time =
            time.len() >= 5 && time.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b':'));
        is_time && [time, short, short.trim_start_matches('0')].into_iter().any(&has_time)
    };
    let mut readings = Vec::new();
    numeric(day, &mut readings);
    // `March 5, 2024` in the argument, too.
    let spelt = if readings.is_empty() { find(text) } else { Vec::new() };
    let is_spelt = spelt.len() == 1 && spelt[0].day > 0 && is_only_date(text);
    readings.iter().any(|one| dates.iter().any(|date| date.bears(*one)))
        && (is_whole_day || is_time())
        || (is_spelt && dates.contains(&spelt[0]))
}

/// Whether a text has nothing but a date in it.
fn is_only_date(text: &str) -> bool {
    let is_plain = |one: char| one.is_alphanumeric() || matches!(one, ' ' | ',' | '.');
    text.chars().all(is_plain)
        && pieces(text).all(|piece| month(piece).is_some() || number(piece).is_some())
}

/// A date in digits: year first, or last with day and month in either order.
fn numeric(text: &str, found: &mut Vec<Date>) {
    let parts: Vec<&str> = text.split(['-', '/', '.']).collect();
    let marks = text.bytes().filter(|byte| !byte.is_ascii_digit());
    let marks: Vec<u8> = marks.collect();
    if marks.windows(2).any(|pair| pair[0] != pair[1]) || text.len() > 10 {
        return;
    }
    let digits = |part: &str| {
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u16>().ok().filter(|_| is_number)
    };
    match parts[..] {
        [year, month] if year.len() == 4 && month.len() == 2 && marks[0] == b'-' => {
            let date = digits(year).zip(digits(month));
            found.extend(date.and_then(|(year, month)| Date::new(year, month, 0)));
        }
        [one, two, three] => {
            let (Some(a), Some(b), Some(c)) = (digits(one), digits(two), digits(three)) else {
                return;
            };
            let dates = if one.len() == 4 {
                [Date::new(a, b, c), None]
            } else if three.len() == 4 {
                [Date::new(c, b, a), Date::new(c, a, b)]
            } else {
                return;
            };
            found.extend(dates.into_iter().flatten().filter(|date| date.day > 0));
        }
        _ => {}
    }
}

/// The dates of a normalised text.
pub(super) fn find(text: &str) -> Vec<Date> {
    let pieces: Vec<&str> = pieces(text).collect();
    let mut found = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        numeric(piece, &mut found);
        let around = |offset: isize| {
            let at = at.checked_add_signed(offset)?;
            pieces.get(at).copied()
        };
        let day = |offset| around(offset).and_then(number).filter(|day| (1..=31).contains(day));
        let year = |offset| around(offset).and_then(number).filter(|year| *year >= 1000);
        if let Some(month) = month(piece) {
            let after = day(1).and_then(|day| Some((day, year(2)?)));
            let date = match (after, day(-1), year(1)) {
                (Some((day, year)), _, _) | (None, Some(day), Some(year)) => {
                    Date::new(year, month, day)
                }
                (None, None, Some(year)) => Date::new(year, month, 0),
                _ => None,
            };
            found.extend(date);
        }
        let is_beside =
            [-1, 1, -2].into_iter().filter_map(around).any(|near| month(near).is_some());
        let is_counted = around(1).is_some_and(|next| matches!(next, "年"));
        if let Some(year) = number(piece).filter(|year| (1900..2100).contains(year))
            && !is_beside
            && !is_counted
        {
            found.push(Date { year, month: 0, day: 0 });
        }
        found.extend(east_asian(&pieces[at..]));
    }
    found
}

/// `2024年3月5日`, `2024년 3월 5일`.
fn east_asian(pieces: &[&str]) -> Option<Date> {
    let [year, "年" | "년", month, rest @ ..] = pieces else { return None };
    let [mark, rest @ ..] = rest else { return None };
    let is_month = mark.starts_with(['月', '월']);
    let day = match rest {
        [day, mark, ..] if mark.starts_with(['日', '일']) => number(day)?,
        _ => 0,
    };
    if is_month { Date::new(number(year)?, number(month)?, day) } else { None }
}

/// The pieces that a date may be made of. Fillers are left out: `5th of March`.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |one: char| {
        one.is_whitespace() || matches!(one, ',' | '(' | ')' | '"' | '\'' | '?' | '!' | ';')
    };
    text.split(is_between).flat_map(scripts).map(|piece| piece.trim_end_matches(['.', ':'])).filter(
        |piece| {
            !piece.is_empty()
                && !matches!(*piece, "of" | "the" | "de" | "del" | "du" | "le" | "den")
        },
    )
}

/// A piece, cut where the script changes.
fn scripts(mut piece: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let kind = is_unspaced(piece.chars().next()?);
        let end = piece.find(|one| is_unspaced(one) != kind).unwrap_or(piece.len());
        let (first, rest) = piece.split_at(end);
        piece = rest;
        Some(first)
    })
}

fn number(piece: &str) -> Option<u16> {
    let digits = piece.find(|one: char| !one.is_ascii_digit()).unwrap_or(piece.len());
    let is_number = matches!(&piece[digits..], "" | "st" | "nd" | "rd" | "th" | "er") && digits > 0;
    piece[..digits].parse().ok().filter(|_| is_number)
}

fn month(word: &str) -> Option<u16> {
    let word = super::letters::bare(word);
    let is_name = |name: &&str| *name == word || (word.len() == 3 && name.starts_with(&*word));
    let found = MONTHS.iter().zip(1..).find(|(names, _)| names.iter().any(is_name));
    found.map(|(_, month)| month)
}
