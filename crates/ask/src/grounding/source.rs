//! The result of a tool as evidence is looked for in it: its strings, one behind the other, with
//! the way back to each of them.

use std::{fmt::Write as _, ops::Range};

use serde_json::Value;

use super::{
    Grounded, Location, MAX_CONTEXT_BYTES, fold,
    fold::{Folded, Mark},
    support::Passage,
    units,
    units::Unit,
};

/// Stands between two strings. A folded text has only plain spaces, so no evidence has this.
const BETWEEN: char = '\n';

/// The strings of a result, made ready once for any number of bullets.
///
/// Only strings that are values count: a name of a property says what a producer had in mind, not
/// what is so, and a number has no words around it. It may only be what a claim calls the whole
/// value of that property.
#[derive(Debug)]
pub struct Source<'a> {
    /// All strings, folded.
    flat: String,
    strings: Vec<Text<'a>>,
    /// The steps on the way to the strings. A pointer is made when it is asked for: with long
    /// names of properties, all of them would be far larger than the result.
    steps: Vec<Step<'a>>,
    marks: Vec<Mark>,
    units: Vec<Unit>,
}

/// One string of the result.
#[derive(Debug)]
struct Text<'a> {
    written: &'a str,
    /// In bytes of all folded strings.
    range: Range<usize>,
    /// The last step to it; none if it is the whole result.
    step: Option<usize>,
}

/// A step into a value, and the one before it.
#[derive(Debug)]
struct Step<'a> {
    parent: Option<usize>,
    name: Name<'a>,
}

#[derive(Debug)]
enum Name<'a> {
    Property(&'a str),
    Index(usize),
}

impl<'a> Source<'a> {
    /// Takes the strings of a result.
    pub fn of(value: &'a Value) -> Self {
        let mut source = Self {
            flat: String::new(),
            strings: Vec::new(),
            steps: Vec::new(),
            marks: Vec::new(),
            units: Vec::new(),
        };
        // A stack of our own: the depth of a result is up to whoever sent it.
        let mut open = vec![(value, None)];
        while let Some((value, step)) = open.pop() {
            match value {
                Value::String(written) => source.add(written, step),
                Value::Array(items) => {
                    for (index, item) in items.iter().enumerate().rev() {
                        open.push((item, source.step(step, Name::Index(index), item)));
                    }
                }
                Value::Object(fields) => {
                    for (name, item) in fields.iter().rev() {
                        open.push((item, source.step(step, Name::Property(name), item)));
                    }
                }
                _ => {}
            }
        }
        source
    }

    fn step(&mut self, parent: Option<usize>, name: Name<'a>, to: &Value) -> Option<usize> {
        if !matches!(to, Value::String(_) | Value::Array(_) | Value::Object(_)) {
            return None;
        }
        self.steps.push(Step { parent, name });
        Some(self.steps.len() - 1)
    }

    fn add(&mut self, written: &'a str, step: Option<usize>) {
        let folded = Folded::of(written);
        let start = self.flat.len();
        self.units.extend(units::units(&folded.text, start, self.units.len()));
        self.flat.push_str(&fold::flat(&folded.text));
        self.strings.push(Text { written, range: start..self.flat.len(), step });
        self.flat.push(BETWEEN);
        self.marks.extend(
            folded.marks.into_iter().map(|mark| Mark { folded: start + mark.folded, ..mark }),
        );
    }

