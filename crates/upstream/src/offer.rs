//! What a server offers: everything that it lists, as it came.

use serde_json::Value;

use crate::connection::Connection;

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
}

impl Offer {
    /// Reads everything that a server lists.
    pub async fn read(connection: &Connection) -> Result<Self, String> {
        let server = connection.server();
        let has = |name: &str| server.capabilities.get(name).is_some_and(|one| !one.is_null());
        let list = async |method: &'static str, key: &'static str, there: bool| {
            if !there {
                return Ok(Vec::new());
            }
            let listed = connection.list(method, key).await;
            let listing = listed.map_err(|error| format!("{method}: {error}"))?;
            // Of a part nobody could say what the rest is.
            match listing.cut {
                Some(why) => Err(format!("{method}: {why}")),
                None => Ok(listing.items),
            }
        };
        Ok(Self {
            protocol: server.version.clone(),
            info: server.info.clone(),
            instructions: server.instructions.clone(),
            // A server that forgets to say that it has tools has them all the same.
            tools: match list("tools/list", "tools", true).await {
                Err(error) if has("tools") => return Err(error),
                listed => listed.unwrap_or_default(),
            },
            prompts: list("prompts/list", "prompts", has("prompts")).await?,
            resources: list("resources/list", "resources", has("resources")).await?,
            // Servers with resources and without templates often do not know the question.
            templates: list("resources/templates/list", "resourceTemplates", has("resources"))
                .await
                .unwrap_or_default(),
        })
    }

    /// The server's own version.
    pub fn version(&self) -> &str {
        let own = self.info.get("version").and_then(Value::as_str);
        own.filter(|own| !own.is_empty() && own.len() <= 64).unwrap_or("0")
    }
}
