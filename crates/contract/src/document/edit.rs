//! Edits of a YAML or JSON text that change one value: comments, order and formatting of everything else stay.

use std::ops::Range;

use serde_json::{Map, Value};

use super::Document;
use crate::violation::escape;

/// The columns by which a block is indented below its key.
const INDENT: usize = 2;
/// The longest list that is written on one line, in characters.
const MAX_LIST_CHARS: usize = 96;

/// The text has a form in which the value cannot be changed without touching more than that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` cannot be changed in this form of the file; write it by hand:\n{yaml}")]
pub struct DocumentEditError {
    /// The keys down to the value, with dots.
    pub key: String,
    /// The value as YAML.
    pub yaml: String,
}

/// The text with one value set. Mappings that are missing on the way to it are added. An empty text, or one of comments
/// alone, gets its first key. A text that cannot be parsed is returned as an error by `Document::parse`, not here.
pub fn set(text: &str, path: &[&str], value: &Value) -> Result<String, DocumentEditError> {
    let refused = || {
        let mut yaml = String::new();
        block(&nested(path, value.clone()), 0, "\n", &mut yaml);
        DocumentEditError { key: path.join("."), yaml: yaml.trim_end().to_owned() }
    };
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    if is_blank(text) {
        let mut edited = text.trim_end().to_owned();
        if !edited.is_empty() {
            edited.push_str(&newline.repeat(2));
        }
        block(&nested(path, value.clone()), 0, newline, &mut edited);
        return Ok(edited);
    }
    let before = Document::parse("", text).map_err(|_| refused())?;
    let edited = TextEdit { document: &before, text, newline }.set(path, value);
    let edited = edited.ok_or_else(refused)?;
    let mut wanted = before.clone();
    wanted.set(path, value.clone());
    // Whatever the form of the text: nothing else may have changed.
    match Document::parse("", &edited) {
        Ok(after) if after.value() == wanted.value() => Ok(edited),
        _ => Err(refused()),
    }
}

/// The text with one more item at the end of a list, which is added if it is missing.
pub fn push(text: &str, path: &[&str], item: &Value) -> Result<String, DocumentEditError> {
    let list = Value::Array(vec![item.clone()]);
    let there = Document::parse("", text).ok();
    let there = there.as_ref().and_then(|document| {
        let value = path.iter().try_fold(document.value(), |value, key| value.get(*key))?;
        Some((document, value.as_array().filter(|items| !items.is_empty())?))
    });
    let Some((before, items)) = there else { return set(text, path, &list) };
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let pointer: String = path.iter().map(|key| format!("/{}", escape(key))).collect();
    let edited = TextEdit { document: before, text, newline }.push(&pointer, items.len(), item);
    let mut whole = items.clone();
    whole.push(item.clone());
    let mut wanted = before.clone();
    wanted.set(path, Value::Array(whole.clone()));
    match edited.map(|edited| (Document::parse("", &edited), edited)) {
        Some((Ok(after), edited)) if after.value() == wanted.value() => Ok(edited),
        _ => set(text, path, &Value::Array(whole)),
    }
}

/// True if a text has no value: it is empty, or has only comments.
pub fn is_blank(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
}

/// The value below these keys, as the mapping that is outermost.
fn nested(path: &[&str], value: Value) -> Map<String, Value> {
    let mut keys = path.iter().rev();
    let last = keys.next().map(|key| (*key).to_owned()).unwrap_or_default();
    keys.fold(Map::from_iter([(last, value)]), |inner, key| {
        Map::from_iter([((*key).to_owned(), Value::Object(inner))])
    })
}

struct TextEdit<'a> {
    document: &'a Document,
    text: &'a str,
    newline: &'a str,
}

