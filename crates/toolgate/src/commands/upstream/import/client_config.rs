//! Reads the servers of another client's configuration file.

use anyhow::bail;
use serde_json::{Map, Value};

use crate::settings::{FileErrors, mcp_servers::WRAPPERS};

/// A server of another client.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientServer {
    /// Its name there.
    pub name: String,
    /// Its configuration.
    pub entry: Value,
    /// The folder of its project, in which it starts.
    pub folder: Option<String>,
}

/// All servers of the file of this name: JSON, with comments and commas at the end of lists as editors allow them.
pub fn servers(name: &str, text: &str) -> anyhow::Result<Vec<ClientServer>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Of two servers with one name, one would silently be lost: a key twice is an error.
    let parse = |text: &str| contract::json::parse(text.as_bytes());
    let whole = parse(text).or_else(|_| parse(&plain_json(text)));
    // The line may hold a secret.
    let whole = whole.map_err(|error| FileErrors(vec![error.diagnostic(name, text).secret()]))?;
    let mut found = Vec::new();
    let mut places = 0;
    let mut add = |key: &str, value: Option<&Value>, folder: Option<&str>| {
        let Some(value) = value else { return Ok(()) };
        let Some(servers) = value.as_object() else { bail!("`{key}` is not an object of servers") };
        places += 1;
        found.extend(servers.iter().map(|(name, entry)| ClientServer {
            name: name.clone(),
            entry: entry.clone(),
            folder: folder.map(str::to_owned),
        }));
        Ok(())
    };
    for key in WRAPPERS {
        add(key, whole.get(key), None)?;
    }
    // In the settings of an editor, and in those of Claude Code.
    add("mcp.servers", whole.pointer("/mcp/servers"), None)?;
    add("mcp.servers", whole.get("mcp.servers"), None)?;
    let projects = whole.get("projects").and_then(Value::as_object);
    for (folder, project) in projects.into_iter().flat_map(Map::iter) {
        add("mcpServers", project.get("mcpServers"), Some(folder))?;
    }
    if places == 0 {
        bail!("no `mcpServers` or `servers` found");
    }
    Ok(found)
}

/// JSON without comments and trailing commas; all other characters keep their positions.
fn plain_json(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = bytes.to_vec();
    let (mut at, mut comma) = (0, None);
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                at = end_of_string(bytes, at);
            }
            (b'/', Some(b'/')) => {
                let end = bytes[at..].iter().position(|byte| *byte == b'\n');
                at = blank(&mut plain, at, end.map_or(bytes.len(), |length| at + length));
            }
            (b'/', Some(b'*')) => {
                let end = bytes[at + 2..].windows(2).position(|pair| pair == b"*/");
                at = blank(&mut plain, at, end.map_or(bytes.len(), |length| at + length + 4));
            }
            (b',', _) => (at, comma) = (at + 1, Some(at)),
            (b'}' | b']', _) => {
                if let Some(last) = comma.take() {
                    plain[last] = b' ';
                }
                at += 1;
            }
            (byte, _) => {
                if !byte.is_ascii_whitespace() {
                    comma = None;
                }
                at += 1;
            }
        }
    }
    // Only bytes of ASCII and whole comments were changed.
    String::from_utf8(plain).unwrap_or_else(|_| text.to_owned())
}

/// Replaces a comment by blanks; line breaks stay.
fn blank(plain: &mut [u8], from: usize, to: usize) -> usize {
    for byte in &mut plain[from..to] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
    to
}

/// The position after the string that begins here.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(text: &str) -> Vec<(String, Option<String>)> {
        let all = servers("x.json", text).unwrap().into_iter();
        all.map(|one| (one.name, one.folder)).collect()
    }

    #[test]
    fn servers_are_found_where_clients_keep_them() {
        let one = [("a".to_owned(), None)];
        for text in [
            r#"{"mcpServers":{"a":{}}}"#,
            r#"{"servers":{"a":{}}}"#,
            r#"{"mcp":{"servers":{"a":{}}}}"#,
            r#"{"mcp.servers":{"a":{}}}"#,
            "\u{feff}{\"mcpServers\":{\"a\":{}}}",
        ] {
            assert_eq!(names(text), one, "{text}");
        }
        let text = r#"{"projects":{"/p":{"mcpServers":{"b":{}}},"/q":{}},"mcpServers":{"a":{}}}"#;
        assert_eq!(names(text), [("a".into(), None), ("b".into(), Some("/p".into()))]);
        assert_eq!(names(r#"{"mcpServers":{}}"#), []);
        for text in ["{}", "[]", "1", r#"{"mcpServers":[]}"#, "{", ""] {
            assert!(servers("x.json", text).is_err(), "{text}");
        }
    }

    #[test]
    fn comments_and_last_commas_are_passed_over() {
        let text = "// é\n{ /* a, */ \"servers\": { \"a\": { \"url\": \"http://x//y,}\", \"args\": [1, 2, // x\n ], }, },\n}";
        let found = servers("x.json", text).unwrap();
        assert_eq!(found[0].entry, json!({ "url": "http://x//y,}", "args": [1, 2] }));
        for text in ["{\"a\": \"\\", "/*", "/", "\"", "{,}", "[1,,]", "{\"a\":1 /* é", "//é"] {
            assert!(servers("x.json", text).is_err(), "{text}");
        }
    }
}
