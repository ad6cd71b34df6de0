//! Builds one valid value.

use serde_json::{Map, Number as JsonNumber, Value, json};

use super::{GenerateOptions, MAX_VALUE_BYTES, merged_schema::MergedSchema, pattern_text, weight};
use contract::{
    json::kind,
    subschemas::{SubschemaId, Subschemas},
};

/// The number of branches of a choice that are tried for a value that fits everything else too.
pub(super) const MAX_BRANCHES_TRIED: usize = 6;
/// The largest depth of a value.
const MAX_DEPTH: usize = 8;
/// The depth up to which optional parts are put in.
const MAX_FULL_DEPTH: usize = 4;
/// The largest number of parts of a value.
const MAX_PARTS: usize = 2_000;
/// The number of items in a list that may have any number.
const FULL_ITEMS: usize = 2;

/// The number of changes that are tried to make an item unlike the others of its list.
const MAX_UNLIKE: usize = 20;

/// The parts that are put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fullness {
    /// The required ones.
    Required,
    /// All of them.
    Everything,
}

/// The handling of `if`, `then` and `else`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conditions {
    Ignored,
    Met,
    Failed,
}

impl Conditions {
    pub(super) const ALL: [Self; 3] = [Self::Ignored, Self::Met, Self::Failed];

    fn includes(self, keyword: &str) -> bool {
        match self {
            Conditions::Ignored => false,
            Conditions::Met => matches!(keyword, "if" | "then"),
            Conditions::Failed => keyword == "else",
        }
    }
}

/// Makes values.
pub(super) struct ValueBuilder<'p, 'a> {
    places: &'p Subschemas<'a>,
    pub(super) random: Random,
    pub(super) examples: bool,
    pub(super) conditions: Conditions,
    /// Which branch of each choice is taken, counted round.
    pub(super) branch: usize,
    /// The parts that could not be generated, with the reasons.
    pub(super) not_generated: Vec<String>,
    wanted: GenerateOptions<'p>,
    parts: usize,
    bytes: usize,
}

impl<'p, 'a> ValueBuilder<'p, 'a> {
    pub(super) fn new(places: &'p Subschemas<'a>, wanted: GenerateOptions<'p>) -> Self {
        Self {
            places,
            random: Random(wanted.seed),
            wanted,
            examples: true,
            conditions: Conditions::Ignored,
            branch: 0,
            not_generated: Vec::new(),
            parts: 0,
            bytes: 0,
        }
    }

    /// A value that fits what these places say.
    pub(super) fn make(
        &mut self,
        numbers: &[SubschemaId],
        style: Fullness,
    ) -> Result<Value, String> {
        (self.parts, self.bytes) = (0, 0);
        self.at(numbers, style, 0)
    }

