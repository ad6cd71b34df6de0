//! A server entry of another client, translated to the settings of an upstream.

use contract::Document;
use serde_json::{Map, Value, json};
use upstream::{settings::UpstreamSettings, variables};

use crate::settings::mcp_servers;

/// Keys that mean the same in other clients.
const SHARED_KEYS: &[&str] =
    &["command", "args", "env", "cwd", "url", "headers", "type", "enabled", "disabled"];
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

/// The entry as the settings of an upstream, or the reason why that is impossible. Remarks are for the user.
pub fn translate(
    entry: &Value,
    folder: Option<&str>,
    remarks: &mut Vec<String>,
) -> Result<Map<String, Value>, String> {
    let Value::Object(entry) = entry else { return Err("the entry is not a JSON object".into()) };
    let mut own = entry.clone();
    remarks.extend(mcp_servers::translate(&mut own).into_iter().map(|(_, message)| message));
    let unknown: Vec<String> =
        own.keys().filter(|key| !SHARED_KEYS.contains(&key.as_str())).cloned().collect();
    for key in unknown {
        own.shift_remove(&key);
        remarks.push(format!("`{key}` is not supported and was left out"));
    }
    if let Some(folder) = folder
        && own.contains_key("command")
        && !own.contains_key("cwd")
    {
        own.insert("cwd".into(), json!(folder));
    }
    check(&own)?;
    for (place, text) in texts(&own) {
        // Whether a variable is set is checked when the upstream starts.
        let set = |name: &str| variables::of_editor(name).is_none().then(String::new);
        if let Err(error) = variables::expand(&text, set) {
            remarks.push(format!("`{place}`: {error}"));
        }
    }
    for place in secrets(&own) {
        remarks.push(format!(
            "`{place}` looks like a secret; set an environment variable and write `${{NAME}}` instead"
        ));
    }
    Ok(own)
}

/// Checks that the settings can be loaded.
fn check(own: &Map<String, Value>) -> Result<(), String> {
    let text = Value::Object(own.clone()).to_string();
    let document = Document::parse("entry", &text).map_err(|found| found.message)?;
    let settings: UpstreamSettings = document
        .check()
        .map_err(|found| found.into_iter().map(|one| one.message).collect::<Vec<_>>().join("; "))?;
    match settings.mistakes().first() {
        Some((place, words)) if place.is_empty() => Err(words.clone()),
        Some((place, words)) => Err(format!("{}: {words}", place.trim_start_matches('/'))),
        None => Ok(()),
    }
}

/// All texts of an entry, by key.
fn texts(own: &Map<String, Value>) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (key, value) in own {
        match value {
            Value::String(text) => all.push((key.clone(), text.clone())),
            Value::Array(items) => {
                let items = items.iter().filter_map(Value::as_str);
                all.extend(items.map(|text| (key.clone(), text.to_owned())));
            }
            Value::Object(fields) => {
                let fields =
                    fields.iter().filter_map(|(name, value)| Some((name, value.as_str()?)));
                all.extend(fields.map(|(name, text)| (format!("{key}.{name}"), text.to_owned())));
            }
            _ => {}
        }
    }
    all
}

/// The keys of texts that look like secrets.
fn secrets(own: &Map<String, Value>) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    let mut before = String::new();
    for (place, text) in texts(own) {
        let (section, name) = place.split_once('.').unwrap_or((&place, ""));
        let written = !text.is_empty() && !text.contains("${");
        let secret = match section {
            "env" | "headers" => is_secret_name(name) || has_token(&text),
            "args" => {
                let (name, value) = text.split_once('=').unwrap_or(("", &text));
                let named = if name.is_empty() { before.as_str() } else { name };
                let option = named.starts_with('-') || !name.is_empty();
                let own = !value.is_empty() && !value.starts_with('-');
                option && own && is_secret_name(named) || has_token(&text)
            }
            "url" => in_address(&text),
            _ => false,
        };
        if secret && written && !places.contains(&place) {
            places.push(place.clone());
        }
        before = text;
    }
    places
}

