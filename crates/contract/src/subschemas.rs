//! All the schemas inside a schema, and where their references lead.
//!
//! References are resolved by the validator's own code, so that everything that follows them here
//! (defaults, secrets, bounds, translation) follows them where the validator does.

use std::collections::HashMap;

use referencing::{Registry, Resolver};
use serde_json::Value;

use crate::{
    SchemaError,
    dialect::{Applicator, ChildKey, ChildSchema, Dialect, child_schemas},
    schema::MAX_SCHEMA_NODES,
    violation::escape,
};

/// The base URI of a schema without an identifier.
const NO_BASE: &str = "json-schema:///";

/// The largest number of targets of all dynamic references of a schema.
const MAX_DYNAMIC_WAYS: usize = 2_000;

/// An index into the subschemas of a schema.
pub type SubschemaId = usize;

/// A schema, taken apart.
#[derive(Debug)]
pub struct Subschemas<'a> {
    pub dialect: Dialect,
    /// The root is the first.
    pub all: Vec<Subschema<'a>>,
}

/// One schema inside a schema.
#[derive(Debug)]
pub struct Subschema<'a> {
    /// From the root, as a JSON pointer.
    pub pointer: String,
    pub schema: &'a Value,
    /// The schemas right inside.
    pub inner: Vec<(ChildSchema<'a>, SubschemaId)>,
    /// Its references, resolved.
    pub references: Vec<SchemaReference<'a>>,
    /// True if it stands where no schema is expected, and is only reached by a reference.
    pub stray: bool,
}

#[derive(Debug)]
pub struct SchemaReference<'a> {
    /// `$ref`, `$dynamicRef` or `$recursiveRef`.
    pub keyword: &'static str,
    pub text: &'a str,
    pub target: ReferenceTarget,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReferenceTarget {
    Subschema(SubschemaId),
    /// To one of these, depending on how the schema was entered.
    OneOf(Vec<SubschemaId>),
    /// To the meta-schema of the dialect, which everybody has.
    Outside,
}

impl ReferenceTarget {
    /// The subschemas that it may lead to.
    pub fn subschemas(&self) -> &[SubschemaId] {
        match self {
            ReferenceTarget::Subschema(subschema) => std::slice::from_ref(subschema),
            ReferenceTarget::OneOf(subschemas) => subschemas,
            ReferenceTarget::Outside => &[],
        }
    }
}

impl<'a> Subschemas<'a> {
    /// Takes a schema apart. References that lead out of it are refused by name.
    pub fn of(root: &'a Value, dialect: Dialect) -> Result<Self, SchemaError> {
        let draft = dialect.draft();
        let resource = draft.create_resource_ref(root);
        let base = referencing::uri::from_str(resource.id().unwrap_or(NO_BASE))
            .map_err(|error| SchemaError::new("", format!("has an invalid identifier: {error}")))?;
        let registry = Registry::new()
            .draft(draft)
            .add(base.as_str(), resource)
            .and_then(referencing::RegistryBuilder::prepare)
            .map_err(|error| unresolved(root, &error))?;
        let mut builder = SubschemaCollector {
            root,
            subschemas: Self { dialect, all: Vec::new() },
            known: HashMap::new(),
            pointers: None,
            open: Vec::new(),
            ways: 0,
        };
        builder.add(root, String::new(), &registry.resolver(base), false)?;
        while let Some((subschema, resolver)) = builder.open.pop() {
            builder.resolve(subschema, &resolver)?;
        }
        Ok(builder.subschemas)
    }

    /// The subschemas that speak about the same value as this one, and how sure that is.
    pub fn in_place(
        &self,
        subschema: SubschemaId,
    ) -> impl Iterator<Item = (Applicator<'a>, SubschemaId)> {
        let subschema = &self.all[subschema];
        let inner = subschema.inner.iter().map(|(part, number)| (part.applicator, *number));
        let referred = subschema.references.iter().flat_map(|reference| {
            let sure = matches!(reference.target, ReferenceTarget::Subschema(_));
            let applicator = if sure { Applicator::All } else { Applicator::Choice };
            reference.target.subschemas().iter().map(move |number| (applicator, *number))
        });
        referred.chain(inner.filter(|(applicator, _)| applicator.is_in_place()))
    }

    /// The subschemas that speak about parts of the value that this one speaks about.
    pub fn children(
        &self,
        subschema: SubschemaId,
    ) -> impl Iterator<Item = (Applicator<'a>, SubschemaId)> {
        let inner =
            self.all[subschema].inner.iter().map(|(part, number)| (part.applicator, *number));
        inner.filter(|(applicator, _)| {
            !applicator.is_in_place() && !matches!(applicator, Applicator::Definition(_))
        })
    }

    fn with(&self, keyword: &str, wanted: &Value) -> Vec<SubschemaId> {
        let marked = |subschema: &Subschema| subschema.schema.get(keyword) == Some(wanted);
        (0..self.all.len()).filter(|number| marked(&self.all[*number])).collect()
    }
}

