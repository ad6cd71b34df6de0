//! What a server says of itself, in either era.

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{Era, Reply, RpcError, incoming, protocol};

/// As much of a server's instructions as is kept, in characters.
const MAX_INSTRUCTIONS_CHARS: usize = 32 * 1_024;
/// The largest description of itself, or of its capabilities, in bytes of JSON. More is left out.
const MAX_ABOUT_BYTES: usize = 64 * 1_024;
/// How many revisions a server may name.
const MAX_VERSIONS: usize = 32;
/// The name of a server in the `_meta` of its results.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// "I do not speak that revision", with those that it does.
const UNSUPPORTED_VERSION: i64 = -32_022;

/// A server, as it presents itself. Nothing of it is to be trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// The revision that both speak.
    pub version: String,
    /// Its family.
    pub era: Era,
    /// Its name, version and so on; an object.
    pub info: Value,
    /// What a model should know about it, cut where it is too much.
    pub instructions: Option<String>,
    /// What it can do; an object.
    pub capabilities: Value,
}

impl Server {
    /// Whether it tells when the listing of these (`tools`, `prompts`, `resources`) changes.
    pub fn tells_changes_of(&self, what: &str) -> bool {
        self.capabilities[what]["listChanged"] == json!(true)
    }
}

/// What became of asking a server as the modern era does.
#[derive(Debug, PartialEq)]
pub(crate) enum Discovered {
    /// It speaks it.
    Modern(Box<Server>),
    /// It names this legacy revision.
    Legacy(&'static str),
    /// It names revisions, and none that is known here.
    Unknown(String),
    /// It does not know what it was asked.
    Nothing,
}

/// The fields of both kinds of first answers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'a> {
    supported_versions: Option<Vec<String>>,
    protocol_version: Option<String>,
    #[serde(borrow)]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow)]
    server_info: Option<&'a RawValue>,
    instructions: Option<String>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

impl Fields<'_> {
    fn read(reply: &Reply) -> Option<Fields<'_>> {
        reply.json().starts_with('{').then(|| serde_json::from_str(reply.json()).ok())?
    }

    fn server(self, version: &str, era: Era) -> Server {
        let object = |raw: Option<&RawValue>| {
            let value = raw.and_then(|raw| incoming::value(raw, MAX_ABOUT_BYTES));
            value.filter(Value::is_object)
        };
        let in_meta = object(self.meta).and_then(|mut meta| {
            let info = meta.get_mut(SERVER_INFO).map(Value::take);
            info.filter(Value::is_object)
        });
        let instructions = self.instructions.filter(|text| !text.is_empty());
        Server {
            version: version.to_owned(),
            era,
            info: object(self.server_info).or(in_meta).unwrap_or_else(|| json!({})),
            instructions: instructions
                .map(|text| text.chars().take(MAX_INSTRUCTIONS_CHARS).collect()),
            capabilities: object(self.capabilities).unwrap_or_else(|| json!({})),
        }
    }
}

/// Reads the result of `server/discover`.
pub(crate) fn discovered(reply: &Reply) -> Discovered {
    let Some(mut fields) = Fields::read(reply) else { return Discovered::Nothing };
    let Some(versions) = fields.supported_versions.take() else { return Discovered::Nothing };
    if versions.iter().any(|version| version == protocol::MODERN) {
        return Discovered::Modern(Box::new(fields.server(protocol::MODERN, Era::Modern)));
    }
    pick(&versions)
}

/// Reads the error of `server/discover`.
pub(crate) fn refused(error: &RpcError) -> Discovered {
    // One that supports it and refuses it all the same may know the other way.
    if wants_modern(error) { Discovered::Nothing } else { pick(&supported(error)) }
}

/// Whether a server that refuses the modern revision names it as the one that it wants.
pub(crate) fn wants_modern(error: &RpcError) -> bool {
    supported(error).iter().any(|version| version == protocol::MODERN)
}