    /// Merges these subschemas, with the branches and conditions of this builder.
    pub(super) fn view(&self, numbers: &[SubschemaId]) -> Result<MergedSchema<'a>, String> {
        let branch = self.branch;
        let choose =
            |branches: &[SubschemaId]| branches.get(branch % branches.len().max(1)).copied();
        let view = MergedSchema::of(self.places, numbers, &choose)?;
        let more: Vec<SubschemaId> = view
            .conditions
            .iter()
            .filter(|(keyword, _)| self.conditions.includes(keyword))
            .map(|(_, number)| *number)
            .collect();
        if more.is_empty() {
            return Ok(view);
        }
        MergedSchema::of(self.places, &[numbers, &more].concat(), &choose)
    }

    fn at(
        &mut self,
        numbers: &[SubschemaId],
        style: Fullness,
        depth: usize,
    ) -> Result<Value, String> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Err(format!("a value would have more than {MAX_PARTS} parts"));
        }
        if depth > MAX_DEPTH {
            return Err(format!("a value would nest deeper than {MAX_DEPTH} levels"));
        }
        if self.wanted.is_stopped() {
            return Err("stopped".to_owned());
        }
        let view = self.view(numbers)?;
        if view.impossible {
            return Err("a part of the schema accepts nothing".to_owned());
        }
        if let Some(listed) = &view.listed {
            let fits = listed.iter().find(|value| view.allows(kind(value)));
            let fits = fits.ok_or("no listed value matches")?;
            self.take(weight(fits))?;
            return Ok((*fits).clone());
        }
        let example = view.examples.iter().find(|value| view.allows(kind(value)));
        // An object of its author's would hide the parts that are to be varied.
        if let (true, Some(example)) = (self.examples, example)
            && !(example.is_object() || example.is_array())
        {
            self.take(weight(example))?;
            return Ok((*example).clone());
        }
        let kinds = ["object", "array", "string", "integer", "number", "boolean", "null"];
        let likely = likely_kind(&view);
        let kind = likely
            .filter(|kind| view.allows(kind))
            .or_else(|| kinds.into_iter().find(|kind| view.kinds.is_some() && view.allows(kind)))
            .unwrap_or("string");
        if !view.allows(kind) {
            return Err("a part of the schema allows no type".to_owned());
        }
        match kind {
            "object" => self.object(&view, style, depth),
            "array" => self.array(&view, style, depth),
            "string" => {
                let text = pattern_text::fitting(&view, 0, &mut self.random)?;
                self.take(text.len())?;
                Ok(Value::String(text))
            }
            "integer" | "number" => number(&view, kind == "integer", &mut self.random),
            "boolean" => Ok(json!(true)),
            _ => Ok(Value::Null),
        }
    }

    /// Takes so many bytes of those that a value may have.
    fn take(&mut self, bytes: usize) -> Result<(), String> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_VALUE_BYTES {
            return Err(format!("a value would have more than {MAX_VALUE_BYTES} bytes"));
        }
        Ok(())
    }

    fn object(
        &mut self,
        view: &MergedSchema<'a>,
        style: Fullness,
        depth: usize,
    ) -> Result<Value, String> {
        let mut made = Map::new();
        for name in &view.required {
            if !made.contains_key(*name) {
                self.take(name.len())?;
                made.insert((*name).to_owned(), self.at(&view.property(name), style, depth + 1)?);
            }
        }
        let most = view.max_properties.unwrap_or(usize::MAX);
        if style == Fullness::Everything && depth < MAX_FULL_DEPTH {
            for (name, _) in &view.properties {
                if made.contains_key(*name) || made.len() >= most {
                    continue;
                }
                // What may be left out is, where it cannot be made.
                if let Ok(value) = self.at(&view.property(name), style, depth + 1) {
                    made.insert((*name).to_owned(), value);
                }
            }
        }
        let least = view.min_properties.unwrap_or(0);
        let optional = view.properties.iter().map(|(name, _)| (*name).to_owned());
        let further = (1..=least).map(|n| format!("key{n}"));
        for name in optional.chain(further) {
            if made.len() >= least {
                break;
            }
            if !made.contains_key(&name)
                && let Ok(value) = self.at(&view.property(&name), style, depth + 1)
            {
                made.insert(name, value);
            }
        }
        Ok(Value::Object(made))
    }

    fn array(
        &mut self,
        view: &MergedSchema<'a>,
        style: Fullness,
        depth: usize,
    ) -> Result<Value, String> {
        let least = view.min_items.unwrap_or(0).max(usize::from(!view.contains.is_empty()));
        let full = style == Fullness::Everything && depth < MAX_FULL_DEPTH;
        let wanted = if full { least.max(view.prefix.len()).max(FULL_ITEMS) } else { least };
        let wanted = wanted.min(view.max_items.unwrap_or(usize::MAX));
        self.items(view, wanted, style, depth)
    }

    fn items(
        &mut self,
        view: &MergedSchema<'a>,
        count: usize,
        style: Fullness,
        depth: usize,
    ) -> Result<Value, String> {
        let mut items = Vec::new();
        for index in 0..count {
            let numbers = match (index, view.contains.is_empty()) {
                (0, false) => [view.item(0), view.contains.clone()].concat(),
                _ => view.item(index),
            };
            match self.at(&numbers, style, depth + 1) {
                Ok(mut item) => {
                    if view.unique {
                        self.differ(&mut item, &items);
                    }
                    items.push(item);
                }
                // A list that may end here does.
                Err(_) if items.len() >= view.min_items.unwrap_or(0) => break,
                Err(reason) => return Err(reason),
            }
        }
        Ok(Value::Array(items))
    }

    /// A list of that many items.
    pub(super) fn list(&mut self, view: &MergedSchema<'a>, count: usize) -> Option<Value> {
        (self.parts, self.bytes) = (0, 0);
        let list = self.items(view, count, Fullness::Required, 0).ok()?;
        list.as_array().is_some_and(|items| items.len() == count).then_some(list)
    }

    /// Makes an item unlike the others, as far as that is simple.
    fn differ(&mut self, item: &mut Value, others: &[Value]) {
        // The first step leads past those before, if they were made like this one.
        let steps = std::iter::once(others.len()).chain(1..MAX_UNLIKE);
        for step in steps {
            if !others.contains(item) {
                return;
            }
            match item {
                Value::String(text) => text.push_str(&step.to_string()),
                Value::Number(number) => {
                    let step = i64::try_from(step).unwrap_or(1);
                    *item = json!(number.as_i64().unwrap_or(0).saturating_add(step));
                }
                Value::Bool(value) => *value = !*value,
                _ => return,
            }
        }
    }
}