/// Finds the subschemas of a schema: first those that stand where a schema is expected, then those
/// that references lead to.
struct SubschemaCollector<'a, 'r> {
    root: &'a Value,
    subschemas: Subschemas<'a>,
    /// Subschemas by where their schemas lie in memory.
    known: HashMap<usize, SubschemaId>,
    /// Everything in the document by where it lies in memory, made when it is first asked for.
    pointers: Option<HashMap<usize, (String, &'a Value)>>,
    /// Subschemas whose references are not resolved yet.
    open: Vec<(SubschemaId, Resolver<'r>)>,
    /// The number of targets of all dynamic references so far.
    ways: usize,
}

impl<'a, 'r> SubschemaCollector<'a, 'r> {
    fn add(
        &mut self,
        schema: &'a Value,
        pointer: String,
        around: &Resolver<'r>,
        stray: bool,
    ) -> Result<SubschemaId, SchemaError> {
        let number = self.subschemas.all.len();
        // References into unknown words may make several subschemas of one.
        if number >= MAX_SCHEMA_NODES {
            let message = format!("has more than {MAX_SCHEMA_NODES} schemas inside");
            return Err(SchemaError::new("", message));
        }
        self.known.insert(address(schema), number);
        let subschema =
            Subschema { pointer, schema, inner: Vec::new(), references: Vec::new(), stray };
        self.subschemas.all.push(subschema);
        let Value::Object(map) = schema else { return Ok(number) };
        let dialect = self.subschemas.dialect;
        let pointer = self.subschemas.all[number].pointer.clone();
        if let Some(other) = map.get("$schema").and_then(Value::as_str)
            && Dialect::named(other) != Some(dialect)
        {
            let message = format!(
                "declares the dialect `{other}` inside a schema of {}; a schema can only have one",
                dialect.word()
            );
            return Err(SchemaError::new(format!("{pointer}/$schema"), message));
        }
        let resolver = around.in_subresource(dialect.draft().create_resource_ref(schema)).map_err(
            |error| SchemaError::new(&*pointer, format!("has an invalid identifier: {error}")),
        )?;
        for part in child_schemas(dialect, map) {
            let pointer = match part.key {
                None => format!("{pointer}/{}", part.keyword),
                Some(ChildKey::Name(name)) => {
                    format!("{pointer}/{}/{}", part.keyword, escape(name))
                }
                Some(ChildKey::Index(index)) => format!("{pointer}/{}/{index}", part.keyword),
            };
            let inner = self.add(part.schema, pointer, &resolver, false)?;
            self.subschemas.all[number].inner.push((part, inner));
        }
        if REFERENCES.iter().any(|keyword| map.contains_key(*keyword)) {
            self.open.push((number, resolver));
        }
        Ok(number)
    }

    fn resolve(&mut self, number: SubschemaId, resolver: &Resolver<'r>) -> Result<(), SchemaError> {
        let schema = self.subschemas.all[number].schema;
        for keyword in REFERENCES {
            let recursive = keyword == "$recursiveRef";
            if !self.subschemas.dialect.knows(keyword)
                || (recursive && self.subschemas.dialect != Dialect::Draft201909)
            {
                continue;
            }
            let Some(text) = schema.get(keyword).and_then(Value::as_str) else { continue };
            let text = if recursive { "#" } else { text };
            let found = resolver.lookup(text).map_err(|error| {
                let pointer = format!("{}/{keyword}", self.subschemas.all[number].pointer);
                SchemaError::new(pointer, leads_nowhere(text, &error))
            })?;
            let target = match self.locate(found.contents(), found.resolver())? {
                None => ReferenceTarget::Outside,
                Some(target) => self.widened(keyword, target)?,
            };
            self.subschemas.all[number].references.push(SchemaReference { keyword, text, target });
        }
        Ok(())
    }

    /// The subschema of what a reference led to, a new one where none was expected there.
    fn locate(
        &mut self,
        found: &Value,
        resolver: &Resolver<'r>,
    ) -> Result<Option<SubschemaId>, SchemaError> {
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
    fn widened(
        &mut self,
        keyword: &str,
        target: SubschemaId,
    ) -> Result<ReferenceTarget, SchemaError> {
        let schema = self.subschemas.all[target].schema;
        let mark = match keyword {
            "$dynamicRef" => "$dynamicAnchor",
            "$recursiveRef" => "$recursiveAnchor",
            _ => return Ok(ReferenceTarget::Subschema(target)),
        };
        let name = match schema.get(mark) {
            Some(name) if *name != Value::Bool(false) => name,
            _ => return Ok(ReferenceTarget::Subschema(target)),
        };
        let mut all = self.subschemas.with(mark, name);
        self.ways += all.len();
        if self.ways > MAX_DYNAMIC_WAYS {
            let message =
                format!("has dynamic references with more than {MAX_DYNAMIC_WAYS} targets");
            return Err(SchemaError::new("", message));
        }
        if all.len() < 2 {
            return Ok(ReferenceTarget::Subschema(target));
        }
        all.sort_by_key(|number| *number != target);
        Ok(ReferenceTarget::OneOf(all))
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

/// The error of a document whose references cannot be resolved, at the reference that it concerns.
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
            "refers to `{reference}`, which is outside of the schema; remote references are not fetched"
        ),
        _ => format!("refers to `{reference}`, which cannot be resolved: {error}"),
    }
}
