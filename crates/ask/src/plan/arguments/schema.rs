//! What a schema says of the place that a value has in it.
//!
//! The schema is walked along the value: what is offered for one property is not offered for another.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{decimal::Decimal, kin, letters};

/// How many parts of a schema are looked at for one call.
const MAX_NODES: usize = 2_000;
/// How many parts may describe one place.
const MAX_PLACES: usize = 64;

/// How much of a description is read, in bytes.
const MAX_DESCRIPTION_BYTES: usize = 1_000;

/// Names of properties that take the words of a search.
const SEARCHES: &[&str] = &[
    "query",
    "queries",
    "q",
    "search",
    "searches",
    "text",
    "term",
    "terms",
    "keyword",
    "keywords",
    "topic",
    "topics",
    "subject",
    "question",
    "questions",
    "phrase",
    "phrases",
    "prompt",
    "filter",
    "pattern",
    "words",
    "suche",
    "suchbegriff",
    "recherche",
    "busqueda",
    "consulta",
];
/// Names of properties that take one thing in particular, whatever else they say.
const PARTICULAR: &[&str] = &[
    "id",
    "ids",
    "path",
    "paths",
    "file",
    "files",
    "url",
    "urls",
    "uri",
    "link",
    "host",
    "hosts",
    "hostname",
    "domain",
    "address",
    "email",
    "mail",
    "user",
    "users",
    "username",
    "person",
    "people",
    "owner",
    "author",
    "assignee",
    "recipient",
    "sender",
    "key",
    "token",
    "account",
    "sql",
    "command",
    "cmd",
    "shell",
    "script",
    "code",
    "number",
    "name",
    "names",
    "date",
];

/// The parts of a schema that describe one place.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    root: &'a Value,
    nodes: Vec<&'a Map<String, Value>>,
    /// The name of the nearest property.
    pub name: &'a str,
}

/// How much of a schema may still be looked at.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(MAX_NODES)
    }
}

impl<'a> Place<'a> {
    /// The place of all arguments.
    pub fn root(schema: &'a Value, budget: &mut Budget) -> Self {
        let mut place = Self { root: schema, nodes: Vec::new(), name: "" };
        place.add(schema, budget);
        place
    }

    /// The place of a field, and whether the schema names it.
    pub fn field(&self, name: &'a str, budget: &mut Budget) -> (Self, bool) {
        let mut place = Self { root: self.root, nodes: Vec::new(), name };
        let mut is_named = false;
        for node in &self.nodes {
            let named = node.get("properties").and_then(|all| all.get(name));
            is_named |= named.is_some();
            if let Some(schema) = named {
                place.add(schema, budget);
                continue;
            }
            let patterns = node.get("patternProperties").and_then(Value::as_object);
            for schema in patterns.into_iter().flat_map(Map::values) {
                place.add(schema, budget);
            }
            if let Some(schema) = node.get("additionalProperties") {
                place.add(schema, budget);
            }
        }
        (place, is_named)
    }

    /// The place of an item.
    pub fn item(&self, index: usize, budget: &mut Budget) -> Self {
        let mut place = Self { root: self.root, nodes: Vec::new(), name: self.name };
        for node in &self.nodes {
            let mut lists = ["prefixItems", "items"].into_iter();
            let by_index = lists.find_map(|list| node.get(list)?.get(index));
            if let Some(schema) = by_index.or_else(|| node.get("items")) {
                place.add(schema, budget);
            }
        }
        place
    }

