//! A payload that is larger than it may be becomes a text that ends early.

use serde_json::Value;

/// What stands at the end of what was cut.
const MARK: &str = "\n…[TRUNCATED]…";

/// The payload, or as much of it as there is room for, and whether that is not all. What is too large may be left so many
/// characters longer than it will be.
pub(super) fn cut(payload: Value, max_characters: usize, more: usize) -> (Value, bool) {
    let whole = match payload {
        Value::String(text) => match text.strip_suffix(MARK) {
            Some(rest) => rest.to_owned(),
            None => text,
        },
        // What is small in bytes is small in characters.
        other => match other.to_string() {
            text if text.len() <= max_characters => return (other, false),
            text => text,
        },
    };
    match whole.char_indices().nth(max_characters) {
        None => (Value::String(whole), false),
        Some(_) => {
            let end = whole.char_indices().nth(max_characters + more).map(|(end, _)| end);
            let end = end.unwrap_or(whole.len());
            (Value::String(format!("{}{MARK}", &whole[..end])), true)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_larger_than_its_limit_ends_early() {
        let check = |payload: Value, most: usize, expected: Value, is_cut: bool| {
            assert_eq!(cut(payload, most, 0), (expected, is_cut));
        };
        check(json!({ "a": 1 }), 7, json!({ "a": 1 }), false);
        check(json!({ "a": 1 }), 6, json!("{\"a\":1\n…[TRUNCATED]…"), true);
        check(json!("äöü"), 3, json!("äöü"), false);
        check(json!("äöü"), 2, json!("äö\n…[TRUNCATED]…"), true);
        check(json!("äö\n…[TRUNCATED]…"), 1, json!("ä\n…[TRUNCATED]…"), true);
        check(json!(["é"]), 5, json!("[\"é\"]"), false);
        assert_eq!(cut(json!("äöüß"), 2, 1), (json!("äöü\n…[TRUNCATED]…"), true));
    }
}
