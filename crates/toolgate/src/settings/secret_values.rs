//! The rule by which a text of an upstream's settings counts as a secret: its key says so, or it looks like one.

use contract::{Diagnostic, Severity};
use serde_json::{Map, Value};

use super::{LoadedSettings, env_file};

/// Words in the names of secrets.
const NAMES: &[&str] = &[
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "authorization",
    "credential",
    "cookie",
];
/// Ends of the names of what only leads to a secret.
const NAMES_OF_PLACES: &[&str] = &["_file", "-file", "_path", "-path", "_dir", "_env"];
/// Prefixes of the tokens of well-known services.
const TOKEN_PREFIXES: &[&str] = &[
    "sk-",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "eyJ",
    "hf_",
    "ntn_",
    "lin_api_",
    "pat-",
    "tvly-",
    "BSA",
    "fc-",
];
/// The shortest token, in characters, with and without a known prefix.
const MIN_TOKEN_CHARS: (usize, usize) = (16, 32);

/// All texts of an entry, each with its keys: `["env", "A"]`, `["args", "0"]`, `["url"]`.
pub fn texts(own: &Map<String, Value>) -> Vec<(Vec<String>, String)> {
    let mut all = Vec::new();
    for (key, value) in own {
        match value {
            Value::String(text) => all.push((vec![key.clone()], text.clone())),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                all.extend(items.filter_map(|(index, item)| {
                    Some((vec![key.clone(), index.to_string()], item.as_str()?.to_owned()))
                }));
            }
            Value::Object(fields) => {
                let fields =
                    fields.iter().filter_map(|(name, value)| Some((name, value.as_str()?)));
                all.extend(
                    fields.map(|(name, text)| (vec![key.clone(), name.clone()], text.to_owned())),
                );
            }
            _ => {}
        }
    }
    all
}

/// The keys of texts of an entry that are secrets. One that names a variable is none.
pub fn secrets(own: &Map<String, Value>) -> Vec<Vec<String>> {
    let mut places = Vec::new();
    let mut before = String::new();
    for (place, text) in texts(own) {
        let written = !text.is_empty() && !text.contains("${");
        let secret = match (place[0].as_str(), place.get(1)) {
            ("env" | "headers", Some(name)) => is_named_secret(name, &text) || in_address(&text),
            ("args", Some(_)) => {
                let (name, value) = text.split_once('=').unwrap_or(("", &text));
                let named = if name.is_empty() { before.as_str() } else { name };
                let option = named.starts_with('-') || !name.is_empty();
                let own = !value.is_empty() && !value.starts_with('-');
                option && own && is_named_secret(named, value) || has_token(&text)
            }
            ("url", None) => in_address(&text),
            _ => false,
        };
        if secret && written {
            places.push(place);
        }
        before = text;
    }
    places
}

/// Warnings about secrets that others can read: those in the settings file, and the variables file.
pub fn readable_by_others(loaded: &LoadedSettings) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let Some(file) = &loaded.file else { return found };
    if env_file::is_readable_by_others(file) {
        for (id, own) in &loaded.settings.upstreams {
            let Ok(Value::Object(own)) = serde_json::to_value(own) else { continue };
            found.extend(secrets(&own).into_iter().map(|place| {
                let key = place.join(".");
                let pointer = format!("/upstreams/{id}/{}", place.join("/"));
                let message = format!("`{key}` is a secret, and other users can read this file");
                let hint = format!(
                    "move it to `{}` and write `${{NAME}}` in its place, or run `chmod 600 {}`",
                    env_file::NAME,
                    file.display()
                );
                loaded.warning(&pointer, message).secret().hint(hint)
            }));
        }
    }
    let variables = loaded.path(env_file::NAME);
    if env_file::is_readable_by_others(&variables) {
        let name = variables.display().to_string();
        let message = "other users can read this file";
        let warning = Diagnostic::new(Severity::Warning, &name, &"".into(), 0..0, message);
        found.push(warning.hint(format!("run `chmod 600 {name}`")));
    }
    found
}

fn in_address(text: &str) -> bool {
    let Ok(url) = guard::net::Url::parse(text) else { return has_token(text) };
    let named = url.query_pairs().any(|(name, value)| is_named_secret(&name, &value));
    named || url.password().is_some() || has_token(text)
}

/// True if a name says that its value is a secret, and the value can be one.
fn is_named_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_count = name.contains("tokens") && value.bytes().all(|byte| byte.is_ascii_digit());
    let is_setting = is_count || value.is_empty() || matches!(value, "true" | "false");
    let is_place = NAMES_OF_PLACES.iter().any(|end| name.ends_with(end));
    NAMES.iter().any(|word| name.contains(word)) && !is_setting && !is_place
}

/// True if a word of the text looks like a token: it has a known prefix, or it is long and mixes both cases and digits.
fn has_token(text: &str) -> bool {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
    words.into_iter().any(|word| {
        let begins = TOKEN_PREFIXES.iter().any(|token| word.starts_with(token));
        let has = |kind: fn(&u8) -> bool| word.bytes().any(|byte| kind(&byte));
        let mixed =
            has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
        begins && word.len() >= MIN_TOKEN_CHARS.0 || mixed && word.len() >= MIN_TOKEN_CHARS.1
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(own: &Value) -> Vec<String> {
        secrets(own.as_object().unwrap()).iter().map(|place| place.join(".")).collect()
    }

    #[test]
    fn secrets_are_found_wherever_they_stand() {
        let token = "ghp_0123456789abcdefghij";
        for (own, place) in [
            (json!({ "env": { "API_KEY": "abc" } }), "env.API_KEY"),
            (json!({ "env": { "A": token } }), "env.A"),
            (json!({ "env": { "DATABASE_URL": "postgres://me:abc@h/db" } }), "env.DATABASE_URL"),
            (json!({ "args": ["--token", "abc"] }), "args.1"),
            (json!({ "args": ["--api-key=abc"] }), "args.0"),
            (json!({ "args": [token] }), "args.0"),
            (json!({ "url": format!("https://x/{token}/mcp") }), "url"),
            (json!({ "url": "https://x/mcp?api_key=abc" }), "url"),
            (json!({ "url": "https://me:abc@x/mcp" }), "url"),
            (json!({ "headers": { "Authorization": "Bearer abc" } }), "headers.Authorization"),
        ] {
            assert_eq!(found(&own), [place], "{own}");
        }
    }

    #[test]
    fn settings_are_no_secrets() {
        for own in [
            json!({ "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me"] }),
            json!({ "args": ["--token-file", "--verbose"], "env": { "A_KEY": "${A_KEY}" } }),
            json!({ "url": "https://mcp.example.com/some-quite-long-path-of-a-server-2026" }),
            json!({ "env": { "MAX_TOKENS": "4096", "KEY_FILE": "/etc/key", "USE_TOKENS": "true", "TOKEN": "" } }),
        ] {
            assert_eq!(found(&own), Vec::<String>::new(), "{own}");
        }
    }
}
