//! A text as the rules read it: words, numbers, codes and runs of scripts without spaces.
//!
//! First come chunks, which a quote must not cut: `1.5`, `-5`, `30 %`, `sp-001`, `read/write`.
//! Then each chunk becomes one word or several: `30-day` counts days.

mod chunks;

use std::ops::Range;

pub(super) use chunks::{chunks, is_number_sign, is_run};

use super::{
    dates::Date,
    fold::is_combining,
    letters::key,
    numbers::{self, Number},
    stem::stem,
    vocabulary::{self, Denial},
};

/// One word.
#[derive(Debug, Clone)]
pub(super) struct Word {
    /// Where it stands, in bytes of what was read.
    pub range: Range<usize>,
    /// As it is written.
    pub text: String,
    /// In small letters, look-alikes made alike.
    pub key: String,
    /// Without its ending.
    pub stem: String,
    /// What it is.
    pub kind: Kind,
    /// What stands between it and the word before it.
    pub gap: Gap,
}

/// What a word is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// It says something by itself.
    Content,
    /// It says how other words stand to each other, and has an opposite: `before`, `more`.
    Relation,
    /// Every text has it.
    Stop,
    /// It denies.
    Denial(Denial),
    /// It goes far; the group that it is of.
    Absolute(usize),
    /// A number.
    Number(Number),
    /// A day of a year.
    Date(Date),
    /// A name that machines read: an address, a path, an identifier.
    Code,
    /// A run of a script without spaces.
    Run,
}

/// What stands between two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    /// Nothing but spaces, hyphens or quotes.
    None,
    /// A colon, which ties what stands before it to what stands behind.
    Colon,
    /// A comma.
    Comma,
    /// A mark that ends a clause.
    Clause,
    /// A bracket that opens and says more of what stands before it.
    Open,
}

impl Word {
    /// Whether it counts as something that is said. Words of the script without spaces do too.
    pub fn is_content(&self) -> bool {
        matches!(self.kind, Kind::Content | Kind::Code)
    }

    /// The number that it is.
    pub fn number(&self) -> Option<&Number> {
        match &self.kind {
            Kind::Number(number) => Some(number),
            _ => None,
        }
    }

    /// How it denies.
    pub fn denial(&self) -> Option<Denial> {
        match self.kind {
            Kind::Denial(denial) => Some(denial),
            Kind::Run if denies(&self.text) => Some(Denial::Sentence),
            _ => None,
        }
    }

    /// Whether both are forms of one word, or mean about the same.
    pub fn is_like(&self, other: &Word) -> bool {
        self.is_form_of(other)
            || vocabulary::contrast(&self.stem)
                .is_some_and(|group| vocabulary::contrast(&other.stem) == Some(group))
    }

    /// Whether both are forms of one word.
    pub fn is_form_of(&self, other: &Word) -> bool {
        self.key == other.key || (self.kind != Kind::Code && self.stem == other.stem)
    }
}

/// Reads a text.
pub(super) fn read(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut behind = 0;
    for chunk in chunks(text) {
        let gap = gap(&text[behind..chunk.start]);
        behind = chunk.end;
        let first = words.len();
        split(text, chunk, &mut words);
        if let Some(word) = words.get_mut(first) {
            word.gap = gap;
        }
    }
    bounds(text, &mut words);
    numbers::join(&mut words);
    super::dates::join(&mut words);
    words
}

/// `No. 5` denies nothing, nor does `no more than`, and `at most` does not go far.
fn bounds(text: &str, words: &mut [Word]) {
    for at in 0..words.len().saturating_sub(1) {
        let (word, next) = (&words[at], &words[at + 1]);
        let is_before_number = word.key == "no"
            && next.number().is_some()
            && text[word.range.end..next.range.start].starts_with('.');
        // `No longer supported` is no bound.
        let is_compared = words.get(at + 2).is_some_and(|one| one.key == "than");
        let bound = match (&*word.key, &*next.key) {
            ("no" | "not", "more" | "longer" | "greater" | "later") if is_compared => "maximum",
            ("no" | "not", "less" | "fewer" | "earlier" | "sooner") if is_compared => "minimum",
            // `Nut-free`
            (_, "free") if &text[word.range.end..next.range.start] == "-" => {
                words[at + 1].kind = Kind::Denial(Denial::Noun);
                continue;
            }
            ("at", "most") => "maximum",
            ("up", "to") => {
                relate(&mut words[at], "maximum");
                continue;
            }
            // `Everything but logs`, `all regions other than Asia`
            (_, "but") if matches!(word.kind, Kind::Absolute(_)) => {
                words[at + 1].kind = Kind::Denial(Denial::Behind);
                continue;
            }
            ("other", "than") | ("far" | "apart" | "aside", "from") => {
                words[at].kind = Kind::Denial(Denial::Behind);
                continue;
            }
            _ if is_before_number => {
                words[at].kind = Kind::Stop;
                continue;
            }
            _ => continue,
        };
        words[at].kind = Kind::Stop;
        relate(&mut words[at + 1], bound);
    }
}

fn relate(word: &mut Word, bound: &str) {
    bound.clone_into(&mut word.key);
    word.stem = stem(bound);
    word.kind = Kind::Relation;
}

fn gap(between: &str) -> Gap {
    let mut gap = Gap::None;
    for character in between.chars() {
        gap = gap.max(match character {
            ',' | '、' | '，' => Gap::Comma,
            ':' | '：' => Gap::Colon,
            ';' | '.' | '!' | '?' | '。' | '；' | '—' | '|' | '(' | ')' | '→' => Gap::Clause,
            _ => Gap::None,
        });
    }
    if between.trim() == "(" { Gap::Open } else { gap }
}

