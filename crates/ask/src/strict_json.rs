//! The strict reading of what a model wrote: exactly one JSON object of a form, and nothing around it.

use contract::json;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The object that a text is, if it is nothing else. A key twice, a second object, a fence or a word around it make it none.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let value = json::parse(text.as_bytes())
        .map_err(|error| format!("it is not exactly one JSON object: {error}"))?;
    object(value)
}

/// An object of this form; serde would also take a list of its fields.
pub(crate) fn object<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    if !value.is_object() {
        return Err(format!("it must be an object and is of type {}", json::kind(&value)));
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}
