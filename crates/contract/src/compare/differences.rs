//! Where two values differ, in words.

use serde_json::Value;

use super::{Change, Class};
use crate::violation::escape;

/// How much of a value is quoted, in characters.
const QUOTED: usize = 80;
/// How many differences are told of one part.
const MAX_DIFFERENCES: usize = 100;

/// A place where two values differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where, as a JSON pointer.
    pub pointer: String,
    /// What happened, in words.
    pub text: String,
    /// Whether it is a text that a model reads and that changes no value.
    pub wording: bool,
}

impl Difference {
    pub(super) fn into_change(
        self,
        part: &'static str,
        class: Class,
        lost: Option<Value>,
    ) -> Change {
        Change { part, class, pointer: self.pointer, text: self.text, lost }
    }
}

/// All places in which two parts differ, up to a hundred.
pub(super) fn between(old: Option<&Value>, new: Option<&Value>) -> Vec<Difference> {
    let mut walk = Walk { found: Vec::new(), pointer: String::new() };
    match (old, new) {
        (Some(old), Some(new)) => walk.compare(old, new, false),
        (None, Some(new)) => walk.note(format!("is {} now", quote(new)), false),
        (Some(old), None) => walk.note(format!("is gone: {}", quote(old)), false),
        (None, None) => {}
    }
    walk.found
}

struct Walk {
    found: Vec<Difference>,
    pointer: String,
}

impl Walk {
    fn note(&mut self, text: String, wording: bool) {
        if self.found.len() < MAX_DIFFERENCES {
            self.found.push(Difference { pointer: self.pointer.clone(), text, wording });
        }
    }

    /// Compares two values whose keys are keywords, or names of somebody's own.
    fn compare(&mut self, old: &Value, new: &Value, names: bool) {
        if old == new {
            return;
        }
        let (Value::Object(before), Value::Object(after)) = (old, new) else {
            self.note(format!("was {} and is {}", quote(old), quote(new)), false);
            return;
        };
        for (key, old) in before {
            match after.get(key) {
                None => {
                    self.note(
                        format!("`{key}` is gone: {}", quote(old)),
                        !names && is_wording(key),
                    );
                }
                Some(new) if old == new => {}
                Some(new) if key == "required" && !names => self.required(old, new),
                Some(new) => {
                    let length = self.pointer.len();
                    self.pointer.push('/');
                    self.pointer.push_str(&escape(key));
                    if !names && is_wording(key) {
                        self.note(format!("was {} and is {}", quote(old), quote(new)), true);
                    } else {
                        self.compare(old, new, !names && holds_names(key));
                    }
                    self.pointer.truncate(length);
                }
            }
        }
        for (key, new) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
            self.note(format!("`{key}` is {} now", quote(new)), !names && is_wording(key));
        }
    }

    fn required(&mut self, old: &Value, new: &Value) {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let (before, after) = (list(old), list(new));
        let told = self.found.len();
        for name in after.iter().filter(|name| !before.contains(name)) {
            self.note(format!("{} is required now", quote(name)), false);
        }
        for name in before.iter().filter(|name| !after.contains(name)) {
            self.note(format!("{} is not required any more", quote(name)), false);
        }
        if self.found.len() == told {
            self.note("`required` is in another order".to_owned(), false);
        }
    }
}

/// Keywords of a schema that change no value.
fn is_wording(key: &str) -> bool {
    matches!(key, "title" | "description" | "examples" | "default" | "$comment" | "deprecated")
}

/// Keywords below which there are names and not keywords.
fn holds_names(key: &str) -> bool {
    matches!(key, "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas")
}

fn quote(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(QUOTED) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