/// Whether a run says no. What only looks like it does so on both sides.
fn denies(run: &str) -> bool {
    const DENIALS: [&str; 24] = [
        "ない",
        "ません",
        "なし",
        "ぬ",
        "ず",
        "不",
        "未",
        "無",
        "无",
        "非",
        "没",
        "沒",
        "别",
        "勿",
        "禁",
        "除",
        "않",
        "없",
        "못",
        "아니",
        "금지",
        "마십",
        "마세",
        "제외",
    ];
    DENIALS.iter().any(|denial| run.contains(denial))
}

/// Makes words of a chunk.
fn split(text: &str, chunk: Range<usize>, words: &mut Vec<Word>) {
    let written = &text[chunk.clone()];
    if written.chars().all(|one| is_run(one) || is_combining(one)) {
        words.push(word(chunk, written, Kind::Run));
        return;
    }
    if let Some(date) = Date::iso(written) {
        words.push(word(chunk, written, Kind::Date(date)));
        return;
    }
    if let Some((day, time)) = written.split_once('T')
        && let Some(date) = Date::iso(day)
        && time.contains(':')
    {
        // `2026-11-15T03:40:02Z`
        let middle = chunk.start + day.len() + 1;
        words.push(word(chunk.start..middle - 1, day, Kind::Date(date)));
        words.push(word(middle..chunk.end, time.trim_end_matches('Z'), Kind::Code));
        return;
    }
    if let Some(number) = Number::parse(written) {
        words.push(word(chunk, written, Kind::Number(number)));
        return;
    }
    // `30-day`, `5GB`, `12-month-long`
    let digits = written.find(|one: char| one.is_alphabetic() || one == '-').unwrap_or(0);
    let rest = written[digits..].trim_start_matches('-');
    let is_counted = !rest.is_empty() && rest.chars().all(|one| one.is_alphabetic() || one == '-');
    if digits > 0
        && is_counted
        && let Some(number) = Number::parse(&written[..digits])
    {
        if let Some(scaled) = number.clone().scaled(rest) {
            words.push(word(chunk, written, Kind::Number(scaled)));
            return;
        }
        let number = if numbers::is_ordinal(rest) { number.ordinal() } else { number };
        let is_ordinal = number.is_ordinal();
        let end = chunk.start + digits;
        words.push(word(chunk.start..end, &text[chunk.start..end], Kind::Number(number)));
        if !is_ordinal {
            plain(text, chunk.end - rest.len()..chunk.end, words);
        }
        return;
    }
    let has_digit = written.chars().any(char::is_numeric);
    let is_code = has_digit || written.contains(['.', '@', ':', '\\', '_', '&', '·']);
    if is_code && !vocabulary::is_stop(&written.to_lowercase()) {
        words.push(word(chunk, written, Kind::Code));
    } else {
        plain(text, chunk, words);
    }
}

/// Words of letters, parted at hyphens, slashes and the apostrophes of French.
fn plain(text: &str, chunk: Range<usize>, words: &mut Vec<Word>) {
    let mut start = chunk.start;
    let mut cut = |range: Range<usize>| {
        if !range.is_empty() {
            words.push(kinded(text, range));
        }
    };
    for (offset, mark) in text[chunk.clone()].char_indices() {
        let at = chunk.start + offset;
        let is_cut = match mark {
            '-' | '/' | '\u{2010}' | '\u{2011}' => true,
            '\'' | '’' => is_elided(&text[start..at]),
            _ => false,
        };
        if is_cut {
            cut(start..at);
            start = at + mark.len_utf8();
        }
    }
    cut(start..chunk.end);
}

fn is_elided(before: &str) -> bool {
    matches!(
        &*before.to_lowercase(),
        "l" | "d" | "n" | "s" | "j" | "m" | "t" | "c" | "qu" | "jusqu" | "dell" | "all" | "un"
    )
}

fn kinded(text: &str, range: Range<usize>) -> Word {
    let written = &text[range.clone()];
    // `Building C` is not `Building D`, though `D'accord` begins with the same letter.
    let is_letter = || {
        text[..range.start].trim_end().ends_with(char::is_alphanumeric)
            && !text[range.end..].starts_with(['\'', '’'])
            && written != "I"
    };
    let is_initialism =
        written.chars().all(char::is_uppercase) && (written.len() > 1 || is_letter());
    let mut word = word(range.clone(), written, Kind::Content);
    word.kind = if let Some(denial) = vocabulary::denial(&word.key) {
        Kind::Denial(denial)
    } else if let Some(group) = vocabulary::absolute(&word.key) {
        Kind::Absolute(group)
    } else if let Some(number) = Number::word(&word.key) {
        Kind::Number(number)
    } else if vocabulary::contrast(&word.stem).is_some() {
        if vocabulary::is_relation(&word.key) { Kind::Relation } else { Kind::Content }
    } else if vocabulary::is_stop(&word.key)
        // `IT` and `US` are names; `MUST` is only loud.
        && !(is_initialism && vocabulary::modal(&word.key).is_none())
    {
        Kind::Stop
    } else {
        Kind::Content
    };
    word
}

fn word(range: Range<usize>, written: &str, kind: Kind) -> Word {
    let key = key(written);
    let stem = if matches!(kind, Kind::Content) { stem(&key) } else { key.clone() };
    Word { range, text: written.to_owned(), key, stem, kind, gap: Gap::None }
}