impl TextEdit<'_> {
    fn set(&self, path: &[&str], value: &Value) -> Option<String> {
        let mut pointer = String::new();
        let mut there = self.document.value();
        for (depth, key) in path.iter().enumerate() {
            let Some(next) = there.get(*key).filter(|_| there.is_object()) else {
                return self.insert(&pointer, &nested(&path[depth..], value.clone()));
            };
            pointer = format!("{pointer}/{}", escape(key));
            there = next;
        }
        self.replace(&pointer, value)
    }

    /// Adds an item behind the last of a list.
    fn push(&self, pointer: &str, length: usize, item: &Value) -> Option<String> {
        let last = format!("{pointer}/{}", length.checked_sub(1)?);
        let end = self.end(&last);
        if self.is_flow(pointer) {
            return Some(self.spliced(end..end, &format!(", {}", flow(item))));
        }
        let start = self.value(&last)?.start;
        let line = self.text[..start].rfind('\n').map_or(0, |end| end + 1);
        let indent = self.text[line..start].split('-').next()?;
        let at = self.line_end(end);
        Some(self.spliced(at..at, &format!("{}{indent}- {}", self.newline, flow(item))))
    }

    /// Puts a value in place of another.
    fn replace(&self, pointer: &str, value: &Value) -> Option<String> {
        let Range { start, end } = self.range(pointer)?;
        let is_block =
            self.document.value().pointer(pointer)?.is_object() && !self.is_flow(pointer);
        // Its comments would be lost.
        if is_block {
            return None;
        }
        if self.is_unwritten(pointer) {
            return Some(self.spliced(end..end, &format!(" {}", flow(value))));
        }
        let is_list = self.document.value().pointer(pointer)?.is_array() && !self.is_flow(pointer);
        let start = if is_list { self.after_colon(pointer)? } else { start };
        let space = if is_list { " " } else { "" };
        Some(self.spliced(start..end, &format!("{space}{}", flow(value))))
    }

    /// Adds keys to a mapping.
    fn insert(&self, pointer: &str, entries: &Map<String, Value>) -> Option<String> {
        let mapping = self.document.value().pointer(pointer)?;
        let children = match mapping {
            Value::Object(fields) => fields.keys().collect(),
            Value::Null => Vec::new(),
            _ => return None,
        };
        let child = |key: &&String| format!("{pointer}/{}", escape(key));
        match (children.first(), children.last()) {
            (Some(_), Some(last)) if self.is_flow(pointer) => {
                let end = self.end(&child(last));
                Some(self.spliced(end..end, &format!(", {}", flow_entries(entries))))
            }
            (Some(first), Some(_)) => {
                let column = self.column(&child(first))?;
                let whole = self.text.trim_end();
                let (at, gap) = match pointer {
                    "" => (whole.len(), self.newline.repeat(2)),
                    _ => (self.line_end(self.end(pointer)), self.newline.to_owned()),
                };
                Some(self.spliced(at..at, &format!("{gap}{}", self.lines(entries, column))))
            }
            _ => self.fill(pointer, entries),
        }
    }

    /// Adds keys to a mapping that has none: `{}`, `null`, or nothing at all.
    fn fill(&self, pointer: &str, entries: &Map<String, Value>) -> Option<String> {
        let Some(column) = self.column(pointer) else {
            return Some(
                self.spliced(self.range(pointer)?, &format!("{{ {} }}", flow_entries(entries))),
            );
        };
        let mut text = self.text.to_owned();
        let after = self.after_colon(pointer)?;
        let end = if self.is_unwritten(pointer) {
            after
        } else {
            let written = self.range(pointer)?;
            self.text[after..written.start].trim().is_empty().then_some(written.end)?
        };
        let at = self.line_end(end) - (end - after);
        text.replace_range(after..end, "");
        let lines = format!("{}{}", self.newline, self.lines(entries, column + INDENT));
        text.insert_str(at, &lines);
        if !text.ends_with('\n') {
            text.push_str(self.newline);
        }
        Some(text)
    }

    fn lines(&self, entries: &Map<String, Value>, column: usize) -> String {
        let mut lines = String::new();
        block(entries, column, self.newline, &mut lines);
        lines.trim_end().to_owned()
    }

    fn spliced(&self, range: Range<usize>, with: &str) -> String {
        let mut text = self.text.to_owned();
        text.replace_range(range, with);
        if !text.ends_with('\n') {
            text.push_str(self.newline);
        }
        text
    }

    /// The place of a value, as the parser tells it: of a mapping or list only the start is certain.
    fn value(&self, pointer: &str) -> Option<Range<usize>> {
        self.document.places.get(pointer).map(|place| place.value.clone())
    }

    fn range(&self, pointer: &str) -> Option<Range<usize>> {
        Some(self.value(pointer)?.start..self.end(pointer))
    }

    /// True for `key:` without a value.
    fn is_unwritten(&self, pointer: &str) -> bool {
        let is_null = self.document.value().pointer(pointer).is_some_and(Value::is_null);
        let written = self.value(pointer).map(|span| self.text[span].trim());
        is_null && !matches!(written, Some("null" | "~" | "Null" | "NULL"))
    }

    /// True for a mapping or list in braces or brackets.
    fn is_flow(&self, pointer: &str) -> bool {
        let start = self.value(pointer).map(|span| &self.text[span.start..]);
        start.is_some_and(|text| text.starts_with(['{', '[']))
    }

    /// The position after the colon of a key.
    fn after_colon(&self, pointer: &str) -> Option<usize> {
        let key = self.document.places.get(pointer)?.key.clone()?;
        let colon = self.text[key.end..].find(':')?;
        self.text[key.end..key.end + colon].trim().is_empty().then_some(key.end + colon + 1)
    }

    /// The end of what stands at a pointer, without comments and blanks behind it.
    fn end(&self, pointer: &str) -> usize {
        if self.is_unwritten(pointer) {
            return self.after_colon(pointer).unwrap_or(self.text.len());
        }
        let Some(span) = self.value(pointer) else { return self.text.len() };
        let last = match self.document.value().pointer(pointer) {
            Some(Value::Object(fields)) => fields.keys().next_back().map(|key| escape(key)),
            Some(Value::Array(items)) => items.len().checked_sub(1).map(|last| last.to_string()),
            _ => None,
        };
        let last = last.map(|last| self.end(&format!("{pointer}/{last}")));
        if self.is_flow(pointer) {
            return self.closing(last.unwrap_or(span.start + 1));
        }
        last.unwrap_or_else(|| span.start + self.text[span].trim_end().len())
    }

    /// The position after the next closing brace or bracket that is not in a comment.
    fn closing(&self, from: usize) -> usize {
        let mut comment = false;
        for (at, one) in self.text[from..].char_indices() {
            comment = one == '#' || comment && one != '\n';
            if !comment && matches!(one, '}' | ']') {
                return from + at + 1;
            }
        }
        self.text.len()
    }

    /// The end of the line of a position.
    fn line_end(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
        at + line.trim_end_matches('\r').len()
    }

    /// The column of a key that is the first thing on its line.
    fn column(&self, pointer: &str) -> Option<usize> {
        let start = self.document.places.get(pointer)?.key.clone()?.start;
        let line = self.text[..start].rfind('\n').map_or(0, |end| end + 1);
        let before = self.text[line..start].trim_start_matches('\u{feff}');
        before.bytes().all(|byte| byte == b' ').then_some(before.len())
    }
}

