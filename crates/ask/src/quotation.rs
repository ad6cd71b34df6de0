//! Quotes: whole units of a tool's result, found by what a model picked and delivered as they stand there.
//!
//! A unit is a line, a sentence, a list item or a JSON value. A model picks units; it words nothing. What it
//! wrote is only used to find the place, so whatever it wrote, a [`Quote`] says what the result says there.
//! The headings and lead-ins above a unit, or the name of its property, are put in front of it by code:
//! "Delete backups" below "Not allowed:" is never told without it.
//!
//! Pure: no file, no network, no clock.

mod units;

#[cfg(test)]
mod tests;

use std::{borrow::Cow, ops::Range};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::text;
use units::Unit;

/// Longer evidence is not looked for, in bytes.
pub const MAX_EVIDENCE_BYTES: usize = 4_000;
/// The greatest length of a heading or lead-in in front of a quote, in characters.
pub const MAX_CONTEXT_CHARACTERS: usize = 500;
/// The most places of the evidence that are compared.
const MAX_PLACES: usize = 64;

/// A bullet as a model wrote it. Nothing in it is delivered.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DraftBullet {
    /// The statement of the model. It may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// The words of the result that it picked.
    pub evidence: String,
}

/// One or several whole units of a result, in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Quote {
    /// The evidence, with the headings and lead-ins above it or the name of its property in front.
    pub claim: String,
    /// The words of the result, letter for letter.
    pub evidence: String,
    /// Where they stand.
    pub location: QuoteLocation,
}

impl Quote {
    /// True if the result has its evidence at its location, letter for letter, and its claim ends with that.
    pub fn stands_in(&self, result: &Value) -> bool {
        let QuoteLocation { pointer, start, end } = &self.location;
        let Some(text) = result.pointer(pointer).and_then(text_of) else { return false };
        !self.evidence.is_empty()
            && self.claim.ends_with(&self.evidence)
            && text.chars().skip(*start).take(end.saturating_sub(*start)).eq(self.evidence.chars())
    }
}

/// The text of a value that has one.
fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(_) | Value::Bool(_) => Some(Cow::Owned(value.to_string())),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A part of one value of the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QuoteLocation {
    /// The value, as a JSON pointer.
    pub pointer: String,
    /// The first character (Unicode scalar value) of the part.
    pub start: usize,
    /// The character behind its last one.
    pub end: usize,
}

/// The reason for which a bullet is dropped.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Ungrounded {
    /// There is nothing to look for.
    #[error("the evidence is empty")]
    EmptyEvidence,
    /// Longer than a quote should be.
    #[error("the evidence is longer than {MAX_EVIDENCE_BYTES} bytes")]
    LongEvidence,
    /// The claim has other words than its evidence.
    #[error("the claim has other words than its evidence")]
    ClaimDiffers,
    /// The result does not have it, or not as whole units.
    #[error("the evidence is not a whole line, sentence, list item or value of the result")]
    NotAUnit,
    /// The same place of the result was quoted before.
    #[error("it was quoted before")]
    Repeated,
    /// The heading above it is longer than anybody reads in front of a quote.
    #[error("the heading above the evidence is longer than {MAX_CONTEXT_CHARACTERS} characters")]
    LongContext,
}

/// The texts of a result with their units, each of which is quoted once.
#[derive(Debug, Default)]
pub struct QuoteSource<'a> {
    texts: Vec<SourceText<'a>>,
    quoted: Vec<UnitRun>,
}

/// One value of the result: a string, a number or a boolean.
#[derive(Debug)]
struct SourceText<'a> {
    pointer: String,
    /// The nearest property that it is the value of.
    property: Option<&'a str>,
    written: Cow<'a, str>,
    units: Vec<Unit>,
    /// The key of each unit.
    keys: Vec<String>,
}

impl SourceText<'_> {
    /// The units from this one on that together have exactly this key.
    fn run(&self, first: usize, needle: &str) -> Option<Range<usize>> {
        let mut rest = needle;
        for (at, key) in self.keys.iter().enumerate().skip(first) {
            rest = rest.strip_prefix(key)?;
            if rest.is_empty() {
                return Some(first..at + 1);
            }
            rest = rest.strip_prefix(' ')?;
        }
        None
    }
}

/// Units of one text, in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
struct UnitRun {
    text: usize,
    units: Range<usize>,
}

impl<'a> QuoteSource<'a> {
    /// Takes a result apart.
    pub fn new(result: &'a Value) -> Self {
        let mut source = Self::default();
        source.add(result, String::new(), None);
        source
    }

    fn add(&mut self, value: &'a Value, pointer: String, property: Option<&'a str>) {
        if let Value::Array(items) = value {
            for (index, item) in items.iter().enumerate() {
                self.add(item, format!("{pointer}/{index}"), property);
            }
        }
        if let Value::Object(fields) = value {
            for (name, field) in fields {
                self.add(field, format!("{pointer}/{}", contract::escape(name)), Some(name));
            }
        }
        let Some(written) = text_of(value) else { return };
        let units = units::read(&written);
        let keys = units.iter().map(|unit| key(&written[unit.range.clone()])).collect();
        self.texts.push(SourceText { pointer, property, written, units, keys });
    }

    /// All units, as a model is shown them: a value of one unit comes with the name of its property.
    pub(crate) fn shown(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.texts.iter().flat_map(|text| {
            text.units.iter().map(move |unit| {
                let written = &text.written[unit.range.clone()];
                match text.property {
                    Some(name) if text.units.len() == 1 => Cow::Owned(format!("{name}: {written}")),
                    _ => Cow::Borrowed(written),
                }
            })
        })
    }

