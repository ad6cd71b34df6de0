//! All subschemas that apply to one value, merged.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use contract::{
    dialect::Applicator,
    subschemas::{ReferenceTarget, SubschemaId, Subschemas},
};

/// The largest number of subschemas that apply to one value.
const MAX_SPEAKERS: usize = 200;

/// The keywords of all subschemas that apply to one value.
#[derive(Debug, Default, Clone)]
pub(super) struct MergedSchema<'a> {
    /// The types that are left; all of them where nothing is said.
    pub(super) kinds: Option<BTreeSet<&'a str>>,
    /// The values that are left, where they are listed.
    pub(super) listed: Option<Vec<&'a Value>>,
    /// Values that its author gives for it.
    pub(super) examples: Vec<&'a Value>,
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    pub(super) exclusive_minimum: Option<f64>,
    pub(super) exclusive_maximum: Option<f64>,
    pub(super) multiple_of: Option<f64>,
    pub(super) min_length: Option<usize>,
    pub(super) max_length: Option<usize>,
    pub(super) patterns: Vec<&'a str>,
    pub(super) format: Option<&'a str>,
    pub(super) properties: Vec<(&'a str, SubschemaId)>,
    pub(super) required: Vec<&'a str>,
    pub(super) min_properties: Option<usize>,
    pub(super) max_properties: Option<usize>,
    pub(super) additional: Vec<SubschemaId>,
    pub(super) prefix: Vec<Vec<SubschemaId>>,
    pub(super) items: Vec<SubschemaId>,
    pub(super) contains: Vec<SubschemaId>,
    pub(super) min_items: Option<usize>,
    pub(super) max_items: Option<usize>,
    pub(super) unique: bool,
    /// True if one of them accepts nothing.
    pub(super) impossible: bool,
    /// The choices that there are, each a list of places.
    pub(super) choices: Vec<Vec<SubschemaId>>,
    /// The conditions: where `then` and `else` lead.
    pub(super) conditions: Vec<(&'a str, SubschemaId)>,
}

impl<'a> MergedSchema<'a> {
    /// Merges these subschemas, with all that they refer to, and of every choice the branch that
    /// `choose` takes.
    pub(super) fn of(
        places: &Subschemas<'a>,
        numbers: &[SubschemaId],
        choose: &dyn Fn(&[SubschemaId]) -> Option<SubschemaId>,
    ) -> Result<Self, String> {
        let mut view = Self::default();
        let mut open: Vec<SubschemaId> = numbers.iter().rev().copied().collect();
        let mut seen = BTreeSet::new();
        while let Some(number) = open.pop() {
            if !seen.insert(number) {
                continue;
            }
            if seen.len() > MAX_SPEAKERS {
                return Err(format!("more than {MAX_SPEAKERS} schemas apply to one value"));
            }
            let place = &places.all[number];
            match place.schema {
                Value::Object(schema) => view.read(schema),
                Value::Bool(false) => view.impossible = true,
                _ => {}
            }
            if place.references.iter().any(|one| one.target == ReferenceTarget::Outside) {
                return Err("it refers to its meta-schema".to_owned());
            }
            let mut choices: Vec<(&str, Vec<SubschemaId>)> = Vec::new();
            for (part, inner) in &place.inner {
                match part.applicator {
                    Applicator::All => open.push(*inner),
                    Applicator::Choice => {
                        match choices.iter_mut().find(|(word, _)| *word == part.keyword) {
                            Some((_, branches)) => branches.push(*inner),
                            None => choices.push((part.keyword, vec![*inner])),
                        }
                    }
                    Applicator::Condition => view.conditions.push((part.keyword, *inner)),
                    slot => view.inner(slot, *inner),
                }
            }
            open.extend(place.references.iter().filter_map(|one| one.target.subschemas().first()));
            for (_, branches) in choices {
                open.extend(choose(&branches));
                view.choices.push(branches);
            }
        }
        Ok(view)
    }

    fn inner(&mut self, slot: Applicator<'a>, number: SubschemaId) {
        match slot {
            Applicator::Property(name) => self.properties.push((name, number)),
            Applicator::AdditionalProperties | Applicator::UnevaluatedProperties => {
                self.additional.push(number);
            }
            Applicator::Prefix(index) => {
                if self.prefix.len() <= index {
                    self.prefix.resize(index + 1, Vec::new());
                }
                self.prefix[index].push(number);
            }
            Applicator::Items | Applicator::UnevaluatedItems => self.items.push(number),
            Applicator::Contains => self.contains.push(number),
            _ => {}
        }
    }

    fn read(&mut self, schema: &'a Map<String, Value>) {
        let number = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
        let size = |keyword: &str| {
            schema
                .get(keyword)
                .and_then(contract::limits::whole_number)
                .and_then(|n| n.try_into().ok())
        };
        raise(&mut self.minimum, number("minimum"));
        raise(&mut self.exclusive_minimum, number("exclusiveMinimum"));
        lower(&mut self.maximum, number("maximum"));
        lower(&mut self.exclusive_maximum, number("exclusiveMaximum"));
        raise(&mut self.multiple_of, number("multipleOf"));
        raise(&mut self.min_length, size("minLength"));
        lower(&mut self.max_length, size("maxLength"));
        raise(&mut self.min_items, size("minItems"));
        lower(&mut self.max_items, size("maxItems"));
        raise(&mut self.min_properties, size("minProperties"));
        lower(&mut self.max_properties, size("maxProperties"));
        self.unique |= schema.get("uniqueItems") == Some(&Value::Bool(true));
        self.patterns.extend(schema.get("pattern").and_then(Value::as_str));
        self.format = self.format.or(schema.get("format").and_then(Value::as_str));
        self.required.extend(strings(schema.get("required")));
        match schema.get("type") {
            Some(Value::String(kind)) => self.only_kinds(BTreeSet::from([kind.as_str()])),
            Some(kinds @ Value::Array(_)) => self.only_kinds(strings(Some(kinds)).collect()),
            _ => {}
        }
        if let Some(value) = schema.get("const") {
            self.only(vec![value]);
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            self.only(values.iter().collect());
        }
        if let Some(Value::Array(values)) = schema.get("examples") {
            self.examples.extend(values);
        }
        self.examples.extend(schema.get("default"));
    }

    fn only_kinds(&mut self, kinds: BTreeSet<&'a str>) {
        self.kinds = Some(match self.kinds.take() {
            None => kinds,
            Some(known) => known
                .iter()
                .chain(&kinds)
                .filter(|kind| allows(&known, kind) && allows(&kinds, kind))
                .copied()
                .collect(),
        });
    }

    fn only(&mut self, values: Vec<&'a Value>) {
        self.listed = Some(match self.listed.take() {
            None => values,
            Some(known) => known.into_iter().filter(|value| values.contains(value)).collect(),
        });
    }

    /// True if values of this type are allowed.
    pub(super) fn allows(&self, kind: &str) -> bool {
        self.kinds.as_ref().is_none_or(|kinds| allows(kinds, kind))
    }

    /// The places that speak about a property.
    pub(super) fn property(&self, name: &str) -> Vec<SubschemaId> {
        let named: Vec<SubschemaId> = self
            .properties
            .iter()
            .filter(|(known, _)| *known == name)
            .map(|(_, number)| *number)
            .collect();
        if named.is_empty() { self.additional.clone() } else { named }
    }

    /// The places that speak about an item.
    pub(super) fn item(&self, index: usize) -> Vec<SubschemaId> {
        self.prefix.get(index).unwrap_or(&self.items).clone()
    }
}

fn allows(kinds: &BTreeSet<&str>, kind: &str) -> bool {
    kinds.contains(kind) || (kind == "integer" && kinds.contains("number"))
}

fn strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn raise<T: PartialOrd>(bound: &mut Option<T>, other: Option<T>) {
    if other.is_some() && *bound < other {
        *bound = other;
    }
}

fn lower<T: PartialOrd>(bound: &mut Option<T>, other: Option<T>) {
    if other.is_some() && (bound.is_none() || *bound > other) {
        *bound = other;
    }
}
