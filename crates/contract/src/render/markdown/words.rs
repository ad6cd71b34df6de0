//! The conditions of a schema, in words.

use serde_json::{Map, Value};

use super::contained::contained;

/// A text in the cell of a table.
pub(super) fn cell(text: &str) -> String {
    // A bar ends the cell even inside a code span, unless it is escaped.
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    contained(&line).replace('|', "\\|")
}

/// A text as code, whatever backticks it has.
pub(super) fn code(text: &str) -> String {
    let longest = text.split(|one| one != '`').map(str::len).max().unwrap_or(0);
    if longest == 0 {
        return format!("`{text}`");
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence} {text} {fence}")
}

/// The conditions on a value, one phrase each.
pub(super) fn conditions(schema: &Map<String, Value>) -> Vec<String> {
    let keywords = schema.iter().filter_map(|(keyword, value)| condition(keyword, value));
    keywords.collect()
}

fn condition(keyword: &str, value: &Value) -> Option<String> {
    let one = value.as_u64() == Some(1);
    let phrase = match keyword {
        "default" => format!("default {}", code(&value.to_string())),
        "const" => format!("always {}", code(&value.to_string())),
        "enum" => {
            let values: Vec<_> =
                value.as_array()?.iter().map(|value| code(&value.to_string())).collect();
            format!("one of {}", values.join(", "))
        }
        "minimum" => format!("at least {value}"),
        "maximum" => format!("at most {value}"),
        "exclusiveMinimum" => format!("more than {value}"),
        "exclusiveMaximum" => format!("less than {value}"),
        "multipleOf" => format!("a multiple of {value}"),
        "minLength" | "minItems" | "minProperties" if one => "not empty".into(),
        "minLength" => format!("at least {value} characters"),
        "maxLength" if one => "at most 1 character".into(),
        "maxLength" => format!("at most {value} characters"),
        "pattern" => format!("matches {}", code(value.as_str()?)),
        "contentEncoding" => format!("encoded as {}", value.as_str()?),
        "contentMediaType" => format!("holds {}", value.as_str()?),
        "minItems" => format!("at least {value} items"),
        "maxItems" if one => "at most 1 item".into(),
        "maxItems" => format!("at most {value} items"),
        "uniqueItems" if value == true => "no item twice".into(),
        "minProperties" => format!("at least {value} keys"),
        "maxProperties" if one => "at most 1 key".into(),
        "maxProperties" => format!("at most {value} keys"),
        "deprecated" if value == true => "deprecated".into(),
        "x-secret" | "writeOnly" if value == true => "secret".into(),
        "format" if value == "password" => "secret".into(),
        _ => return None,
    };
    Some(phrase)
}

/// A description and the conditions after it.
pub(super) fn sentence(description: &str, conditions: &[String]) -> String {
    let mut text = description.trim().to_owned();
    if conditions.is_empty() {
        return text;
    }
    if !text.is_empty() {
        text.push_str(if text.ends_with(['.', '!', '?', ':']) { " " } else { ". " });
    }
    let all = conditions.join("; ");
    let mut letters = all.chars();
    text.extend(letters.next().map(|first| first.to_ascii_uppercase()));
    text.push_str(letters.as_str());
    text.push('.');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(schema: &Value, expected: &str) {
        assert_eq!(sentence("", &conditions(schema.as_object().unwrap())), expected);
    }

    #[test]
    fn conditions_read_as_a_sentence() {
        check(&json!({ "type": "string" }), "");
        check(
            &json!({ "minimum": 1, "maximum": 5, "default": 2 }),
            "At least 1; at most 5; default `2`.",
        );
        check(
            &json!({ "minLength": 1, "pattern": "^`a|b`$" }),
            "Not empty; matches `` ^`a|b`$ ``.",
        );
        check(&json!({ "enum": ["a", 1, null] }), "One of `\"a\"`, `1`, `null`.");
        check(&json!({ "minItems": 2, "uniqueItems": true }), "At least 2 items; no item twice.");
        check(&json!({ "const": {}, "x-secret": true }), "Always `{}`; secret.");
        assert_eq!(sentence("A word", &["secret".into()]), "A word. Secret.");
    }

    #[test]
    fn nothing_ends_a_cell_early() {
        assert_eq!(cell("a | b\nc `d|e`"), "a \\| b c `d\\|e`");
    }
}
