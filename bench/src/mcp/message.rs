//! The messages of a client, in both eras of the protocol.

use serde_json::{Value, json};

/// The way in which client and server agree on a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpVersion {
    /// 2026-07-28: every request stands alone and says what the client can do.
    Modern,
    /// 2025-11-25 and before: `initialize` first, and over HTTP a session.
    Legacy,
}

impl McpVersion {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Modern, Self::Legacy];

    /// The version that is spoken.
    pub fn version(self) -> &'static str {
        match self {
            Self::Modern => "2026-07-28",
            Self::Legacy => "2025-11-25",
        }
    }
}

/// A request that can be sent many times, each time with the next id. The ids have ten
/// digits from the first to the last, so that the bytes around them stay as they are.
pub struct Numbered {
    bytes: Vec<u8>,
    at: usize,
    id: u64,
}

/// The id of the first message, which is `initialize` where there is one.
pub const FIRST_ID: u64 = 1_000_000_000;
const ID_DIGITS: usize = 10;

impl Numbered {
    /// From a request with what `call` or `list` gave as its body.
    pub fn new(bytes: Vec<u8>) -> Self {
        let at = crate::http::find(&bytes, FIRST_ID.to_string().as_bytes())
            .expect("the body has the first id in it");
        Self { bytes, at, id: FIRST_ID }
    }

    /// The bytes to send, with an id that was not used before.
    pub fn next(&mut self) -> &[u8] {
        self.id += 1;
        let digits = self.id.to_string();
        self.bytes[self.at..self.at + ID_DIGITS].copy_from_slice(digits.as_bytes());
        &self.bytes
    }

    /// The id that was sent last.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The same as it was printed.
    pub fn digits(&self) -> &[u8] {
        &self.bytes[self.at..self.at + ID_DIGITS]
    }
}

/// The call that is measured, with the arguments that the other doors get.
pub fn call(version: McpVersion, tool: &str) -> String {
    let mut params = json!({ "name": tool, "arguments": { "message": "hello", "n": 2 } });
    if version == McpVersion::Modern {
        params["_meta"] = meta();
    }
    request("tools/call", &params)
}

/// A page of the listing; a request of 2026-07-28.
pub fn list(cursor: Option<&str>) -> String {
    let mut params = json!({ "_meta": meta() });
    if let Some(cursor) = cursor {
        params["cursor"] = cursor.into();
    }
    request("tools/list", &params)
}

/// The first message of a legacy client.
pub fn initialize() -> String {
    let params = json!({
        "protocolVersion": McpVersion::Legacy.version(),
        "capabilities": {},
        "clientInfo": client(),
    });
    request("initialize", &params)
}

/// The notification of a legacy client after the handshake.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn request(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": FIRST_ID, "method": method, "params": params }).to_string()
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": McpVersion::Modern.version(),
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": client(),
    })
}

fn client() -> Value {
    json!({ "name": "bench", "version": "1" })
}
