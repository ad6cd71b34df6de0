//! The arguments of a call for the person who decides on it: every name is there, and each long text is cut by itself.

use serde_json::Value;

use crate::{truncate, visible_text::visible};

/// The shortest text that is cut, in bytes.
const MIN_TEXT_BYTES: usize = 64;

/// The arguments in at most about so many bytes. `whole` says where all of them can be read, which a cut repeats.
///
/// None if there are so many values that their names alone do not fit: nothing of them is shown then, because a part
/// would look like all.
pub(crate) fn shown_arguments(arguments: &Value, max_bytes: usize, whole: &str) -> Option<String> {
    let mut limit = max_bytes;
    loop {
        let mut cut = arguments.clone();
        cut_texts(&mut cut, limit, whole);
        let text = visible(&serde_json::to_string_pretty(&cut).unwrap_or_default());
        if text.len() <= max_bytes {
            return Some(text);
        }
        if limit <= MIN_TEXT_BYTES {
            return None;
        }
        limit = (limit / 2).max(MIN_TEXT_BYTES);
    }
}

/// Cuts every text that is longer than the limit.
fn cut_texts(value: &mut Value, limit: usize, whole: &str) {
    match value {
        Value::String(text) => {
            let dropped = truncate::text(text, limit as u64);
            if dropped > 0 {
                text.push_str(&format!(" [… {dropped} more bytes; {whole}]"));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| cut_texts(item, limit, whole)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| cut_texts(field, limit, whole));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::shown_arguments;

    #[test]
    fn a_long_argument_hides_no_other() {
        let long = "-- a comment ".repeat(2_000);
        for arguments in [
            json!({ "comment": long, "sql": "DROP TABLE users" }),
            json!({ "query": { "comment": long, "more": [long, long], "sql": "DROP TABLE users" } }),
            json!([long, long, "DROP TABLE users"]),
        ] {
            let shown = shown_arguments(&arguments, 8_192, "see `approvals show`").unwrap();
            assert!(shown.contains("DROP TABLE users"), "{shown}");
            assert!(shown.contains("more bytes; see `approvals show`]"), "{shown}");
            assert!(shown.len() <= 8_192);
        }
        let short = json!({ "path": "a.txt", "text": "hello" });
        let pretty = serde_json::to_string_pretty(&short).unwrap();
        assert_eq!(shown_arguments(&short, 8_192, ""), Some(pretty));
    }

    #[test]
    fn of_too_many_arguments_no_part_is_shown() {
        let many: Vec<_> = (0..5_000).collect();
        assert_eq!(shown_arguments(&json!({ "rows": many, "drop": true }), 8_192, ""), None);
    }
}
