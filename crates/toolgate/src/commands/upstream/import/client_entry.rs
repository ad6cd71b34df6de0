//! A server entry of another client, translated to the settings of an upstream.

use contract::Document;
use serde_json::{Map, Value, json};
use upstream::{settings::UpstreamSettings, variables};

use crate::settings::{mcp_servers, secret_values};

/// Keys that mean the same in other clients.
const SHARED_KEYS: &[&str] =
    &["command", "args", "env", "cwd", "url", "headers", "type", "enabled", "disabled"];
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
    for (place, text) in secret_values::texts(&own) {
        let place = place.join(".");
        // Whether a variable is set is checked when the upstream starts.
        let set = |name: &str| variables::of_editor(name).is_none().then(String::new);
        if let Err(error) = variables::expand(&text, set) {
            remarks.push(format!("`{place}`: {error}"));
        }
    }
    Ok(own)
}

/// Checks that the settings can be loaded.
pub fn check(own: &Map<String, Value>) -> Result<(), String> {
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
