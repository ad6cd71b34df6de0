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

use std::collections::HashSet;

use serde_json::Value;

use crate::{Dialect, Schema, SchemaError, canonical, places::Places, project};

use make::{Maker, Style};
use view::View;

/// How many values are made at most, of each sort.
pub const MAX_CASES: usize = 100;
/// How many parts of a value are varied.
const MAX_SITES: usize = 60;
/// How deep in a value its parts are varied.
const MAX_SITE_DEPTH: usize = 5;

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
pub fn valid(schema: &Value, seed: u64) -> Result<Cases, SchemaError> {
    let judge = Schema::compile_foreign(schema)?;
    let shown = project::to_2020_12(schema)?;
    let places = Places::of(&shown, Dialect::Draft202012)?;
    let mut bench = Bench::new(&judge, true);
    for (style, title) in [(Style::Small, "only what is required"), (Style::Full, "everything")] {
        match base(&places, &judge, style, seed) {
            Ok(value) => bench.offer(title.to_owned(), value),
            Err(reason) => bench.cases.given_up.push(format!("{title}: {reason}")),
        }
    }
    if let Ok(full) = base(&places, &judge, Style::Full, seed) {
        let mut maker = Maker::new(&places, seed);
        for site in sites(&places, &mut maker, &full) {
            for (title, part) in bounds::of(&mut maker, &site) {
                bench.offer(titled(&site.pointer, &title), replaced(&full, &site.pointer, part));
            }
        }
        bench.cases.given_up.append(&mut maker.given_up);
    }
    Ok(bench.finish())
}

/// Values that the schema refuses, each for one defect in a value that is fine otherwise.
pub fn invalid(schema: &Value, seed: u64) -> Result<Cases, SchemaError> {
    let judge = Schema::compile_foreign(schema)?;
    let shown = project::to_2020_12(schema)?;
    let places = Places::of(&shown, Dialect::Draft202012)?;
    let mut bench = Bench::new(&judge, false);
    let found = base(&places, &judge, Style::Full, seed)
        .or_else(|_| base(&places, &judge, Style::Small, seed));
    let full = match found {
        Ok(full) => full,
        Err(reason) => {
            bench.cases.given_up.push(format!("a value that is fine otherwise: {reason}"));
            return Ok(bench.finish());
        }
    };
    let mut maker = Maker::new(&places, seed);
    for site in sites(&places, &mut maker, &full) {
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
    wanted: bool,
    seen: HashSet<String>,
    cases: Cases,
}

impl<'s> Bench<'s> {
    fn new(judge: &'s Schema, wanted: bool) -> Self {
        Self { judge, wanted, seen: HashSet::new(), cases: Cases::default() }
    }

    fn offer(&mut self, title: String, value: Value) {
        if self.cases.cases.len() >= MAX_CASES {
            return;
        }
        if self.judge.is_valid(&value) != self.wanted {
            self.cases.dropped += 1;
        } else if self.seen.insert(canonical::sha256(&value)) {
            self.cases.cases.push(Case { title, value });
        }
    }

    fn finish(mut self) -> Cases {
        if self.cases.cases.len() >= MAX_CASES {
            self.cases.given_up.push(format!("there are more than {MAX_CASES}"));
        }
        self.cases.given_up.dedup();
        self.cases
    }
}

/// A value that is accepted: the first one of several ways to make it that is.
fn base(places: &Places, judge: &Schema, style: Style, seed: u64) -> Result<Value, String> {
    let mut reason = "nothing that was made of it is accepted".to_owned();
    for examples in [true, false] {
        for conditions in make::Conditions::ALL {
            for branch in 0..make::MAX_BRANCHES_TRIED {
                let mut maker = Maker::new(places, seed);
                maker.examples = examples;
                maker.conditions = conditions;
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
    places: &Places<'a>,
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
                        let step = format!("{pointer}/{}", crate::violation::escape(name));
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
