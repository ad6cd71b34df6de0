//! The results of the handshake: a server as it describes itself.

use gate::secrets;
use mcp::{
    ListKind, ProtocolVersion, Response, RpcError, bounded_value, code, params::SERVER_INFO,
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::ServerText;

/// The number of characters of a server's instructions that are kept.
const MAX_INSTRUCTIONS_CHARS: usize = 32 * 1_024;
/// The largest `serverInfo` or `capabilities`, in bytes of JSON. A larger one is left out.
const MAX_DESCRIPTION_BYTES: usize = 64 * 1_024;
/// The number of versions of a server that an error names.
const MAX_VERSIONS: usize = 32;

/// A server, as it describes itself. Nothing of it is to be trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerDescription {
    /// The protocol version that both speak.
    pub version: ProtocolVersion,
    /// Its name, version and so on; an object.
    pub info: Value,
    /// Instructions for a model, cut where they are too long.
    pub instructions: Option<String>,
    /// Its capabilities; an object.
    pub capabilities: Value,
}

impl ServerDescription {
    /// Says whether it notifies when this list changes.
    pub fn notifies_of(&self, list: ListKind) -> bool {
        self.capabilities[list.name()]["listChanged"] == json!(true)
    }
}

/// The result of `server/discover`.
#[derive(Debug, PartialEq)]
pub(crate) enum Discovered {
    /// The server speaks modern MCP.
    Modern(Box<ServerDescription>),
    /// It names this legacy version.
    Legacy(ProtocolVersion),
    /// It names versions, and none that is known here.
    Unknown(String),
    /// It does not know the method.
    Nothing,
}

/// The fields of the results of `server/discover` and `initialize`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HandshakeFields<'a> {
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

impl HandshakeFields<'_> {
    fn read(response: &Response) -> Option<HandshakeFields<'_>> {
        response.json().starts_with('{').then(|| serde_json::from_str(response.json()).ok())?
    }

    fn server(self, version: ProtocolVersion) -> ServerDescription {
        let object = |raw: Option<&RawValue>| {
            let value = raw.and_then(|raw| bounded_value(raw.get(), MAX_DESCRIPTION_BYTES));
            let mut value = value.filter(Value::is_object);
            value.iter_mut().for_each(secrets::redact_value);
            value
        };
        let in_meta = object(self.meta).and_then(|mut meta| {
            let info = meta.get_mut(SERVER_INFO).map(Value::take);
            info.filter(Value::is_object)
        });
        let instructions = self.instructions.filter(|text| !text.is_empty());
        ServerDescription {
            version,
            info: object(self.server_info).or(in_meta).unwrap_or_else(|| json!({})),
            instructions: instructions
                .map(|text| ServerText::new(&text).beginning(MAX_INSTRUCTIONS_CHARS))
                .map(|text| text.for_programs().to_owned()),
            capabilities: object(self.capabilities).unwrap_or_else(|| json!({})),
        }
    }
}

/// Reads the result of `server/discover`.
pub(crate) fn discovered(response: &Response) -> Discovered {
    let Some(mut fields) = HandshakeFields::read(response) else { return Discovered::Nothing };
    let Some(versions) = fields.supported_versions.take() else { return Discovered::Nothing };
    if let Some(version) = newest(&versions, &ProtocolVersion::MODERN) {
        return Discovered::Modern(Box::new(fields.server(version)));
    }
    pick(&versions)
}

/// Reads the error of `server/discover`.
pub(crate) fn refused(error: &RpcError) -> Discovered {
    // One that supports modern MCP and refuses it all the same may take `initialize`.
    if wants_modern(error) { Discovered::Nothing } else { pick(&supported(error)) }
}

/// Says whether a server that refuses the modern version names it as one that it supports.
pub(crate) fn wants_modern(error: &RpcError) -> bool {
    newest(&supported(error), &ProtocolVersion::MODERN).is_some()
}

