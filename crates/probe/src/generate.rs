//! Values made from a schema, to see what a tool does with them.
//!
//! Valid ones at the edges of what is allowed, and invalid ones with a single defect each. Every
//! value is checked against the schema before it is handed out: what should be valid is, and what
//! should not be is not. The same schema and seed make the same values.

mod bounds;
mod defects;
mod make;
mod text;
mod view;

use std::{
    collections::HashSet,
    sync::atomic::{AtomicBool, Ordering},
};

use serde_json::Value;

use contract::{Dialect, Schema, SchemaError, canonical, subschemas::Subschemas, translation};

use make::{Maker, Style};
use view::View;

/// How many values are made at most, of each sort.
pub const MAX_CASES: usize = 100;
/// How large a value is made, in bytes of its texts and names.
pub const MAX_VALUE_BYTES: usize = 262_144;
/// How large all values of a sort are together.
pub const MAX_CASES_BYTES: usize = 8 << 20;
/// How many parts of a value are varied.
const MAX_SITES: usize = 60;
/// How deep in a value its parts are varied.
const MAX_SITE_DEPTH: usize = 5;

/// Which values are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'s> {
    /// What they are made from: the same makes the same.
    pub seed: u64,
    /// How many at most, up to [`MAX_CASES`].
    pub most: usize,
    /// Only objects, which is all that arguments can be.
    pub objects: bool,
    /// Set by somebody who does not want them any more.
    pub stop: &'s AtomicBool,
}

impl Wanted<'_> {
    /// As many as there can be, of every kind.
    pub fn all(seed: u64) -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Wanted { seed, most: MAX_CASES, objects: false, stop: &NEVER }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A value, and what it shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// What is special about it.
    pub title: String,
    /// The value.
    pub value: Value,
}

/// Values made from a schema.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cases {
    /// The values, the plainest first.
    pub cases: Vec<Case>,
    /// How many were made and turned out not to be what they should.
    pub dropped: usize,
    /// What could not be made, and why.
    pub given_up: Vec<String>,
}

impl IntoIterator for Cases {
    type Item = Case;
    type IntoIter = std::vec::IntoIter<Case>;

    fn into_iter(self) -> Self::IntoIter {
        self.cases.into_iter()
    }
}

/// Values that the schema accepts: the smallest, the fullest, and the edges of every part.
pub fn valid(schema: &Value, wanted: Wanted<'_>) -> Result<Cases, SchemaError> {
    let judge = Schema::compile_foreign(schema)?;
    let shown = translation::to_2020_12(schema)?;
    let places = Subschemas::of(&shown, Dialect::Draft202012)?;
    let mut bench = Bench::new(&judge, true, wanted);
    for (style, title) in [(Style::Small, "only what is required"), (Style::Full, "everything")] {
        match base(&places, &judge, style, wanted) {
            Ok(value) => bench.offer(title.to_owned(), value),
            Err(reason) => bench.cases.given_up.push(format!("{title}: {reason}")),
        }
    }
    if let Ok(full) = base(&places, &judge, Style::Full, wanted) {
        let mut maker = Maker::new(&places, wanted);
        for site in sites(&places, &mut maker, &full) {
            if bench.is_full() {
                break;
            }
            for (title, part) in bounds::of(&mut maker, &site) {
                bench.offer(titled(&site.pointer, &title), replaced(&full, &site.pointer, part));
            }
        }
        bench.cases.given_up.append(&mut maker.given_up);
    }
    Ok(bench.finish())
}

/// Values that the schema refuses, each for one defect in a value that is fine otherwise.
pub fn invalid(schema: &Value, wanted: Wanted<'_>) -> Result<Cases, SchemaError> {
    let judge = Schema::compile_foreign(schema)?;
    let shown = translation::to_2020_12(schema)?;
    let places = Subschemas::of(&shown, Dialect::Draft202012)?;
    let mut bench = Bench::new(&judge, false, wanted);
    let found = base(&places, &judge, Style::Full, wanted)
        .or_else(|_| base(&places, &judge, Style::Small, wanted));
    let full = match found {
        Ok(full) => full,
        Err(reason) => {
            bench.cases.given_up.push(format!("a value that is fine otherwise: {reason}"));
            return Ok(bench.finish());
        }
    };
    let mut maker = Maker::new(&places, wanted);
    for site in sites(&places, &mut maker, &full) {
        if bench.is_full() {
            break;
        }
        for (title, part) in defects::of(&site) {
            let value = match part {
                Some(part) => replaced(&full, &site.pointer, part),
                None => continue,
            };
            bench.offer(titled(&site.pointer, &title), value);
        }
    }
    Ok(bench.finish())
}

fn titled(pointer: &str, title: &str) -> String {
    if pointer.is_empty() { title.to_owned() } else { format!("`{pointer}`: {title}") }
}

/// Keeps what is as it should be, once.
struct Bench<'s> {
    judge: &'s Schema,
    accepted: bool,
    wanted: Wanted<'s>,
    seen: HashSet<String>,
    bytes: usize,
    cases: Cases,
}

