//! What a server offers: everything that it lists, as it came.

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
    /// Which of its other listings could not be read, and why: nothing of them is handed out.
    pub unread: Vec<String>,
}

/// Why it is not known what a server offers.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Unlisted {
    /// In words.
    pub message: String,
    /// Whether it just did not answer, as a server does that works on something else.
    pub silent: bool,
}

impl Offer {
    /// Reads everything that a server lists.
    pub async fn read(connection: &Connection) -> Result<Self, Unlisted> {
        let server = connection.server();
        let has = |name: &str| server.capabilities.get(name).is_some_and(|one| !one.is_null());
        let list = async |method: &'static str, key: &'static str, there: bool| {
            if !there {
                return Ok(Vec::new());
            }
            let listed = connection.list(method, key).await;
            let listing = listed.map_err(|error| Unlisted {
                message: format!("{method}: {error}"),
                silent: matches!(error, RequestError::Timeout(_)),
            })?;
            // Of a part nobody could say what the rest is.
            match listing.cut {
                Some(why) => Err(Unlisted { message: format!("{method}: {why}"), silent: false }),
                None => Ok(listing.items),
            }
        };
        // A server whose prompts cannot be listed has its tools all the same.
        let mut unread = Vec::new();
        let mut or_nothing = |listed: Result<Vec<Value>, Unlisted>| {
            listed.unwrap_or_else(|error| {
                unread.push(error.message);
                Vec::new()
            })
        };
        let tools = match list("tools/list", "tools", true).await {
            Err(error) if has("tools") => return Err(error),
            // A server that forgets to say that it has tools has them all the same.
            listed => listed.unwrap_or_default(),
        };
        Ok(Self {
            protocol: server.version.clone(),
            info: server.info.clone(),
            instructions: server.instructions.clone(),
            tools,
            prompts: or_nothing(list("prompts/list", "prompts", has("prompts")).await),
            resources: or_nothing(list("resources/list", "resources", has("resources")).await),
            // Servers with resources and without templates often do not know the question.
            templates: list("resources/templates/list", "resourceTemplates", has("resources"))
                .await
                .unwrap_or_default(),
            completes: has("completions"),
            unread,
        })
    }

    /// The server's own version.
    pub fn version(&self) -> &str {
        let own = self.info.get("version").and_then(Value::as_str);
        own.filter(|own| !own.is_empty() && own.len() <= 64).unwrap_or("0")
    }
}
