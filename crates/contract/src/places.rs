//! All the schemas inside a schema, and where their references lead.
//!
//! References are resolved by the validator's own code, so that everything that follows them here
//! (defaults, secrets, bounds, translation) follows them where the validator does.

use std::collections::HashMap;

use referencing::{Registry, Resolver};
use serde_json::Value;

use crate::{
    SchemaError,
    dialect::{Dialect, Key, Part, Slot, parts},
    schema::MAX_SCHEMA_NODES,
    violation::escape,
};

/// What a schema without an identifier counts its references from.
const NO_BASE: &str = "json-schema:///";

/// How many ways the dynamic references of a schema may have to go, all together.
const MAX_DYNAMIC_WAYS: usize = 2_000;

/// An index into the places of a schema.
pub type Number = usize;

/// A schema, taken apart.
#[derive(Debug)]
pub struct Places<'a> {
    pub dialect: Dialect,
    /// The root is the first.
    pub all: Vec<Place<'a>>,
}

/// One schema inside a schema.
#[derive(Debug)]
pub struct Place<'a> {
    /// From the root, as a JSON pointer.
    pub pointer: String,
    pub schema: &'a Value,
    /// The schemas right inside.
    pub inner: Vec<(Part<'a>, Number)>,
    /// Where its references lead.
    pub references: Vec<Reference<'a>>,
    /// Whether it stands where no schema is expected, and is one because somebody refers to it.
    pub stray: bool,
}

/// A reference in a schema.
#[derive(Debug)]
pub struct Reference<'a> {
    /// `$ref`, `$dynamicRef` or `$recursiveRef`.
    pub keyword: &'static str,
    /// What it says.
    pub text: &'a str,
    pub target: Target,
}

/// Where a reference leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// To one place.
    Place(Number),
    /// To one of these, depending on how the schema was entered.
    OneOf(Vec<Number>),
    /// To the meta-schema of the dialect, which everybody has.
    Outside,
}

impl Target {
    /// The places that it may lead to.
    pub fn places(&self) -> &[Number] {
        match self {
            Target::Place(place) => std::slice::from_ref(place),
            Target::OneOf(places) => places,
            Target::Outside => &[],
        }
    }
}

impl<'a> Places<'a> {
    /// Takes a schema apart. References that lead out of it are refused by name.
    pub fn of(root: &'a Value, dialect: Dialect) -> Result<Self, SchemaError> {
        let draft = dialect.draft();
        let resource = draft.create_resource_ref(root);
        let base = referencing::uri::from_str(resource.id().unwrap_or(NO_BASE))
            .map_err(|error| SchemaError::new("", format!("has a bad identifier: {error}")))?;
        let registry = Registry::new()
            .draft(draft)
            .add(base.as_str(), resource)
            .and_then(referencing::RegistryBuilder::prepare)
            .map_err(|error| unresolved(root, &error))?;
        let mut builder = Builder {
            root,
            places: Self { dialect, all: Vec::new() },
            known: HashMap::new(),
            pointers: None,
            open: Vec::new(),
            ways: 0,
        };
        builder.add(root, String::new(), &registry.resolver(base), false)?;
        while let Some((place, resolver)) = builder.open.pop() {
            builder.resolve(place, &resolver)?;
        }
        Ok(builder.places)
    }

    /// The places that speak about the same value as this one, and how sure that is.
    pub fn beside(&self, place: Number) -> impl Iterator<Item = (Slot<'a>, Number)> {
        let place = &self.all[place];
        let inner = place.inner.iter().map(|(part, number)| (part.slot, *number));
        let referred = place.references.iter().flat_map(|reference| {
            let sure = matches!(reference.target, Target::Place(_));
            let slot = if sure { Slot::All } else { Slot::Choice };
            reference.target.places().iter().map(move |number| (slot, *number))
        });
        referred.chain(inner.filter(|(slot, _)| slot.same_value()))
    }