    fn add(&mut self, schema: &'a Value, budget: &mut Budget) {
        let Value::Object(node) = schema else { return };
        let is_known = self.nodes.iter().any(|known| std::ptr::eq(*known, node));
        if is_known || budget.0 == 0 || self.nodes.len() >= MAX_PLACES {
            return;
        }
        budget.0 -= 1;
        self.nodes.push(node);
        let reference = node.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|one| self.root.pointer(one.strip_prefix('#')?));
        if let Some(target) = target {
            self.add(target, budget);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for branch in node.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                self.add(branch, budget);
            }
        }
        for keyword in ["then", "else"] {
            if let Some(branch) = node.get(keyword) {
                self.add(branch, budget);
            }
        }
    }

    /// Whether the contract offers this very value here.
    pub fn offers(&self, value: &Value) -> bool {
        self.nodes.iter().any(|node| {
            let choices = node.get("enum").and_then(Value::as_array).into_iter().flatten();
            let single = ["const", "default"].into_iter().filter_map(|keyword| node.get(keyword));
            choices.chain(single).any(|offered| is_same(offered, value))
        })
    }

    /// The texts that the contract offers here to choose from.
    pub fn choices(&self) -> Vec<&'a str> {
        let of = |node: &&'a Map<String, Value>| {
            let several = node.get("enum").and_then(Value::as_array).into_iter().flatten();
            several.chain(node.get("const")).filter_map(Value::as_str).collect::<Vec<_>>()
        };
        self.nodes.iter().flat_map(of).collect()
    }

    /// Whether a value is what the contract takes where nothing is chosen.
    pub fn is_default(&self, value: &Value) -> bool {
        self.nodes.iter().any(|node| node.get("default").is_some_and(|one| is_same(one, value)))
    }

    /// Whether any number will do where the question gives none: one that is there without being asked for is a knob.
    pub fn is_knob(&self) -> bool {
        self.nodes.iter().any(|node| node.get("default").is_some_and(Value::is_number))
    }

    /// Whether a number is the bound of the schema that another one lies beyond.
    pub fn is_bound(&self, number: &Decimal, other: &Decimal) -> bool {
        let is_beyond = |bound: &Value, is_most: bool| {
            let bound = Decimal::parse(&bound.to_string());
            bound.is_some_and(|bound| {
                bound == *number && if is_most { bound < *other } else { *other < bound }
            })
        };
        self.nodes.iter().any(|node| {
            node.get("maximum").is_some_and(|bound| is_beyond(bound, true))
                || node.get("minimum").is_some_and(|bound| is_beyond(bound, false))
        })
    }

    /// Whether there is a choice or a default that is meant instead.
    pub fn has_default(&self) -> bool {
        self.nodes.iter().any(|node| node.get("default").is_some_and(|value| !value.is_null()))
    }

    /// Whether a text is only what an id is of: `document` is no id of a document. Words that the
    /// description quotes are examples.
    pub fn is_kind(&self, text: &str) -> bool {
        let name = split_name(self.name);
        if !name
            .iter()
            .any(|word| matches!(word.as_str(), "id" | "ids" | "uuid" | "key" | "number"))
        {
            return false;
        }
        let mut said: HashSet<String> = name.iter().map(|word| kin::stem(word)).collect();
        for description in self.nodes.iter().filter_map(|node| node.get("description")?.as_str()) {
            let start = &description[..description.floor_char_boundary(MAX_DESCRIPTION_BYTES)];
            let start = letters::normal(start);
            let plain = start.split(' ').filter(|chunk| !chunk.contains(['"', '\'', '`']));
            said.extend(plain.flat_map(letters::words).map(kin::stem));
        }
        let text = letters::normal(text);
        let is_plain = !text.contains(|one: char| one.is_numeric() || letters::is_unspaced(one));
        is_plain && letters::words(&text).all(|word| said.contains(&kin::stem(word)))
    }

    /// Whether words of a search are wanted here.
    pub fn is_search(&self) -> bool {
        let name = split_name(self.name);
        let is_in = |list: &[&str]| name.iter().any(|word| list.contains(&word.as_str()));
        if is_in(PARTICULAR) || self.nodes.iter().any(|node| node.contains_key("format")) {
            return false;
        }
        is_in(SEARCHES) || self.nodes.iter().any(|node| says_search(node))
    }
}

/// Whether a description speaks of searching.
fn says_search(node: &Map<String, Value>) -> bool {
    let description = node.get("description").and_then(Value::as_str).unwrap_or_default();
    let start = &description[..description.floor_char_boundary(MAX_DESCRIPTION_BYTES)];
    let said = letters::normal(start);
    let mut words = letters::words(&said);
    words.any(|word| matches!(word, "search" | "searches" | "keyword" | "keywords" | "words"))
        || ["look for", "looks for", "looked for", "looking for"]
            .iter()
            .any(|one| said.contains(one))
}

/// The words of a name: `searchText` and `search_text` are two.
pub(super) fn split_name(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for one in name.chars().take(200) {
        let is_hump = before.is_lowercase() && one.is_uppercase();
        if is_hump || !one.is_alphanumeric() {
            words.push(String::new());
        }
        if one.is_alphanumeric() {
            words.last_mut().expect("there is always a word").extend(one.to_lowercase());
        }
        before = one;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether two values are one, `5` and `5.0` too.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let (a, b) = (Decimal::parse(&one.to_string()), Decimal::parse(&other.to_string()));
            a.is_some() && a == b
        }
        _ => one == other,
    }
}
