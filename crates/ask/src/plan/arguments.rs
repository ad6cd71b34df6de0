//! Whether arguments come from the question. A model that cannot find an id makes one up, and one that
//! has read instructions in a description follows them; neither is what the person asked.
//!
//! What is particular about an argument (ids, numbers, addresses, paths, names, anything with marks in
//! it) must stand in the question, whole. Other texts must stand there word by word; only what looks
//! for something may say a few words differently, and no names. What the contract offers for a property
//! may be chosen for it, unless the question names another choice, and a number that it has a default
//! for, where the question gives none.

mod answer;
mod asked;
mod choices;
mod counts;
mod dates;
mod decimal;
mod flags;
mod kin;
mod letters;
mod numbers;
mod replaced;
mod schema;
#[cfg(test)]
mod tests;
mod text;
mod tokens;
mod words;

pub(super) use answer::strange_answer;

use serde_json::{Map, Value};

use super::shown;
use asked::Asked;
use decimal::Decimal;
use schema::{Budget, Place};
use text::Strange;

/// How deep arguments are looked at. What lies deeper is not believed.
const MAX_DEPTH: usize = 64;

/// What is strange about the first argument that the question does not bear out.
pub(super) fn strange(schema: &Value, args: &Map<String, Value>, question: &str) -> Option<String> {
    let mut walk = Walk { asked: Asked::new(question), budget: Budget::default() };
    let root = Place::root(schema, &mut walk.budget);
    args.iter().find_map(|(name, value)| {
        let strange = walk.field(&root, name, value, 0)?;
        let name = shown(name);
        Some(match strange {
            Found::Key(key) => {
                format!("Arg '{}' is neither in the schema nor in the question", shown(&key))
            }
            Found::Text(_, Strange::Empty) => format!("Arg '{name}' is empty"),
            Found::Text(text, Strange::Unseen) => {
                format!(
                    "Arg '{name}' is '{}', which has characters that cannot be seen",
                    shown(&text)
                )
            }
            Found::Text(text, Strange::Particular) => {
                format!(
                    "Arg '{name}' is '{}', which is not in the question; name it there",
                    shown(&text)
                )
            }
            Found::Choice(text, named) => {
                format!(
                    "Arg '{name}' is '{}', and the question names '{}'",
                    shown(&text),
                    shown(&named)
                )
            }
            Found::Text(text, Strange::Words) | Found::Other(text) => {
                format!("Arg '{name}' is '{}', which is not in the question", shown(&text))
            }
        })
    })
}

/// What is strange.
enum Found {
    /// The name of a field.
    Key(String),
    /// A text, and why.
    Text(String, Strange),
    /// A choice, and the one that the question names.
    Choice(String, String),
    /// A number, a switch, or what lies too deep.
    Other(String),
}

/// A walk along arguments and their schema at once.
struct Walk {
    asked: Asked,
    budget: Budget,
}

impl Walk {
    fn field(&mut self, place: &Place, name: &str, value: &Value, depth: usize) -> Option<Found> {
        let (place, is_named) = place.field(name, &mut self.budget);
        if !is_named && text::strange(name, &self.asked, false).is_some() {
            return Some(Found::Key(name.to_owned()));
        }
        let named = choices::named_instead(&place, value, &self.asked, &mut self.budget);
        if let Some(named) = named {
            let taken = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            return Some(Found::Choice(taken, named));
        }
        self.value(&place, value, depth)
    }

    fn value(&mut self, place: &Place, value: &Value, depth: usize) -> Option<Found> {
        if place.offers(value) {
            return None;
        }
        if depth > MAX_DEPTH {
            return Some(Found::Other("too deep".to_owned()));
        }
        match value {
            Value::Null => None,
            Value::Bool(is_on) => {
                let is_fine = flags::is_fine(*is_on, place, &self.asked);
                (!is_fine).then(|| Found::Other(value.to_string()))
            }
            Value::Number(number) => {
                let number = Decimal::parse(&number.to_string());
                let is_fine = if place.is_knob() {
                    number.is_none_or(|number| counts::agrees(&number, place, &self.asked.text))
                } else {
                    number.is_some_and(|number| self.asked.has_number(&number))
                };
                (!is_fine).then(|| Found::Other(value.to_string()))
            }
            Value::String(text) => {
                let strange = text::strange(text, &self.asked, place.is_search());
                let kind = || place.is_kind(text).then_some(Strange::Particular);
                strange.or_else(kind).map(|strange| Found::Text(text.clone(), strange))
            }
            Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
                let place = place.item(index, &mut self.budget);
                self.value(&place, item, depth + 1)
            }),
            Value::Object(fields) => {
                fields.iter().find_map(|(name, value)| self.field(place, name, value, depth + 1))
            }
        }
    }
}
