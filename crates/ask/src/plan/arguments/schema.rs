//! The parts of a schema that describe one value. The schema is walked along the value: what is offered for one
//! property is not offered for another.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::{
    shortlist::{is_stop_word, split_name, stem},
    text::{normal, words},
};

/// The most parts of a schema that may describe one value.
const MAX_NODES: usize = 64;
/// The most of a description that is read, in bytes.
const MAX_DESCRIPTION_BYTES: usize = 1_000;

/// Words in the names of properties that take the words of a search.
const SEARCH_NAMES: &[&str] = &[
    "consulta",
    "keyword",
    "keywords",
    "phrase",
    "q",
    "queries",
    "query",
    "question",
    "recherche",
    "search",
    "suche",
    "term",
    "terms",
    "topic",
    "topics",
    "words",
];
/// Words in the names of properties that take one thing in particular, whatever else they say.
const PARTICULAR_NAMES: &[&str] = &[
    "account", "address", "author", "code", "command", "date", "domain", "email", "file", "files",
    "host", "id", "ids", "key", "name", "number", "owner", "path", "paths", "script", "sql",
    "token", "uri", "url", "urls", "user",
];
/// Words in the names of properties that take an id.
const ID_NAMES: &[&str] = &["id", "ids", "key", "number", "uuid"];

/// The parts of a schema that describe one value.
#[derive(Debug, Clone)]
pub(in crate::plan) struct SchemaView<'a> {
    root: &'a Value,
    nodes: Vec<&'a Map<String, Value>>,
    /// The name of the nearest property.
    pub name: &'a str,
}

impl<'a> SchemaView<'a> {
    /// The view of all arguments.
    pub fn root(schema: &'a Value) -> Self {
        let mut view = Self { root: schema, nodes: Vec::new(), name: "" };
        view.add(schema);
        view
    }

    /// The view of a field, and whether the schema names it.
    pub fn field(&self, name: &'a str) -> (Self, bool) {
        let mut view = Self { root: self.root, nodes: Vec::new(), name };
        let mut is_named = false;
        for node in &self.nodes {
            if let Some(schema) = node.get("properties").and_then(|all| all.get(name)) {
                is_named = true;
                view.add(schema);
                continue;
            }
            let patterns = node.get("patternProperties").and_then(Value::as_object);
            for schema in patterns.into_iter().flat_map(Map::values) {
                view.add(schema);
            }
            if let Some(schema) = node.get("additionalProperties") {
                view.add(schema);
            }
        }
        (view, is_named)
    }

    pub fn item(&self, index: usize) -> Self {
        let mut view = Self { root: self.root, nodes: Vec::new(), name: self.name };
        for node in &self.nodes {
            let by_index =
                ["prefixItems", "items"].into_iter().find_map(|list| node.get(list)?.get(index));
            if let Some(schema) = by_index.or_else(|| node.get("items")) {
                view.add(schema);
            }
        }
        view
    }

    fn add(&mut self, schema: &'a Value) {
        let Value::Object(node) = schema else { return };
        let is_known = self.nodes.iter().any(|known| std::ptr::eq(*known, node));
        if is_known || self.nodes.len() >= MAX_NODES {
            return;
        }
        self.nodes.push(node);
        let reference = node.get("$ref").and_then(Value::as_str);
        if let Some(target) = reference.and_then(|one| self.root.pointer(one.strip_prefix('#')?)) {
            self.add(target);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for branch in node.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                self.add(branch);
            }
        }
        for keyword in ["then", "else"] {
            if let Some(branch) = node.get(keyword) {
                self.add(branch);
            }
        }
    }

    /// The names of the fields that have to be given.
    pub fn required(&self) -> Vec<&'a str> {
        let lists = self.nodes.iter().filter_map(|node| node.get("required")?.as_array());
        let mut names: Vec<&str> = Vec::new();
        for name in lists.flatten().filter_map(Value::as_str) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The values that the contract offers here.
    pub fn offered(&self) -> impl Iterator<Item = &'a Value> {
        self.nodes.iter().flat_map(|node| {
            let choices = node.get("enum").and_then(Value::as_array).into_iter().flatten();
            choices.chain(["const", "default"].into_iter().filter_map(|keyword| node.get(keyword)))
        })
    }

    /// True if the contract offers this very value here. `5` and `5.0` are the same.
    pub fn offers(&self, value: &Value) -> bool {
        let is_same = |offered: &Value| match (offered.as_f64(), value.as_f64()) {
            (Some(offered), Some(value)) => offered.total_cmp(&value).is_eq(),
            _ => offered == value,
        };
        self.offered().any(is_same)
    }

    /// True if nobody has to give it: it has a default, or can be nothing else.
    pub fn is_settled(&self) -> bool {
        self.nodes.iter().any(|node| node.contains_key("default") || node.contains_key("const"))
    }

    /// True if a number is wanted here.
    pub fn is_number(&self) -> bool {
        let mut types = self.nodes.iter().filter_map(|node| node.get("type")?.as_str());
        types.any(|name| matches!(name, "integer" | "number"))
    }

    /// The descriptions of the value, as far as they are read.
    pub fn descriptions(&self) -> impl Iterator<Item = &'a str> {
        let texts = self.nodes.iter().filter_map(|node| node.get("description")?.as_str());
        texts.map(|text| &text[..text.floor_char_boundary(MAX_DESCRIPTION_BYTES)])
    }

    /// True if a text is only the word for what an id is of: `document` is no id of a document. Words that the
    /// description quotes are examples.
    pub fn is_only_named(&self, text: &str) -> bool {
        let name = split_name(self.name);
        if !name.iter().any(|word| ID_NAMES.contains(&word.as_str())) {
            return false;
        }
        let mut said: HashSet<String> = name.iter().map(|word| stem(word)).collect();
        for description in self.descriptions() {
            let description = normal(description);
            let plain = description.split(' ').filter(|chunk| !chunk.contains(['"', '\'', '`']));
            said.extend(plain.flat_map(words).map(stem));
        }
        let text = normal(text);
        let has_letters = text.chars().any(char::is_alphabetic);
        let is_plain = text.chars().all(|one| one.is_alphabetic() || one.is_whitespace());
        let is_said = |word: &str| said.contains(&stem(word)) || is_plain && is_stop_word(word);
        has_letters && !text.contains(char::is_numeric) && words(&text).all(is_said)
    }

    /// True if words of a search are wanted here.
    pub fn is_search(&self) -> bool {
        let name = split_name(self.name);
        let has = |list: &[&str]| name.iter().any(|word| list.contains(&word.as_str()));
        if has(PARTICULAR_NAMES) || self.nodes.iter().any(|node| node.contains_key("format")) {
            return false;
        }
        let says_search = |description: &str| {
            let description = normal(description);
            words(&description)
                .any(|word| matches!(word, "search" | "searches" | "keyword" | "keywords"))
                || description.contains("look for")
        };
        has(SEARCH_NAMES) || self.descriptions().any(says_search)
    }
}
