//! Arguments must come from the contract or from the question. A model that cannot find an id makes one up, and
//! one that has read instructions in a description follows them; neither is what the person asked.
//!
//! Each value is an `enum`, `const` or `default` of the contract, or it stands in the question: as it is written
//! there, but for case, quotes and Unicode form; numbers and dates as values. A search text may have a few words
//! of its own.

mod question;
mod schema;
#[cfg(test)]
mod tests;

use contract::invisible::has_no_shape;
use serde_json::{Map, Value};

use super::shown;
use crate::shortlist::split_name;

pub(super) use question::QuestionValues;
pub(super) use schema::SchemaView;

/// The most words of a search text that may be missing from the question.
pub const MAX_NEW_WORDS: usize = 2;
/// The depth to which arguments are looked at. Anything deeper is refused.
const MAX_DEPTH: usize = 64;
/// Words of a switch's name that need not stand in the question.
const SWITCH_WORDS: [&str; 4] = ["include", "only", "show", "with"];

/// Refuses the first argument that comes neither from the contract nor from the question, with the reason.
pub(super) fn check(
    schema: &Value,
    args: &Map<String, Value>,
    question: &str,
) -> Result<(), String> {
    let question = QuestionValues::new(question);
    let root = SchemaView::root(schema);
    args.iter().try_for_each(|(name, value)| question.check_field(&root, name, value, 0))
}

/// The whole numbers that a question has, in order.
pub(crate) fn question_integers(question: &str) -> Vec<i64> {
    QuestionValues::new(question).integers()
}

impl QuestionValues {
    fn check_field(
        &self,
        view: &SchemaView,
        name: &str,
        value: &Value,
        depth: usize,
    ) -> Result<(), String> {
        let (view, is_named) = view.field(name);
        if !is_named && !self.has_text(name) {
            let name = shown(name);
            return Err(format!("Arg '{name}' is neither in the schema nor in the question"));
        }
        self.check_value(&view, value, depth)
    }

    fn check_value(&self, view: &SchemaView, value: &Value, depth: usize) -> Result<(), String> {
        if view.offers(value) {
            return Ok(());
        }
        if depth > MAX_DEPTH {
            return Err(format!("Arg '{}' is nested too deeply", shown(view.name)));
        }
        match value {
            Value::Null => Ok(()),
            Value::Bool(is_on) => {
                let is_said =
                    *is_on && self.has_switch(view.name) || self.has_text(&value.to_string());
                if is_said { Ok(()) } else { Err(not_said(view, &value.to_string())) }
            }
            Value::Number(number) if self.has_number(&number.to_string()) => Ok(()),
            Value::Number(number) => Err(not_said(view, &number.to_string())),
            Value::String(text) => self.check_text(view, text),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| self.check_value(&view.item(index), item, depth + 1)),
            Value::Object(fields) => fields
                .iter()
                .try_for_each(|(name, value)| self.check_field(view, name, value, depth + 1)),
        }
    }

    fn check_text(&self, view: &SchemaView, text: &str) -> Result<(), String> {
        let name = shown(view.name);
        if text.trim().is_empty() {
            return Err(format!("Arg '{name}' is empty"));
        }
        let is_invisible = |one: char| one.is_control() || has_no_shape(one);
        if text.trim() != text || text.contains(is_invisible) {
            return Err(format!(
                "Arg '{name}' is '{}', which has invisible characters or spaces around it",
                shown(text)
            ));
        }
        if view.is_only_named(text) {
            return Err(format!(
                "Arg '{name}' is '{}', which names what is wanted and not which one; say in the question: \"The {name} is …\"",
                shown(text)
            ));
        }
        if self.has_text(text) || self.has_date(text) {
            return Ok(());
        }
        if !view.is_search() {
            return Err(not_said(view, text));
        }
        let new = self.new_words(text);
        if new.len() <= MAX_NEW_WORDS {
            return Ok(());
        }
        let new: Vec<_> =
            new.iter().take(MAX_NEW_WORDS + 1).map(|word| format!("'{}'", shown(word))).collect();
        Err(format!(
            "Arg '{name}' has more than {MAX_NEW_WORDS} words that are not in the question ({} …); say in the question what to search for",
            new.join(", ")
        ))
    }

    /// True if the question names a switch by the words of its name.
    fn has_switch(&self, name: &str) -> bool {
        let words = split_name(name);
        let mut telling =
            words.iter().filter(|word| !SWITCH_WORDS.contains(&word.as_str())).peekable();
        telling.peek().is_some() && telling.all(|word| self.has_word(word))
    }
}

/// The refusal of a value that the question does not have.
fn not_said(view: &SchemaView, value: &str) -> String {
    let name = shown(view.name);
    format!(
        "Arg '{name}' is '{}', which is not in the question; say there: \"The {name} is …\"",
        shown(value)
    )
}