    /// The places that speak about parts of the value that this one speaks about.
    pub fn below(&self, place: Number) -> impl Iterator<Item = (Slot<'a>, Number)> {
        let inner = self.all[place].inner.iter().map(|(part, number)| (part.slot, *number));
        inner.filter(|(slot, _)| !slot.same_value() && !matches!(slot, Slot::Definition(_)))
    }

    fn with(&self, keyword: &str, wanted: &Value) -> Vec<Number> {
        let marked = |place: &Place| place.schema.get(keyword) == Some(wanted);
        (0..self.all.len()).filter(|number| marked(&self.all[*number])).collect()
    }
}

/// Finds the places of a schema: first those that stand where a schema is expected, then those
/// that references lead to.
struct Builder<'a, 'r> {
    root: &'a Value,
    places: Places<'a>,
    /// Places by where their schemas lie in memory.
    known: HashMap<usize, Number>,
    /// Everything in the document by where it lies in memory, made when it is first asked for.
    pointers: Option<HashMap<usize, (String, &'a Value)>>,
    /// Places whose references are not resolved yet.
    open: Vec<(Number, Resolver<'r>)>,
    /// Where all dynamic references together may lead.
    ways: usize,
}

impl<'a, 'r> Builder<'a, 'r> {
    fn add(
        &mut self,
        schema: &'a Value,
        pointer: String,
        around: &Resolver<'r>,
        stray: bool,
    ) -> Result<Number, SchemaError> {
        let number = self.places.all.len();
        // References into unknown words may make several places of one.
        if number >= MAX_SCHEMA_NODES {
            let message = format!("has more than {MAX_SCHEMA_NODES} schemas inside");
            return Err(SchemaError::new("", message));
        }
        self.known.insert(address(schema), number);
        let place = Place { pointer, schema, inner: Vec::new(), references: Vec::new(), stray };
        self.places.all.push(place);
        let Value::Object(map) = schema else { return Ok(number) };
        let dialect = self.places.dialect;
        let pointer = self.places.all[number].pointer.clone();
        if let Some(other) = map.get("$schema").and_then(Value::as_str)
            && Dialect::named(other) != Some(dialect)
        {
            let message = format!(
                "names the dialect `{other}` inside a schema of {}; one schema has one dialect",
                dialect.word()
            );
            return Err(SchemaError::new(format!("{pointer}/$schema"), message));
        }
        let resolver = around.in_subresource(dialect.draft().create_resource_ref(schema)).map_err(
            |error| SchemaError::new(&*pointer, format!("has a bad identifier: {error}")),
        )?;
        for part in parts(dialect, map) {
            let pointer = match part.key {
                None => format!("{pointer}/{}", part.keyword),
                Some(Key::Name(name)) => format!("{pointer}/{}/{}", part.keyword, escape(name)),
                Some(Key::Index(index)) => format!("{pointer}/{}/{index}", part.keyword),
            };
            let inner = self.add(part.schema, pointer, &resolver, false)?;
            self.places.all[number].inner.push((part, inner));
        }
        if REFERENCES.iter().any(|keyword| map.contains_key(*keyword)) {
            self.open.push((number, resolver));
        }
        Ok(number)
    }

    fn resolve(&mut self, number: Number, resolver: &Resolver<'r>) -> Result<(), SchemaError> {
        let schema = self.places.all[number].schema;
        for keyword in REFERENCES {
            let recursive = keyword == "$recursiveRef";
            if !self.places.dialect.knows(keyword)
                || (recursive && self.places.dialect != Dialect::Draft201909)
            {
                continue;
            }
            let Some(text) = schema.get(keyword).and_then(Value::as_str) else { continue };
            let text = if recursive { "#" } else { text };
            let found = resolver.lookup(text).map_err(|error| {
                let pointer = format!("{}/{keyword}", self.places.all[number].pointer);
                SchemaError::new(pointer, leads_nowhere(text, &error))
            })?;
            let target = match self.locate(found.contents(), found.resolver())? {
                None => Target::Outside,
                Some(target) => self.widened(keyword, target)?,
            };
            self.places.all[number].references.push(Reference { keyword, text, target });
        }
        Ok(())
    }

    /// The place of what a reference led to, a new one where none was expected there.
    fn locate(
        &mut self,
        found: &Value,
        resolver: &Resolver<'r>,
    ) -> Result<Option<Number>, SchemaError> {
        if let Some(number) = self.known.get(&address(found)) {
            return Ok(Some(*number));
        }
        let root = self.root;
        let pointers = self.pointers.get_or_insert_with(|| {
            let mut pointers = HashMap::new();
            index(root, String::new(), &mut pointers);
            pointers
        });
        match pointers.get(&address(found)) {
            None => Ok(None),
            Some((pointer, schema)) => {
                let (pointer, schema) = (pointer.clone(), *schema);
                self.add(schema, pointer, resolver, true).map(Some)
            }
        }
    }

    /// A dynamic reference to a dynamic target may lead to any other of its kind.
    fn widened(&mut self, keyword: &str, target: Number) -> Result<Target, SchemaError> {
        let schema = self.places.all[target].schema;
        let mark = match keyword {
            "$dynamicRef" => "$dynamicAnchor",
            "$recursiveRef" => "$recursiveAnchor",
            _ => return Ok(Target::Place(target)),
        };
        let name = match schema.get(mark) {
            Some(name) if *name != Value::Bool(false) => name,
            _ => return Ok(Target::Place(target)),
        };
        let mut all = self.places.with(mark, name);
        self.ways += all.len();
        if self.ways > MAX_DYNAMIC_WAYS {
            let message =
                format!("has dynamic references with more than {MAX_DYNAMIC_WAYS} ways to go");
            return Err(SchemaError::new("", message));
        }
        if all.len() < 2 {
            return Ok(Target::Place(target));
        }
        all.sort_by_key(|number| *number != target);
        Ok(Target::OneOf(all))
    }
}

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

fn index<'a>(
    value: &'a Value,
    pointer: String,
    pointers: &mut HashMap<usize, (String, &'a Value)>,
) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                index(value, format!("{pointer}/{}", escape(key)), pointers);
            }
        }
        Value::Array(items) => {
            for (number, value) in items.iter().enumerate() {
                index(value, format!("{pointer}/{number}"), pointers);
            }
        }
        _ => {}
    }
    pointers.insert(address(value), (pointer, value));
}

