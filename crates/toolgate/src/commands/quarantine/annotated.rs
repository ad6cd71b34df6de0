//! Prints a JSON value with its violations beside the lines that they are about.

use std::collections::BTreeMap;

use gate::{quarantine::StoredViolation, visible_text::visible_line};
use serde_json::Value;

/// The most lines that are shown.
const MAX_LINES: usize = 500;
/// The most items of an array or object that are shown, besides those with violations.
const MAX_PARTS: usize = 20;
/// The most characters of a text that are shown.
const MAX_TEXT: usize = 200;

/// The lines. One with a violation begins with `>` and ends with the violation.
pub fn lines(value: &Value, violations: &[StoredViolation]) -> Vec<String> {
    let mut page = AnnotatedValue { marks: BTreeMap::new(), lines: Vec::new(), left_out: false };
    for violation in violations {
        page.mark(value, violation);
    }
    page.value(value, &ValueLocation::default(), "", "");
    if page.left_out {
        page.lines.push("  … (--json shows all of it)".into());
    }
    page.lines
}

struct AnnotatedValue {
    /// The violations, by the pointer of the value that they are shown at.
    marks: BTreeMap<String, Vec<String>>,
    lines: Vec<String>,
    left_out: bool,
}

/// Pointer and depth of a part of the value.
#[derive(Default)]
struct ValueLocation {
    pointer: String,
    depth: usize,
}

impl ValueLocation {
    fn part(&self, key: &str) -> Self {
        let key = contract::escape(key);
        Self { pointer: format!("{}/{key}", self.pointer), depth: self.depth + 1 }
    }
}

impl AnnotatedValue {
    /// Adds a violation. One of a missing value is shown at its parent.
    fn mark(&mut self, value: &Value, violation: &StoredViolation) {
        let mut pointer = violation.pointer.as_str();
        while value.pointer(pointer).is_none() {
            pointer = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
        let missing = violation.pointer.strip_prefix(pointer).unwrap_or_default();
        let words = match missing.trim_start_matches('/') {
            "" => violation.message.clone(),
            name => format!("`{name}` {}", violation.message),
        };
        self.marks.entry(pointer.to_owned()).or_default().push(words);
    }

    /// True if there is a violation at the pointer or below.
    fn has_mark(&self, pointer: &str) -> bool {
        let below = format!("{pointer}/");
        self.marks.contains_key(pointer)
            || self
                .marks
                .range(below.clone()..)
                .next()
                .is_some_and(|(one, _)| one.starts_with(&below))
    }

    fn line(&mut self, place: &ValueLocation, text: &str, own: bool) {
        if self.lines.len() >= MAX_LINES {
            self.left_out = true;
            return;
        }
        let words = self.marks.get(&place.pointer).filter(|_| own).map(|all| all.join("; "));
        let (sign, words) = match words {
            Some(words) => (">", format!("  ← {words}")),
            None => (" ", String::new()),
        };
        let indent = "  ".repeat(place.depth);
        self.lines.push(format!("{sign} {indent}{}", visible_line(&format!("{text}{words}"))));
    }

    fn value(&mut self, value: &Value, place: &ValueLocation, before: &str, after: &str) {
        match value {
            Value::Array(items) if !items.is_empty() => {
                self.line(place, &format!("{before}["), true);
                let parts = items.iter().enumerate();
                self.parts(parts.map(|(index, item)| (index.to_string(), None, item)), place);
                self.line(place, &format!("]{after}"), false);
            }
            Value::Object(fields) if !fields.is_empty() => {
                self.line(place, &format!("{before}{{"), true);
                let parts = fields.iter();
                self.parts(parts.map(|(key, item)| (key.clone(), Some(key.as_str()), item)), place);
                self.line(place, &format!("}}{after}"), false);
            }
            one => self.line(place, &format!("{before}{}{after}", scalar(one)), true),
        }
    }

    fn parts<'a>(
        &mut self,
        parts: impl Iterator<Item = (String, Option<&'a str>, &'a Value)>,
        place: &ValueLocation,
    ) {
        let all: Vec<_> = parts.collect();
        let (last, mut skipped) = (all.len() - 1, 0);
        let note = |page: &mut Self, skipped: &mut usize| {
            if *skipped > 0 {
                let inside = ValueLocation { pointer: String::new(), depth: place.depth + 1 };
                page.line(&inside, &format!("… {skipped} more"), false);
                (*skipped, page.left_out) = (0, true);
            }
        };
        for (index, (step, key, item)) in all.into_iter().enumerate() {
            let part = place.part(&step);
            if index >= MAX_PARTS && !self.has_mark(&part.pointer) {
                skipped += 1;
                continue;
            }
            note(self, &mut skipped);
            let before = key.map(|key| format!("{}: ", text(key))).unwrap_or_default();
            self.value(item, &part, &before, if index < last { "," } else { "" });
        }
        note(self, &mut skipped);
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(words) => text(words),
        other => other.to_string(),
    }
}

fn text(words: &str) -> String {
    let cut = words.char_indices().nth(MAX_TEXT).map(|(end, _)| end);
    let shown = Value::String(words[..cut.unwrap_or(words.len())].to_owned()).to_string();
    match cut {
        Some(end) => format!("{shown}… and {} more bytes", words.len() - end),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn violation(pointer: &str, message: &str) -> StoredViolation {
        let (pointer, message) = (pointer.into(), message.into());
        StoredViolation { pointer, keyword: "type".into(), message }
    }

    #[test]
    fn what_is_wrong_stands_beside_its_place() {
        let value = json!({ "a": 1, "b": [true, { "c/d": "x\u{1b}" }], "e": {} });
        let violations = [
            violation("/a", "must be a string"),
            violation("/b/1/c~1d", "is too long"),
            violation("/e/f", "is required"),
            violation("", "is strange"),
        ];
        let shown = lines(&value, &violations).join("\n");
        let expected = "\
> {  ← is strange
>   \"a\": 1,  ← must be a string
    \"b\": [
      true,
      {
>       \"c/d\": \"x\\u001b\"  ← is too long
      }
    ],
>   \"e\": {}  ← `f` is required
  }";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_long_answer_is_shown_where_something_is_wrong() {
        let mut items = vec![json!("x".repeat(300)); 5_000];
        items[4_000] = json!(null);
        let shown =
            lines(&json!({ "items": items }), &[violation("/items/4000", "must be a text")]);
        let wrong = shown.iter().position(|line| line.contains("null,  ← must be a text")).unwrap();
        assert_eq!(shown[wrong - 1].trim(), "… 3980 more");
        assert_eq!(shown[wrong + 1].trim(), "… 999 more");
        assert!(shown[2].contains("… and 100 more bytes"), "{}", shown[2]);
        let deep = (0..400).fold(json!(1), |inner, _| json!([inner, [1, 2, 3]]));
        assert_eq!(lines(&deep, &[]).len(), MAX_LINES + 1);
    }
}