    /// Whether there is nothing that could be quoted.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The lines and sentences of all strings as they are written, without the markers of lists:
    /// each of them is evidence that would be found.
    pub fn units(&self) -> impl Iterator<Item = &'a str> {
        self.units.iter().map(|unit| self.written(unit.range.clone()).0)
    }

    /// All places at which folded evidence stands.
    pub(super) fn occurrences(&self, needle: &str) -> impl Iterator<Item = Range<usize>> {
        self.flat.match_indices(needle).map(|(at, found)| at..at + found.len())
    }

    /// What stands at a place, with the sentences that it is part of.
    pub(super) fn passage(&self, range: Range<usize>) -> Passage<'_> {
        let text = self.text_at(range.start);
        let first = self.units.partition_point(|unit| unit.range.end <= range.start);
        let touched = self.units[first..].iter().take_while(|unit| unit.range.start < range.end);
        let last = first + touched.count();
        let units = &self.units[first..last];
        let start = units.first().map_or(range.start, |unit| unit.range.start.min(range.start));
        let end = units.last().map_or(range.end, |unit| unit.range.end.max(range.end));
        // A number or a word may go on beside a unit, as in `(5 days)`.
        let start = start.saturating_sub(8).max(text.range.start);
        let end = (end + 8).min(text.range.end);
        let start = start.max(range.start.saturating_sub(MAX_CONTEXT_BYTES));
        let end = end.min(range.end + MAX_CONTEXT_BYTES);
        let window = self.flat.floor_char_boundary(start)..self.flat.ceil_char_boundary(end);
        let leads = units.iter().map(|unit| unit.lead.map(|lead| self.lead(lead)));
        let is_value = match units {
            [only] => {
                range.start <= only.core.start
                    && range.end >= only.core.end
                    && self.is_alone(only, &text.range)
            }
            _ => false,
        };
        let mut passage = Passage::read(&self.flat, window, range);
        if is_value && let Some(property) = self.property(text.step) {
            passage.name(property);
        }
        for (unit, lead) in units.iter().zip(leads) {
            passage.add(unit, lead);
        }
        passage
    }

    /// Whether a unit is all that a string has.
    fn is_alone(&self, unit: &Unit, text: &Range<usize>) -> bool {
        let has_word = |range: Range<usize>| self.flat[range].contains(char::is_alphanumeric);
        !has_word(text.start..unit.range.start) && !has_word(unit.range.end..text.end)
    }

    /// The property that a step leads into, past the places of an array.
    fn property(&self, mut step: Option<usize>) -> Option<&'a str> {
        loop {
            let Step { parent, name } = &self.steps[step?];
            match name {
                Name::Property(name) => return Some(name),
                Name::Index(_) => step = *parent,
            }
        }
    }

    fn lead(&self, lead: usize) -> (Range<usize>, &str) {
        let range = self.units[lead].range.clone();
        let end = range.end.min(range.start + MAX_CONTEXT_BYTES);
        let text = &self.flat[range.start..self.flat.floor_char_boundary(end)];
        (range, text)
    }

    /// The bullet as it is delivered.
    pub(super) fn grounded(&self, claim: &str, range: Range<usize>) -> Grounded {
        let text = self.text_at(range.start);
        let (evidence, start) = self.written(range);
        let start = text.written[..start].chars().count();
        let end = start + evidence.chars().count();
        Grounded {
            claim: claim.to_owned(),
            evidence: evidence.to_owned(),
            location: Location { pointer: self.pointer(text.step), start, end },
        }
    }

    /// What is written at a place of the folded strings, and the byte of its string at which.
    fn written(&self, range: Range<usize>) -> (&'a str, usize) {
        let written = self.text_at(range.start).written;
        let next = self.marks.partition_point(|mark| mark.folded <= range.start);
        let mark = &self.marks[next - 1];
        let start = mark.behind + (range.start - mark.folded);
        let next = self.marks.partition_point(|mark| mark.folded < range.end);
        let end = match self.marks.get(next) {
            Some(mark) if mark.folded == range.end => mark.before,
            _ => self.marks[next - 1].behind + (range.end - self.marks[next - 1].folded),
        };
        // A range within what was folded as a whole is that whole.
        let start = written.floor_char_boundary(start);
        (&written[start..written.ceil_char_boundary(end.max(start))], start)
    }

    fn text_at(&self, at: usize) -> &Text<'a> {
        let next = self.strings.partition_point(|text| text.range.start <= at);
        &self.strings[next - 1]
    }

    fn pointer(&self, step: Option<usize>) -> String {
        let mut steps = Vec::new();
        let mut at = step;
        while let Some(step) = at {
            steps.push(&self.steps[step].name);
            at = self.steps[step].parent;
        }
        let mut pointer = String::new();
        for name in steps.into_iter().rev() {
            pointer.push('/');
            match name {
                Name::Property(name) => {
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
                Name::Index(index) => {
                    write!(pointer, "{index}").expect("a string takes whatever is written");
                }
            }
        }
        pointer
    }
}