fn in_address(text: &str) -> bool {
    let Ok(url) = guard::net::Url::parse(text) else { return has_token(text) };
    let named = url.query_pairs().any(|(name, value)| is_secret_name(&name) && !value.is_empty());
    named || url.password().is_some() || has_token(text)
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "token", "secret", "password", "authorization", "credential"]
        .iter()
        .any(|word| name.contains(word))
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
    use super::*;

    fn remarks(entry: &Value) -> Vec<String> {
        let mut remarks = Vec::new();
        translate(entry, None, &mut remarks).unwrap();
        remarks
    }

    #[test]
    fn an_entry_that_cannot_be_loaded_is_refused() {
        for (entry, why) in [
            (json!({ "command": "x", "args": "y" }), "args"),
            (json!({ "command": 5 }), "command"),
            (json!({ "command": ["x"] }), "command"),
            (json!({ "command": "x", "url": "http://y" }), "both"),
            (json!({ "env": {} }), "needs a `command` or a `url`"),
            (json!({ "command": " " }), "empty"),
            (json!({ "url": "ftp://h/" }), "URL"),
            (json!({ "command": "x", "env": { "A": null } }), "A"),
            (json!({ "command": "x", "env": { "A": {} } }), "A"),
            (json!({ "command": "x", "type": "carrier-pigeon" }), "type"),
            (json!({ "command": "x", "disabled": true, "enabled": true }), "disabled"),
            (json!(["x"]), "object"),
        ] {
            let found = translate(&entry, None, &mut Vec::new()).unwrap_err();
            assert!(found.contains(why), "{entry}: {found}");
        }
        let own =
            translate(&json!({ "command": "x", "env": { "PORT": 8080 } }), Some("/p"), &mut vec![]);
        assert_eq!(
            Value::Object(own.unwrap()),
            json!({ "command": "x", "env": { "PORT": "8080" }, "cwd": "/p" })
        );
    }

    #[test]
    fn secrets_are_remarked_wherever_they_stand() {
        let token = "ghp_0123456789abcdefghij";
        for entry in [
            json!({ "command": "x", "env": { "API_KEY": "abc" } }),
            json!({ "command": "x", "env": { "A": token } }),
            json!({ "command": "x", "args": ["--token", "abc"] }),
            json!({ "command": "x", "args": ["--api-key=abc"] }),
            json!({ "command": "x", "args": [token] }),
            json!({ "url": format!("https://x/{token}/mcp") }),
            json!({ "url": "https://x/mcp?api_key=abc" }),
            json!({ "url": "https://me:abc@x/mcp" }),
            json!({ "url": "https://x/", "headers": { "Authorization": "Bearer abc" } }),
        ] {
            let remarks = remarks(&entry);
            assert_eq!(remarks.len(), 1, "{entry}: {remarks:?}");
            assert!(remarks[0].contains("looks like a secret"), "{remarks:?}");
            assert!(!remarks[0].contains("abc"), "{remarks:?}");
        }
        for entry in [
            json!({ "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me"] }),
            json!({ "command": "x", "args": ["--token-file", "--verbose"], "env": { "A_KEY": "${A_KEY}" } }),
            json!({ "url": "https://mcp.example.com/some-quite-long-path-of-a-server-2026" }),
        ] {
            assert_eq!(remarks(&entry), Vec::<String>::new(), "{entry}");
        }
    }

    #[test]
    fn what_only_an_editor_fills_in_is_remarked() {
        for text in ["${workspaceFolder}/x", "${input:key}"] {
            let remarks = remarks(&json!({ "command": "x", "env": { "A": text } }));
            assert!(
                remarks.len() == 1 && remarks[0].contains("variable of an editor"),
                "{remarks:?}"
            );
        }
    }
}