/// What keeps the references of a document from being looked at, at the one that it concerns.
fn unresolved(root: &Value, error: &referencing::Error) -> SchemaError {
    let referencing::Error::Unretrievable { uri, .. } = error else {
        return SchemaError::new("", format!("cannot be resolved: {error}"));
    };
    let mut pointers = HashMap::new();
    index(root, String::new(), &mut pointers);
    // The error has the address in full, the document perhaps only the end of it.
    let refers = |value: &Value| {
        let text = value.as_str().unwrap_or_default();
        let text = text.split('#').next().unwrap_or_default();
        !text.is_empty() && uri.ends_with(text.trim_start_matches(['.', '/']))
    };
    let mut found: Vec<_> = pointers
        .into_values()
        .filter(|(pointer, value)| pointer.ends_with("/$ref") && refers(value))
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    match found.into_iter().next() {
        Some((pointer, text)) => {
            SchemaError::new(pointer, leads_nowhere(text.as_str().unwrap_or_default(), error))
        }
        None => SchemaError::new("", leads_nowhere(uri, error)),
    }
}

fn leads_nowhere(reference: &str, error: &referencing::Error) -> String {
    match error {
        referencing::Error::Unretrievable { .. } => format!(
            "refers to `{reference}`, which is not part of the schema, and nothing is fetched"
        ),
        _ => format!("refers to `{reference}`, which leads nowhere: {error}"),
    }
}