impl<'s> Bench<'s> {
    fn new(judge: &'s Schema, accepted: bool, wanted: Wanted<'s>) -> Self {
        let cases = Cases::default();
        Self { judge, accepted, wanted, seen: HashSet::new(), bytes: 0, cases }
    }

    fn is_full(&self) -> bool {
        let count = self.cases.cases.len();
        count >= self.wanted.most.min(MAX_CASES)
            || self.bytes >= MAX_CASES_BYTES
            || self.wanted.is_stopped()
    }

    fn offer(&mut self, title: String, value: Value) {
        if self.is_full() || (self.wanted.objects && !value.is_object()) {
            return;
        }
        if self.judge.is_valid(&value) != self.accepted {
            self.cases.dropped += 1;
        } else if self.seen.insert(canonical::sha256(&value)) {
            self.bytes += weight(&value);
            self.cases.cases.push(Case { title, value });
        }
    }

    fn finish(mut self) -> Cases {
        let why = if self.wanted.is_stopped() {
            Some("it was stopped".to_owned())
        } else if self.bytes >= MAX_CASES_BYTES {
            Some(format!("they have more than {MAX_CASES_BYTES} bytes"))
        } else if self.cases.cases.len() >= MAX_CASES {
            Some(format!("there are more than {MAX_CASES}"))
        } else {
            None
        };
        self.cases.given_up.extend(why);
        self.cases.given_up.dedup();
        self.cases
    }
}

/// How large a value is, in bytes: its texts and names, and a few for everything else.
fn weight(value: &Value) -> usize {
    const EACH: usize = 8;
    EACH + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() + weight(value)).sum()
        }
        _ => 0,
    }
}

/// How many copies of a value are made of one part.
fn copies(value: &Value) -> usize {
    MAX_CASES_BYTES / weight(value)
}

/// A value that is accepted: the first one of several ways to make it that is.
fn base(
    places: &Subschemas,
    judge: &Schema,
    style: Style,
    wanted: Wanted<'_>,
) -> Result<Value, String> {
    let mut reason = "nothing that was made of it is accepted".to_owned();
    // What the schema does not have need not be tried in several ways.
    let branches =
        if says(places.all[0].schema, &["anyOf", "oneOf"]) { make::MAX_BRANCHES_TRIED } else { 1 };
    let conditions = if says(places.all[0].schema, &["if"]) {
        &make::Conditions::ALL[..]
    } else {
        &make::Conditions::ALL[..1]
    };
    for examples in [true, false] {
        for conditions in conditions {
            for branch in 0..branches {
                let mut maker = Maker::new(places, wanted);
                maker.examples = examples;
                maker.conditions = *conditions;
                maker.branch = branch;
                match maker.make(&[0], style) {
                    Ok(value) if judge.is_valid(&value) => return Ok(value),
                    Ok(_) => {}
                    Err(why) => reason = why,
                }
            }
        }
    }
    Err(format!("cannot generate: {reason}"))
}

/// Whether a schema has one of these keywords anywhere. (A property may be called like one; then more is
/// tried than needed.)
fn says(schema: &Value, keywords: &[&str]) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(|item| says(item, keywords)),
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| keywords.contains(&key.as_str()) || says(value, keywords)),
        _ => false,
    }
}

/// A part of a value, and all that is said about it.
struct Site<'v, 'a> {
    pointer: String,
    value: &'v Value,
    /// The places that speak about it.
    numbers: Vec<usize>,
    view: View<'a>,
}

/// The parts of a value that can be varied, from the outside in.
fn sites<'v, 'a>(
    places: &Subschemas<'a>,
    maker: &mut Maker<'_, 'a>,
    full: &'v Value,
) -> Vec<Site<'v, 'a>> {
    let mut found = Vec::new();
    let mut open = std::collections::VecDeque::from([(String::new(), full, vec![0])]);
    while let Some((pointer, value, numbers)) = open.pop_front() {
        if found.len() >= MAX_SITES {
            maker.given_up.push(format!("only {MAX_SITES} parts are varied"));
            break;
        }
        let Ok(view) =
            View::of(places, &numbers, &|branches| make::fitting(places, branches, value))
        else {
            continue;
        };
        if pointer.matches('/').count() < MAX_SITE_DEPTH {
            match value {
                Value::Object(fields) => {
                    for (name, value) in fields {
                        let step = format!("{pointer}/{}", contract::escape(name));
                        open.push_back((step, value, view.property(name)));
                    }
                }
                Value::Array(items) => {
                    // One item stands for all of its kind.
                    let count = view.prefix.len() + 1;
                    for (index, value) in items.iter().enumerate().take(count) {
                        open.push_back((format!("{pointer}/{index}"), value, view.item(index)));
                    }
                }
                _ => {}
            }
        }
        found.push(Site { pointer, value, numbers, view });
    }
    found
}

/// The value with one part in another's place.
fn replaced(value: &Value, pointer: &str, part: Value) -> Value {
    let mut copy = value.clone();
    if let Some(place) = copy.pointer_mut(pointer) {
        *place = part;
    }
    copy
}
