//! What a server offers: everything that it lists, as it came.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;

use crate::connection::{Connection, RequestError};

/// What a server offers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offer {
    /// The revision of the protocol that was agreed on.
    pub protocol: String,
    /// Its own name and version.
    pub info: Value,
    /// What it tells models about itself.
    pub instructions: Option<String>,
    /// Its tools.
    pub tools: Vec<Value>,
    /// Its prompts.
    pub prompts: Vec<Value>,
    /// Its resources.
    pub resources: Vec<Value>,
    /// Its templates of resources.
    pub templates: Vec<Value>,
    /// Whether it completes arguments of prompts and templates.
    pub completes: bool,
    /// Which of its other listings could not be read, by method, and why. What is there of them is what
    /// was there before.
    pub unread: BTreeMap<&'static str, String>,
    /// Whether the server listed this itself; otherwise it is what was pinned.
    pub listed: bool,
}

/// Why it is not known what a server offers.
#[derive(Debug, Default, thiserror::Error)]
#[error("{message}")]
pub struct Unlisted {
    /// In words.
    pub message: String,
    /// Whether it just did not answer, as a server does that works on something else.
    pub silent: bool,
    /// Whether it does not know the question.
    pub unknown: bool,
}

/// JSON-RPC's number for a method that does not exist.
const UNKNOWN_METHOD: i64 = -32_601;
/// The listings beside that of the tools get one of so many parts of the time for a request.
const OTHERS_SHARE: u32 = 5;

impl Offer {
    /// Reads everything that a server lists.
    pub async fn read(connection: &Connection) -> Result<Self, Unlisted> {
        let server = connection.server();
        let has = |name: &str| server.capabilities.get(name).is_some_and(|one| !one.is_null());
        let list = async |method: &'static str, key: &'static str, patience: Duration| {
            let listed = connection.list_within(method, key, patience).await;
            let listing = listed.map_err(|error| Unlisted {
                message: format!("{method}: {error}"),
                silent: matches!(error, RequestError::Timeout(_)),
                unknown: matches!(&error, RequestError::Rpc(said) if said.code == UNKNOWN_METHOD),
            })?;
            // Of a part nobody could say what the rest is.
            match listing.cut {
                Some(why) => {
                    Err(Unlisted { message: format!("{method}: {why}"), ..Unlisted::default() })
                }
                None => Ok(listing.items),
            }
        };
        let patience = connection.limits().request_timeout;
        let tools = match list("tools/list", "tools", patience).await {
            Err(error) if has("tools") => return Err(error),
            // A server that forgets to say that it has tools has them all the same.
            listed => listed.unwrap_or_default(),
        };
        // A server whose prompts cannot be listed has its tools all the same, and in its time.
        let mut unread = BTreeMap::new();
        let mut or_nothing = async |method: &'static str, key: &'static str, there: bool| {
            if !there {
                return Vec::new();
            }
            match list(method, key, patience / OTHERS_SHARE).await {
                Ok(items) => items,
                // It says that it has some, and does not know the question: it has none.
                Err(error) if error.unknown => Vec::new(),
                Err(error) => {
                    unread.insert(method, error.message);
                    Vec::new()
                }
            }
        };
        let prompts = or_nothing("prompts/list", "prompts", has("prompts")).await;
        let resources = or_nothing("resources/list", "resources", has("resources")).await;
        let templates =
            or_nothing("resources/templates/list", "resourceTemplates", has("resources")).await;
        Ok(Self {
            protocol: server.version.clone(),
            info: server.info.clone(),
            instructions: server.instructions.clone(),
            tools,
            prompts,
            resources,
            templates,
            completes: has("completions"),
            unread,
            listed: true,
        })
    }

    /// With what was there before in place of what could not be read now.
    pub(crate) fn after(mut self, before: Option<&Self>) -> Self {
        let Some(before) = before.filter(|before| before.listed) else { return self };
        for method in self.unread.keys() {
            match *method {
                "prompts/list" => self.prompts.clone_from(&before.prompts),
                "resources/list" => self.resources.clone_from(&before.resources),
                _ => self.templates.clone_from(&before.templates),
            }
        }
        self
    }

    /// The server's own version.
    pub fn version(&self) -> &str {
        let own = self.info.get("version").and_then(Value::as_str);
        own.filter(|own| !own.is_empty() && own.len() <= 64).unwrap_or("0")
    }
}