    /// The quote that a bullet picked. The same place is not quoted again.
    pub fn take(&mut self, bullet: &DraftBullet) -> Result<Quote, Ungrounded> {
        let run = self.find(bullet)?;
        let quote = self.quote(&run)?;
        self.quoted.push(run);
        Ok(quote)
    }

    fn find(&self, bullet: &DraftBullet) -> Result<UnitRun, Ungrounded> {
        let evidence = bullet.evidence.trim();
        if evidence.is_empty() {
            return Err(Ungrounded::EmptyEvidence);
        }
        if evidence.len() > MAX_EVIDENCE_BYTES {
            return Err(Ungrounded::LongEvidence);
        }
        if bullet.claim.as_deref().is_some_and(|claim| !is_same(claim, evidence)) {
            return Err(Ungrounded::ClaimDiffers);
        }
        let needles: Vec<String> = keys(evidence).collect();
        let mut places = self.places(|text, first| {
            needles.iter().find_map(|needle| self.texts[text].run(first, needle))
        });
        if places.is_empty() {
            places = self.places(|text, at| {
                let run = UnitRun { text, units: at..at + 1 };
                self.reads_in_context(&run, &needles).then_some(run.units)
            });
        }
        if places.is_empty() {
            return Err(Ungrounded::NotAUnit);
        }
        places.retain(|place| !self.quoted.contains(place));
        let is_exact = |place: &&UnitRun| self.written(place) == evidence;
        let best = places.iter().find(is_exact).or_else(|| places.first());
        best.cloned().ok_or(Ungrounded::Repeated)
    }

    /// The first runs of units that are found by their text and their first unit.
    fn places(&self, find: impl Fn(usize, usize) -> Option<Range<usize>>) -> Vec<UnitRun> {
        let firsts = self
            .texts
            .iter()
            .enumerate()
            .flat_map(|(number, text)| (0..text.units.len()).map(move |first| (number, first)));
        let runs =
            firsts.filter_map(|(text, first)| Some(UnitRun { text, units: find(text, first)? }));
        runs.take(MAX_PLACES).collect()
    }

    /// True if a unit reads like this with what is put in front of it, or with its property.
    fn reads_in_context(&self, run: &UnitRun, needles: &[String]) -> bool {
        let text = &self.texts[run.text];
        // What ends otherwise need not be put together.
        if !needles.iter().any(|needle| needle.ends_with(&text.keys[run.units.start])) {
            return false;
        }
        let written = self.written(run);
        let with_property = text.property.map(|name| format!("{name}: {written}"));
        let whole = format!("{}{written}", self.context(run).concat());
        with_property.into_iter().chain([whole]).any(|one| needles.contains(&key(&one)))
    }

    fn written(&self, run: &UnitRun) -> &str {
        let text = &self.texts[run.text];
        &text.written
            [text.units[run.units.start].range.start..text.units[run.units.end - 1].range.end]
    }

    /// The context in front of a quote: the headings and lead-ins above it, or else the name of its property.
    fn context(&self, run: &UnitRun) -> Vec<String> {
        let text = &self.texts[run.text];
        let mut pieces = Vec::new();
        let mut parent = text.units[run.units.start].parent;
        while let Some(number) = parent {
            pieces.push(&text.written[text.units[number].range.clone()]);
            parent = text.units[number].parent;
        }
        // A heading needs no other heading.
        let is_heading = text.units.iter().any(|unit| unit.parent == Some(run.units.start));
        if pieces.is_empty() && !is_heading {
            pieces.extend(text.property);
        }
        let is_open = |piece: &str| piece.ends_with([':', '：']);
        let joined = |piece: &&str| format!("{piece}{} ", if is_open(piece) { "" } else { ":" });
        pieces.iter().rev().map(joined).collect()
    }

    fn quote(&self, run: &UnitRun) -> Result<Quote, Ungrounded> {
        let context = self.context(run);
        if context.iter().any(|piece| piece.chars().nth(MAX_CONTEXT_CHARACTERS).is_some()) {
            return Err(Ungrounded::LongContext);
        }
        let text = &self.texts[run.text];
        let evidence = self.written(run).to_owned();
        let before = &text.written[..text.units[run.units.start].range.start];
        let start = before.chars().count();
        let end = start + evidence.chars().count();
        let location = QuoteLocation { pointer: text.pointer.clone(), start, end };
        Ok(Quote { claim: format!("{}{evidence}", context.concat()), evidence, location })
    }
}

/// A text without case, white space and punctuation: its words, with a space between them.
fn key(written: &str) -> String {
    let normal = text::normal(written);
    let key = text::words(&normal).collect::<Vec<_>>().join(" ");
    // What has no words is compared as it is.
    if key.is_empty() { normal.replace(' ', "") } else { key }
}

/// The keys of a text: as it stands, and without the list marks of its lines.
fn keys(written: &str) -> impl Iterator<Item = String> + use<> {
    let bare: Vec<&str> = written.lines().map(units::without_mark).collect();
    let (whole, bare) = (key(written), key(&bare.join("\n")));
    let other = (bare != whole && !bare.is_empty()).then_some(bare);
    Some(whole).filter(|key| !key.is_empty()).into_iter().chain(other)
}

/// True if two texts are the same but for case, white space, punctuation and list marks.
fn is_same(one: &str, other: &str) -> bool {
    keys(one).any(|key| keys(other).any(|other| other == key))
}