/// The revisions that a server names when it refuses one.
fn supported(error: &RpcError) -> Vec<String> {
    let named = error.data.as_ref().and_then(|data| data.get("supported")?.as_array());
    let named = named.filter(|_| error.code == UNSUPPORTED_VERSION).into_iter().flatten();
    named.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The newest legacy revision among those that a server names.
fn pick(versions: &[String]) -> Discovered {
    let names = |known: &&str| versions.iter().any(|version| version == known);
    match protocol::LEGACY.into_iter().find(names) {
        Some(version) => Discovered::Legacy(version),
        None if versions.is_empty() => Discovered::Nothing,
        None => Discovered::Unknown(shown(versions)),
    }
}

/// Names of revisions, for a message.
fn shown(versions: &[String]) -> String {
    let short = |version: &String| version.chars().take(32).collect::<String>();
    versions.iter().take(MAX_VERSIONS).map(short).collect::<Vec<_>>().join(", ")
}

/// Reads the result of `initialize`: the server, or the revision that is not known here, or nothing
/// where it is no such result.
pub(crate) fn initialized(reply: &Reply) -> Result<Server, Option<String>> {
    let mut fields = Fields::read(reply).ok_or(None)?;
    let version = fields.protocol_version.take().ok_or(None)?;
    match protocol::known(&version) {
        Some(version) => Ok(fields.server(version, Era::Legacy)),
        None => Err(Some(shown(&[version]))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &str) -> Reply {
        Reply::new(bytes::Bytes::copy_from_slice(text.as_bytes()), 0..text.len()).unwrap()
    }

    #[test]
    fn a_modern_server_is_known_by_what_it_supports() {
        let text = r#"{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],
            "capabilities":{"tools":{"listChanged":true}},"instructions":"",
            "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x"}}}"#;
        let Discovered::Modern(server) = discovered(&reply(text)) else { panic!("not modern") };
        assert_eq!((&*server.version, server.era), ("2026-07-28", Era::Modern));
        assert_eq!(server.info["name"], "x");
        assert_eq!(server.instructions, None);
        assert!(server.tells_changes_of("tools"));
        assert!(!server.tells_changes_of("prompts"));
    }

    #[test]
    fn what_is_no_answer_to_it_means_nothing() {
        for text in ["{}", "null", "[]", "5", r#"{"supportedVersions":"x"}"#] {
            assert_eq!(discovered(&reply(text)), Discovered::Nothing, "{text}");
        }
        let none = r#"{"supportedVersions":[]}"#;
        assert_eq!(discovered(&reply(none)), Discovered::Nothing);
        let old = r#"{"supportedVersions":["x","2025-03-26","2025-06-18"]}"#;
        assert_eq!(discovered(&reply(old)), Discovered::Legacy("2025-06-18"));
        let future = r#"{"supportedVersions":["2031-01-01"]}"#;
        assert_eq!(discovered(&reply(future)), Discovered::Unknown("2031-01-01".to_owned()));
    }

    #[test]
    fn a_refusal_may_name_what_is_spoken() {
        let error = |code, data: Value| RpcError {
            code,
            message: String::new(),
            data: Some(data),
            status: None,
        };
        let named = json!({ "supported": ["2025-06-18", 5] });
        assert_eq!(refused(&error(-32_022, named.clone())), Discovered::Legacy("2025-06-18"));
        assert_eq!(refused(&error(-32_601, named)), Discovered::Nothing);
        assert_eq!(refused(&error(-32_022, json!({}))), Discovered::Nothing);
        let modern = json!({ "supported": ["2026-07-28"] });
        assert_eq!(refused(&error(-32_022, modern)), Discovered::Nothing);
        let future = json!({ "supported": ["3000-01-01"] });
        assert!(matches!(refused(&error(-32_022, future)), Discovered::Unknown(_)));
    }

    #[test]
    fn a_legacy_server_says_which_revision_it_takes() {
        let text = r#"{"protocolVersion":"2024-11-05","capabilities":[],"serverInfo":{"name":"x"},
            "instructions":"do"}"#;
        let server = initialized(&reply(text)).unwrap();
        assert_eq!((&*server.version, server.era), ("2024-11-05", Era::Legacy));
        assert_eq!(server.capabilities, json!({}));
        assert_eq!(server.instructions.as_deref(), Some("do"));
        let unknown = r#"{"protocolVersion":"2023-01-01"}"#;
        assert_eq!(initialized(&reply(unknown)), Err(Some("2023-01-01".to_owned())));
        assert_eq!(initialized(&reply("{}")), Err(None));
    }
}