/// The branch of a choice that a value was made for.
pub(super) fn fitting(
    places: &Subschemas,
    branches: &[SubschemaId],
    value: &Value,
) -> Option<SubschemaId> {
    let of_value = kind(value);
    let fits = |number: &&SubschemaId| {
        MergedSchema::of(places, &[**number], &|inner| inner.first().copied()).is_ok_and(|view| {
            let has = |name: &&str| value.get(*name).is_some();
            view.allows(of_value)
                && !view.impossible
                && view.listed.as_ref().is_none_or(|listed| listed.contains(&value))
                && view.required.iter().all(has)
        })
    };
    branches.iter().find(fits).or(branches.first()).copied()
}

/// The type that the other keywords are about.
fn likely_kind(view: &MergedSchema) -> Option<&'static str> {
    let objects = !view.properties.is_empty() || !view.required.is_empty();
    let lists = !view.items.is_empty() || !view.prefix.is_empty() || view.min_items.is_some();
    let texts = !view.patterns.is_empty() || view.format.is_some() || view.min_length.is_some();
    let numbers = view.minimum.or(view.maximum).or(view.multiple_of);
    let numbers = numbers.or(view.exclusive_minimum).or(view.exclusive_maximum).is_some();
    match () {
        () if objects => Some("object"),
        () if lists => Some("array"),
        () if texts => Some("string"),
        () if numbers => Some(if view.allows("number") { "number" } else { "integer" }),
        () => None,
    }
}

/// A number within the bounds, near to something ordinary.
pub(super) fn number(
    view: &MergedSchema,
    whole: bool,
    random: &mut Random,
) -> Result<Value, String> {
    let step = view.multiple_of.unwrap_or(if whole { 1.0 } else { 0.5 });
    let low = match (view.minimum, view.exclusive_minimum) {
        (Some(low), Some(above)) if above >= low => Some(above + step),
        (Some(low), _) => Some(low),
        (None, Some(above)) => Some(above + step),
        (None, None) => None,
    };
    let high = match (view.maximum, view.exclusive_maximum) {
        (Some(high), Some(below)) if below <= high => Some(below - step),
        (Some(high), _) => Some(high),
        (None, Some(below)) => Some(below - step),
        (None, None) => None,
    };
    #[allow(clippy::cast_precision_loss)]
    let ordinary = (random.below(8) + 1) as f64;
    let mut chosen = ordinary.max(low.unwrap_or(f64::MIN)).min(high.unwrap_or(f64::MAX));
    if let Some(step) = view.multiple_of {
        chosen = (chosen / step).ceil() * step;
        if high.is_some_and(|high| chosen > high) {
            chosen -= step;
        }
    }
    if whole {
        chosen = chosen.ceil();
    }
    as_value(chosen, whole).ok_or_else(|| "no number matches".to_owned())
}

/// A number as JSON, without a fraction where there is none.
pub(super) fn as_value(number: f64, whole: bool) -> Option<Value> {
    // Up to 2^53 every whole f64 is exact.
    let exact = number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0;
    if whole || exact {
        #[allow(clippy::cast_possible_truncation)]
        return exact.then(|| json!(number as i64));
    }
    JsonNumber::from_f64(number).map(Value::Number)
}

/// Numbers that look like chance and are the same for the same seed (`SplitMix64`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below the bound.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }
}
