//! The filter that keeps secrets out of traces.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;
use serde_json::Value;

/// The text in the place of a secret.
const HIDDEN: &str = gate::secrets::REDACTED;

/// Keys of services, tokens, private keys, and whatever is called a password. The last group is what is hidden;
/// the whole where there is none.
const PATTERNS: &[&str] = &[
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bglpat-[A-Za-z0-9_-]{16,}",
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"\bA(?:KIA|SIA)[0-9A-Z]{16}\b",
    r"\bAIza[0-9A-Za-z_-]{30,}",
    r"\bey[A-Za-z0-9_-]{10,}\.ey[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
    r"(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{8,})",
    r#"(?i)\b(?:password|passwd|passwort|kennwort|contraseña|senha|mot de passe|pwd|secret|token|api[_-]?key)\\?["']?\s*[=:]\s*\\?["']?([^\s"'\\,;&]{4,})"#,
    // In prose it is one only if it does not look like a word.
    r#"(?i)\b(?:password|passwd|secret|token|api[_ -]?key) is\s+["']?([^\s"',;&]*[0-9!@\#$%^&*_][^\s"',;&]*)"#,
    r"://[^/\s:@]*:([^/\s:@]+)@",
];

static COMPILED: LazyLock<Vec<Regex>> =
    LazyLock::new(|| PATTERNS.iter().map(|pattern| compiled(pattern)).collect());

/// The name of a field that holds a secret, without its marks.
static SECRET_NAME: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        "(?i)(?:password|passwd|secret|token|(?:api|private|access)key|credentials?)$\
         |^(?:pwd|authorization|cookie)$",
    )
});

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("these patterns are tested")
}

/// Takes out of every text of a value what is known to be a secret, and what looks like one.
pub(super) fn hide(value: &mut Value) {
    gate::secrets::redact_value(value);
    hide_likely(value);
}

fn hide_likely(value: &mut Value) {
    match value {
        Value::String(text) => hide_in(text),
        Value::Array(items) => items.iter_mut().for_each(hide_likely),
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if !text.is_empty() && names_a_secret(name) => {
                        *text = HIDDEN.into();
                    }
                    field => hide_likely(field),
                }
            }
        }
        _ => {}
    }
}

fn hide_in(text: &mut String) {
    for pattern in &*COMPILED {
        let hidden = pattern.replace_all(text, |found: &regex::Captures<'_>| {
            let secret = found.get(1).or_else(|| found.get(0)).map_or("", |part| part.as_str());
            found[0].replace(secret, HIDDEN)
        });
        if let Cow::Owned(hidden) = hidden {
            *text = hidden;
        }
    }
}

/// True if a field of this name holds a secret.
fn names_a_secret(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    SECRET_NAME.is_match(&plain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_with_telling_names_are_hidden() {
        let mut value = json!({ "user": "ada", "Password": "hunter", "client_secret": "x", "n": [{ "apiKey": "k" }], "token": 5, "max_tokens": 7, "tokens": "many" });
        hide(&mut value);
        let expected = json!({ "user": "ada", "Password": "[redacted]", "client_secret": "[redacted]", "n": [{ "apiKey": "[redacted]" }], "token": 5, "max_tokens": 7, "tokens": "many" });
        assert_eq!(value, expected);
    }

    #[test]
    fn secrets_are_taken_out_and_nothing_else_is() {
        gate::secrets::hide(["my own key 123", "a"]);
        let check = |text: &str, expected: &str| {
            let mut value = json!({ "a": [text] });
            hide(&mut value);
            assert_eq!(value["a"][0], expected);
        };
        check("with sk-proj-abcdefghijklmnop.", "with [redacted].");
        check("x ghp_abcdefghijklmnopqrstuvwx y", "x [redacted] y");
        check("AKIAABCDEFGHIJKLMNOP", "[redacted]");
        check("Authorization: Bearer abc.def-ghi", "Authorization: Bearer [redacted]");
        check("password: hunter22, user: ada", "password: [redacted], user: ada");
        check("{\"api_key\":\"abcd1234\"}", "{\"api_key\":\"[redacted]\"}");
        check("{\\\"token\\\":\\\"abcd1234\\\"}", "{\\\"token\\\":\\\"[redacted]\\\"}");
        check("the password is hunter22 now", "the password is [redacted] now");
        check("https://ada:pass@host/x", "https://ada:[redacted]@host/x");
        check(
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nx",
            "[redacted]\nx",
        );
        check("say my own key 123 twice: my own key 123", "say [redacted] twice: [redacted]");
        for plain in [
            "a task-force for policy-002",
            "- Never log secrets",
            "What is the password policy?",
            "sk-1",
            "tokens: 5",
        ] {
            check(plain, plain);
        }
    }
}