/// Entries of a mapping, each on lines of its own.
fn block(entries: &Map<String, Value>, column: usize, newline: &str, text: &mut String) {
    let indent = " ".repeat(column);
    for (key, value) in entries {
        let key = format!("{indent}{}:", scalar(key));
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                text.push_str(&format!("{key}{newline}"));
                block(inner, column + INDENT, newline, text);
            }
            Value::Array(items) if flow(value).len() > MAX_LIST_CHARS => {
                text.push_str(&format!("{key}{newline}"));
                for item in items {
                    text.push_str(&format!("{indent}  - {}{newline}", flow(item)));
                }
            }
            _ => text.push_str(&format!("{key} {}{newline}", flow(value))),
        }
    }
}

/// A value on one line. Mappings are JSON, which is YAML too.
fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Array(items) if !items.is_empty() => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) if !fields.is_empty() => format!("{{ {} }}", flow_entries(fields)),
        other => other.to_string(),
    }
}

/// Entries for a mapping in braces. Keys and texts are quoted: the file may be JSON.
fn flow_entries(entries: &Map<String, Value>) -> String {
    let entry = |(key, value): (&String, &Value)| format!("{}: {value}", Value::from(&**key));
    entries.iter().map(entry).collect::<Vec<_>>().join(", ")
}

/// A text, without quotes where it cannot be read as anything else.
fn scalar(text: &str) -> String {
    const WORDS: &[&str] = &["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '_');
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./@-".contains(c);
    let is_word = WORDS.contains(&text.to_ascii_lowercase().as_str());
    if begins && text.chars().all(plain) && !is_word && text.parse::<f64>().is_err() {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}

#[cfg(test)]
#[path = "edit/tests.rs"]
mod tests;
