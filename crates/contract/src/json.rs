//! JSON read strictly: a key twice is an error and not a choice.
//!
//! Two readers that pick different ones of two equal keys see two different
//! calls; a gate must not let such a text through. Depth is bounded by
//! `serde_json` (128 levels), size by whoever reads the bytes.

use std::fmt;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Number, Value};

use crate::{Diagnostic, Severity};

/// An error in a JSON text, and its place.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message} at line {line}, column {column}")]
pub struct JsonError {
    /// The problem.
    pub message: String,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in bytes.
    pub column: usize,
    /// True if the text is not JSON; otherwise it is JSON that says something else than it should.
    pub is_syntax: bool,
}

impl JsonError {
    /// The error at its place in the text of this file.
    pub fn diagnostic(&self, file: &str, text: &str) -> Diagnostic {
        let before = text.split_inclusive('\n').take(self.line.saturating_sub(1));
        let line = before.map(str::len).sum::<usize>();
        let at = (line + self.column.saturating_sub(1)).min(text.len());
        let what = if self.is_syntax { "not valid JSON: " } else { "" };
        let message = format!("{what}{}", self.message);
        Diagnostic::new(Severity::Error, file, &text.into(), at..at + 1, message)
    }
}

/// The same as a type that reads itself. Of two equal keys it may pick one.
pub fn parse_as<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, JsonError> {
    serde_json::from_slice(bytes).map_err(|error| locate(&error))
}

/// The value that the bytes spell, if they spell exactly one.
pub fn parse(bytes: &[u8]) -> Result<Value, JsonError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    Strict
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| locate(&error))
}

/// The type of a value, as a schema names it.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn locate(error: &serde_json::Error) -> JsonError {
    let text = error.to_string();
    // serde_json ends its text with the place, which has fields of its own here.
    let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
    let is_syntax = !error.is_data();
    JsonError { message, line: error.line(), column: error.column(), is_syntax }
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("number is out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(Strict)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            match map.entry(key) {
                serde_json::map::Entry::Vacant(place) => {
                    place.insert(entries.next_value_seed(Strict)?);
                }
                // Before its value is read: the error is at the key.
                serde_json::map::Entry::Occupied(place) => {
                    let key: String = place.key().chars().take(64).collect();
                    return Err(de::Error::custom(format_args!("key `{key}` appears twice")));
                }
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn check(text: &str, message: &str) {
        assert_eq!(parse(text.as_bytes()).unwrap_err().message, message, "{text:.40}");
    }

    #[test]
    fn refuses_what_two_readers_would_read_differently() {
        check(r#"{"a":1,"a":2}"#, "key `a` appears twice");
        check(r#"{"o":{"a":1,"\u0061":2}}"#, "key `a` appears twice");
        check(r#"{"a":1} {"a":2}"#, "trailing characters");
        check("[1,]", "trailing comma");
        check("1e999", "number out of range");
        check("", "EOF while parsing a value");
        check(&"[".repeat(100_000), "recursion limit exceeded");
    }

    #[test]
    fn an_error_is_shown_in_its_place() {
        for (text, line, column) in [
            ("{\"a\": 1,\n \"é\": tru}", 2, 10),
            ("[1,]", 1, 4),
            ("", 1, 1),
            ("{\n", 2, 1),
            ("{\"a\":1,\n\"a\":2}", 2, 3),
        ] {
            let found = parse(text.as_bytes()).unwrap_err().diagnostic("x.json", text);
            assert_eq!((found.line, found.column), (line, column), "{text}: {}", found.message);
        }
    }

    #[test]
    fn keeps_every_value_as_written() {
        let text = r#"{"z":[1,-2,0.5,18446744073709551615],"a":{"t":true,"n":null,"s":"é\n"}}"#;
        assert_eq!(parse(text.as_bytes()).unwrap().to_string(), text);
    }
}