/// The versions that a server names when it refuses one.
fn supported(error: &RpcError) -> Vec<String> {
    let named = error.data.as_ref().and_then(|data| data.get("supported")?.as_array());
    let named = named.filter(|_| error.code == code::UNSUPPORTED_VERSION).into_iter().flatten();
    named.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The first of the known versions that a server names.
fn newest(named: &[String], known: &[ProtocolVersion]) -> Option<ProtocolVersion> {
    known.iter().copied().find(|known| named.iter().any(|version| version == known.as_str()))
}

/// The newest legacy version among those that a server names.
fn pick(versions: &[String]) -> Discovered {
    match newest(versions, &ProtocolVersion::LEGACY) {
        Some(version) => Discovered::Legacy(version),
        None if versions.is_empty() => Discovered::Nothing,
        None => Discovered::Unknown(shown(versions)),
    }
}

/// Versions, for an error.
fn shown(versions: &[String]) -> String {
    let short = |version: &String| ServerText::new(version).beginning(32).for_people();
    versions.iter().take(MAX_VERSIONS).map(short).collect::<Vec<_>>().join(", ")
}

/// Reads the result of `initialize`: the server, or the version that is not known here, or nothing
/// where it is not such a result.
pub(crate) fn initialized(response: &Response) -> Result<ServerDescription, Option<String>> {
    let mut fields = HandshakeFields::read(response).ok_or(None)?;
    let version = fields.protocol_version.take().ok_or(None)?;
    match ProtocolVersion::parse_legacy(&version) {
        Some(version) => Ok(fields.server(version)),
        None => Err(Some(shown(&[version]))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(text: &str) -> Response {
        text.as_bytes().to_vec().into()
    }

    #[test]
    fn a_modern_server_is_known_by_what_it_supports() {
        let text = r#"{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],
            "capabilities":{"tools":{"listChanged":true}},"instructions":"",
            "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x"}}}"#;
        let Discovered::Modern(server) = discovered(&response(text)) else { panic!("not modern") };
        assert_eq!(server.version, ProtocolVersion::V2026_07_28);
        assert_eq!(server.info["name"], "x");
        assert_eq!(server.instructions, None);
        assert!(server.notifies_of(ListKind::Tools));
        assert!(!server.notifies_of(ListKind::Prompts));
    }

    #[test]
    fn another_result_means_nothing() {
        for text in ["{}", "null", "[]", "5", r#"{"supportedVersions":"x"}"#] {
            assert_eq!(discovered(&response(text)), Discovered::Nothing, "{text}");
        }
        let none = r#"{"supportedVersions":[]}"#;
        assert_eq!(discovered(&response(none)), Discovered::Nothing);
        let old = r#"{"supportedVersions":["x","2025-03-26","2025-06-18"]}"#;
        assert_eq!(discovered(&response(old)), Discovered::Legacy(ProtocolVersion::V2025_06_18));
        let future = r#"{"supportedVersions":["2031-01-01"]}"#;
        assert_eq!(discovered(&response(future)), Discovered::Unknown("2031-01-01".to_owned()));
    }

    #[test]
    fn an_error_may_name_supported_versions() {
        let error = |code, data| RpcError::new(code, 400, "").data(data);
        let named = json!({ "supported": ["2025-06-18", 5] });
        assert_eq!(
            refused(&error(-32_022, named.clone())),
            Discovered::Legacy(ProtocolVersion::V2025_06_18)
        );
        assert_eq!(refused(&error(-32_601, named)), Discovered::Nothing);
        assert_eq!(refused(&error(-32_022, json!({}))), Discovered::Nothing);
        let modern = json!({ "supported": ["2026-07-28"] });
        assert_eq!(refused(&error(-32_022, modern)), Discovered::Nothing);
        let future = json!({ "supported": ["3000-01-01"] });
        assert!(matches!(refused(&error(-32_022, future)), Discovered::Unknown(_)));
    }

    #[test]
    fn a_legacy_server_names_its_version() {
        let text = r#"{"protocolVersion":"2024-11-05","capabilities":[],"serverInfo":{"name":"x"},
            "instructions":"do"}"#;
        let server = initialized(&response(text)).unwrap();
        assert_eq!(server.version, ProtocolVersion::V2024_11_05);
        assert_eq!(server.capabilities, json!({}));
        assert_eq!(server.instructions.as_deref(), Some("do"));
        let unknown = r#"{"protocolVersion":"2023-01-01"}"#;
        assert_eq!(initialized(&response(unknown)), Err(Some("2023-01-01".to_owned())));
        assert_eq!(initialized(&response("{}")), Err(None));
    }
}
