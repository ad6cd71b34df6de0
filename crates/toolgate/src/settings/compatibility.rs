//! Settings files of other systems.
//!
//! Unknown keys are errors, except in a file with `compatibility: adam`: that is an `adam.yaml` that other programs
//! read too.

use contract::{Diagnostic, Document};
use serde_json::{Value, json};

use super::schema;

/// Keys of the server section that only Adam has.
const ADAM_SERVER: [&str; 4] = ["host", "port", "cors_enabled", "auth"];

/// Rewrites a document into our own settings. Keys without a meaning here are ignored, with a warning; what would
/// silently be less safe is refused.
pub fn apply(document: &mut Document) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    match document.value().get("compatibility").and_then(Value::as_str) {
        Some("adam") => adam(document),
        // The schema says what else is wrong.
        _ => Ok(Vec::new()),
    }
}

fn adam(document: &mut Document) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let mut remarks = Vec::new();
    let mut refused = Vec::new();
    for key in foreign_keys(document.value()) {
        let message = format!("`{key}` is not a setting of Toolgate and is ignored");
        remarks.push(document.warning(&format!("/{key}"), message));
        document.remove(&[&key]);
    }
    let server = document.value().get("server").cloned().unwrap_or_default();
    match listen(&server) {
        Ok(Some(address)) => document.set(&["server", "listen"], json!(address)),
        Ok(None) => {}
        Err((key, message)) => refused.push(document.error(&format!("/server/{key}"), message)),
    }
    if server["cors_enabled"] == json!(true) {
        let message = "`cors_enabled` is ignored: other origins may call only if \
                       `server.allowed_origins` lists them";
        remarks.push(document.warning("/server/cors_enabled", message));
    }
    let auth = &server["auth"];
    if !auth.is_null() && auth["enabled"] != json!(false) {
        // Leaving it out would open the server to everybody who can reach it.
        let message = "`auth` is not supported: tokens must not be in the file";
        let hint = "set `tokens: [{ name: ui, token_env: ADAM_TOKEN }]` and \
                    `auth: { enabled: false }`";
        refused.push(document.error("/server/auth", message).hint(hint));
    }
    for key in ADAM_SERVER {
        document.remove(&["server", key]);
    }
    if refused.is_empty() { Ok(remarks) } else { Err(refused) }
}

/// Sections that are not ours. One with nearly the name of one of ours is a typing error and stays.
fn foreign_keys(value: &Value) -> Vec<String> {
    let schema = schema();
    let known: Vec<&str> = schema["properties"]
        .as_object()
        .map(|properties| properties.keys().map(String::as_str).collect())
        .unwrap_or_default();
    let Some(given) = value.as_object() else { return Vec::new() };
    given
        .keys()
        .filter(|key| !known.contains(&key.as_str()))
        .filter(|key| !contract::is_slip(key, known.iter().copied()))
        .cloned()
        .collect()
}

/// Host and port in one, if the file has either and no `listen` of ours.
fn listen(server: &Value) -> Result<Option<String>, (&'static str, &'static str)> {
    let (host, port) = (&server["host"], &server["port"]);
    if (host.is_null() && port.is_null()) || !server["listen"].is_null() {
        return Ok(None);
    }
    let host = match host {
        Value::Null => "127.0.0.1",
        Value::String(host) if !host.is_empty() => host,
        _ => return Err(("host", "`host` must be an address or a host name")),
    };
    let port = match port {
        Value::Null => 8_000,
        port => port
            .as_u64()
            .filter(|port| u16::try_from(*port).is_ok())
            .ok_or(("port", "`port` must be a number from 0 to 65535"))?,
    };
    // An IPv6 address has colons of its own.
    Ok(Some(if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(text: &str) -> Result<(Value, Vec<String>), Vec<String>> {
        let mut document = Document::parse("adam.yaml", text).unwrap();
        let words = |all: Vec<Diagnostic>| all.into_iter().map(|one| one.message).collect();
        match apply(&mut document) {
            Ok(remarks) => Ok((document.value().clone(), words(remarks))),
            Err(refused) => Err(words(refused)),
        }
    }

    #[test]
    fn a_real_file_of_adam_becomes_settings() {
        let (value, remarks) = applied(
            "compatibility: adam\n\
             ui: { theme: dark }\nrag: { top_k: 5 }\ninference: { threads: 8 }\n\
             server: { host: 127.0.0.1, port: 8001, cors_enabled: false, auth: { enabled: false } }\n\
             tools: { file_io: { root: ./data } }\n",
        )
        .unwrap();
        assert_eq!(
            value,
            json!({
                "compatibility": "adam",
                "server": { "listen": "127.0.0.1:8001" },
                "tools": { "file_io": { "root": "./data" } },
            })
        );
        assert_eq!(remarks.len(), 3, "{remarks:?}");
    }

    #[test]
    fn sections_that_sound_like_ours_are_foreign_all_the_same() {
        let text = "compatibility: adam\nlogging: {}\nstorage: {}\nserver_name: x\nlogs: {}\n";
        let (value, _) = applied(text).unwrap();
        assert_eq!(value, json!({ "compatibility": "adam", "logs": {} }));
    }

    #[test]
    fn without_the_switch_nothing_is_tolerated() {
        let (value, remarks) = applied("ui: { theme: dark }\n").unwrap();
        assert_eq!((value, remarks.len()), (json!({ "ui": { "theme": "dark" } }), 0));
    }

    #[test]
    fn a_slip_of_the_pen_is_not_a_foreign_section() {
        let (value, _) = applied("compatibility: adam\nsevrer: {}\nlimts: {}\n").unwrap();
        assert!(value.get("sevrer").is_some() && value.get("limts").is_some());
    }

    #[test]
    fn what_would_open_the_server_is_refused() {
        for auth in ["{ enabled: true, token: x }", "{ token: x }"] {
            let text = format!("compatibility: adam\nserver: {{ auth: {auth} }}\n");
            assert_eq!(
                applied(&text).unwrap_err(),
                ["`auth` is not supported: tokens must not be in the file"]
            );
        }
        let refused = applied("compatibility: adam\nserver: { port: 70000 }\n").unwrap_err();
        assert_eq!(refused, ["`port` must be a number from 0 to 65535"]);
    }

    #[test]
    fn an_address_with_colons_is_put_in_brackets() {
        let (value, _) = applied("compatibility: adam\nserver: { host: \"::1\" }\n").unwrap();
        assert_eq!(value["server"]["listen"], "[::1]:8000");
    }
}
