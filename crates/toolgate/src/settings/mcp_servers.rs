//! Entries of another client's `mcpServers`, pasted under `upstreams` or imported: translated into our settings.

use contract::{Diagnostic, Document};
use serde_json::{Map, Value, json};

/// Keys of other clients that are ignored, and why. A key that restricts what may be called is not among them:
/// ignoring it would allow more than was meant.
const FOREIGN: &[(&str, &str)] = &[
    ("autoApprove", APPROVAL),
    ("alwaysAllow", APPROVAL),
    ("trust", APPROVAL),
    ("timeout", "use `timeout_ms` for the timeout of a call"),
    ("description", UNUSED),
    ("gallery", UNUSED),
    ("icon", UNUSED),
    ("metadata", UNUSED),
    ("name", UNUSED),
    ("note", UNUSED),
    ("version", UNUSED),
];
const APPROVAL: &str = "use `policy` to say which calls need approval";
const UNUSED: &str = "Toolgate has no such setting";
/// Names of transports in other clients, and ours.
const TRANSPORTS: &[(&str, &str)] = &[
    ("streamableHttp", "streamable-http"),
    ("streamable_http", "streamable-http"),
    ("streamablehttp", "streamable-http"),
    ("local", "stdio"),
    ("remote", "http"),
];
/// Keys that hold the servers in files of other clients.
pub const WRAPPERS: [&str; 2] = ["mcpServers", "servers"];

/// Translates an entry. Returns each key that is ignored, and why.
pub fn translate(entry: &mut Map<String, Value>) -> Vec<(String, String)> {
    let mut left = Vec::new();
    for (key, why) in FOREIGN {
        if entry.shift_remove(*key).is_some_and(|value| !is_empty(&value)) {
            left.push(((*key).to_owned(), format!("`{key}` is ignored: {why}")));
        }
    }
    if let Some(Value::String(kind)) = entry.get_mut("type")
        && let Some((_, own)) = TRANSPORTS.iter().find(|(other, _)| other == kind)
    {
        (*own).clone_into(kind);
    }
    for other in ["serverUrl", "httpUrl"] {
        if !entry.contains_key("url")
            && let Some(url) = entry.shift_remove(other)
        {
            entry.insert("url".into(), url);
        }
    }
    // Where both are there it is for a person to say which counts.
    if let Some(Value::Bool(disabled)) = entry.get("disabled")
        && !entry.contains_key("enabled")
    {
        let enabled = !*disabled;
        entry.shift_remove("disabled");
        if !enabled {
            entry.insert("enabled".into(), json!(false));
        }
    }
    for section in ["env", "headers"] {
        let values = entry.get_mut(section).and_then(Value::as_object_mut);
        values.into_iter().flat_map(Map::values_mut).for_each(to_text);
    }
    let arguments = entry.get_mut("args").and_then(Value::as_array_mut);
    arguments.into_iter().flatten().for_each(to_text);
    left
}

/// Numbers and truth values stand for their text where only texts can be.
fn to_text(value: &mut Value) {
    if matches!(value, Value::Number(_) | Value::Bool(_)) {
        *value = json!(value.to_string());
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// Translates all upstreams of the settings. Returns warnings about ignored keys, and errors.
pub fn apply(document: &mut Document) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let (mut remarks, mut refused) = (Vec::new(), Vec::new());
    for wrapper in WRAPPERS {
        if !holds_servers(document.value().get(wrapper)) {
            continue;
        }
        let message = format!("`{wrapper}` is not a setting of Toolgate; rename it to `upstreams`");
        refused.push(document.key_error(&format!("/{wrapper}"), message));
        document.remove(&[wrapper]);
    }
    let Some(Value::Object(mut upstreams)) = document.value().get("upstreams").cloned() else {
        return (remarks, refused);
    };
    for wrapper in WRAPPERS {
        if !holds_servers(upstreams.get(wrapper)) {
            continue;
        }
        let message = format!("`{wrapper}` must not be inside `upstreams`");
        let found = document.key_error(&format!("/upstreams/{wrapper}"), message);
        refused.push(
            found.hint(format!("put the servers directly under `upstreams`, without `{wrapper}`")),
        );
        upstreams.shift_remove(wrapper);
    }
    for (id, entry) in &mut upstreams {
        let Value::Object(entry) = entry else { continue };
        for (key, words) in translate(entry) {
            remarks.push(document.warning(&format!("/upstreams/{id}/{key}"), words));
        }
    }
    document.set(&["upstreams"], Value::Object(upstreams));
    (remarks, refused)
}

/// True for an object of servers by name, false for one server.
fn holds_servers(value: Option<&Value>) -> bool {
    let Some(Value::Object(all)) = value else { return false };
    let is_server =
        |one: &Value| ["command", "url", "serverUrl"].iter().any(|key| one.get(key).is_some());
    !all.is_empty() && all.values().all(is_server)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(text: &str) -> (Value, Vec<String>, Vec<String>) {
        let mut document = Document::parse("toolgate.yaml", text).unwrap();
        let (remarks, refused) = apply(&mut document);
        let words = |all: Vec<Diagnostic>| all.into_iter().map(|one| one.message).collect();
        (document.value()["upstreams"].clone(), words(remarks), words(refused))
    }

    #[test]
    fn a_pasted_entry_becomes_one_of_ours() {
        let (value, remarks, refused) = applied(
            "upstreams:\n  a: {\"command\": \"x\", \"args\": [\"-p\", 80], \"env\": {\"PORT\": 8080, \"ON\": true},\n\
             \"disabled\": true, \"autoApprove\": [\"t\"], \"alwaysAllow\": []}\n  \
             b: {\"serverUrl\": \"http://b\", \"type\": \"streamableHttp\", \"disabled\": false}\n",
        );
        let a = json!({ "command": "x", "args": ["-p", "80"], "env": { "PORT": "8080", "ON": "true" },
            "enabled": false });
        assert_eq!(value, json!({ "a": a, "b": { "type": "streamable-http", "url": "http://b" } }));
        assert_eq!((remarks.len(), refused.len()), (1, 0), "{remarks:?} {refused:?}");
        assert!(remarks[0].contains("`autoApprove` is ignored"), "{remarks:?}");
    }

    #[test]
    fn what_narrows_is_not_left_out() {
        let (value, remarks, _) = applied("upstreams: { a: { command: x, disabledTools: [t] } }\n");
        assert_eq!((value["a"]["disabledTools"].is_array(), remarks.len()), (true, 0));
        let (value, ..) =
            applied("upstreams: { a: { command: x, disabled: true, enabled: true } }\n");
        assert_eq!(value["a"]["disabled"], true, "it is for a person to say which counts");
    }

    #[test]
    fn a_wrapper_is_told() {
        for text in [
            "upstreams: { mcpServers: { a: { command: x } } }\n",
            "mcpServers: { a: { command: x } }\n",
            "upstreams: { servers: { a: { url: x } } }\n",
        ] {
            assert_eq!(applied(text).2.len(), 1, "{text}");
        }
        assert_eq!(applied("upstreams: { servers: { command: x } }\n").2.len(), 0);
    }
}
