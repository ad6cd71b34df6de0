//! A payload that is larger than it may be becomes a text that ends early.

use serde_json::Value;

/// What stands at the end of what was cut.
const MARK: &str = "\n…[TRUNCATED]…";

/// The payload, or as much of it as there is room for.
pub(super) fn cut(payload: Value, max_characters: usize) -> Value {
    let whole = match payload {
        Value::String(text) if text.ends_with(MARK) && text.len() <= max_characters => text,
        Value::String(text) => text.strip_suffix(MARK).map_or(text.clone(), str::to_owned),
        // What is small in bytes is small in characters.
        other => match other.to_string() {
            text if text.len() <= max_characters => return other,
            text => text,
        },
    };
    match whole.char_indices().nth(max_characters) {
        None => Value::String(whole),
        Some((end, _)) => Value::String(format!("{}{MARK}", &whole[..end])),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_larger_than_its_limit_ends_early() {
        assert_eq!(cut(json!({ "a": 1 }), 7), json!({ "a": 1 }));
        assert_eq!(cut(json!({ "a": 1 }), 6), json!("{\"a\":1\n…[TRUNCATED]…"));
        assert_eq!(cut(json!("äöü"), 3), json!("äöü"));
        assert_eq!(cut(json!("äöü"), 2), json!("äö\n…[TRUNCATED]…"));
        assert_eq!(cut(json!(["é"]), 5), json!("[\"é\"]"));
    }
}
