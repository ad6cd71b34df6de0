//! Everything that a server lists: tools, prompts, resources and templates, unchanged.

use std::{collections::BTreeMap, time::Duration};

use mcp::MAX_ITEM_BYTES;
use serde_json::Value;
use workbench::suspicious;

use crate::{
    ServerText,
    admission::{self, MAX_DESCRIPTION_BYTES},
    connection::{Connection, RequestError},
};

/// Everything that a server lists.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerListings {
    /// The protocol version.
    pub protocol: String,
    /// Its own name and version.
    pub info: Value,
    /// Its instructions for models.
    pub instructions: Option<String>,
    pub tools: Vec<Value>,
    pub prompts: Vec<Value>,
    pub resources: Vec<Value>,
    /// Its templates of resources.
    pub templates: Vec<Value>,
    /// True if it completes arguments of prompts and templates.
    pub completes: bool,
    /// The errors of listings other than the tools that could not be read, by method. These listings are the ones of
    /// before.
    pub unread: BTreeMap<&'static str, String>,
    /// The prompts, resources and templates that were taken out, with the reason.
    pub refused: Vec<String>,
    /// True if the server listed this itself; otherwise it comes from the lock.
    pub from_server: bool,
}

/// The number of characters of a name that a refusal shows.
const MAX_SHOWN_CHARS: usize = 200;
/// The scheme of our own resources.
const OWN_SCHEME: &str = "toolgate";
pub(crate) const OWN_URI: &str = "the scheme `toolgate` is that of this gate";

/// True for a URI that would name one of our own resources. Clients pass over white space in a URI.
pub(crate) fn is_own_uri(uri: &str) -> bool {
    let Some((scheme, _)) = uri.split_once(':') else { return false };
    let seen: String = scheme.chars().filter(char::is_ascii_graphic).collect();
    seen.eq_ignore_ascii_case(OWN_SCHEME)
}

/// The reason why an item of a listing is not served, or a link to such an item is not passed on.
pub(crate) fn refusal(item: &Value, key: &str) -> Option<String> {
    if item.get(mcp::TOO_LARGE).is_some() {
        return Some(format!("it is larger than {MAX_ITEM_BYTES} bytes (max_item_bytes)"));
    }
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("description").len() > MAX_DESCRIPTION_BYTES {
        return Some(format!(
            "its description is longer than {MAX_DESCRIPTION_BYTES} bytes (max_description_bytes)"
        ));
    }
    if key != "name" && is_own_uri(text(key)) {
        return Some(OWN_URI.to_owned());
    }
    let found = suspicious::listed_item(item)?;
    Some(format!("its texts are suspicious: {}", admission::describe_finding(&found)))
}

/// The listings could not be read.
#[derive(Debug, Default, thiserror::Error)]
#[error("{message}")]
pub struct ListingsError {
    /// The error.
    pub message: String,
    /// The server did not respond, as one that is busy with something else.
    pub timed_out: bool,
    /// The server does not have the method.
    pub unknown_method: bool,
}

/// Listings other than the tools get this fraction of the request timeout.
const OTHER_LISTINGS_SHARE: u32 = 5;

impl ServerListings {
    /// Reads everything that a server lists.
    pub async fn read(connection: &Connection) -> Result<Self, ListingsError> {
        let server = connection.server();
        let has = |name: &str| server.capabilities.get(name).is_some_and(|one| !one.is_null());
        let list = async |method: &'static str, key: &'static str, timeout: Duration| {
            let listed = connection.list_within(method, key, timeout).await;
            let listing = listed.map_err(|error| ListingsError {
                message: format!("{method}: {error}"),
                timed_out: matches!(error, RequestError::Timeout(_)),
                unknown_method: matches!(&error, RequestError::Rpc(error) if error.code == mcp::code::METHOD_NOT_FOUND),
            })?;
            // Part of a listing is not enough: the rest may be anything.
            match listing.cut {
                Some(why) => Err(ListingsError {
                    message: format!("{method}: {why}"),
                    ..ListingsError::default()
                }),
                None => Ok(listing.items),
            }
        };
        let timeout = connection.limits().request_timeout;
        let tools = match list("tools/list", "tools", timeout).await {
            Err(error) if has("tools") => return Err(error),
            // A server may have tools without announcing them.
            listed => listed.unwrap_or_default(),
        };
        // The tools are served even if the prompts cannot be listed.
        let mut unread = BTreeMap::new();
        let mut or_nothing = async |method: &'static str, key: &'static str, there: bool| {
            if !there {
                return Vec::new();
            }
            match list(method, key, timeout / OTHER_LISTINGS_SHARE).await {
                Ok(items) => items,
                // It announces them and does not have the method: there are none.
                Err(error) if error.unknown_method => Vec::new(),
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
            protocol: server.version.to_string(),
            info: server.info.clone(),
            instructions: server.instructions.clone(),
            tools,
            prompts,
            resources,
            templates,
            completes: has("completions"),
            unread,
            refused: Vec::new(),
            from_server: true,
        })
    }

    /// The same with the listings of before in place of those that could not be read.
    pub(crate) fn filled_from(mut self, before: Option<&Self>) -> Self {
        let Some(before) = before.filter(|before| before.from_server) else { return self };
        for method in self.unread.keys() {
            match *method {
                "prompts/list" => self.prompts.clone_from(&before.prompts),
                "resources/list" => self.resources.clone_from(&before.resources),
                _ => self.templates.clone_from(&before.templates),
            }
        }
        self
    }

    /// The same without the prompts, resources and templates that nobody should read, as tools are rejected.
    pub(crate) fn without_refused(mut self) -> Self {
        let lists = [
            ("prompt", "name", &mut self.prompts),
            ("resource", "uri", &mut self.resources),
            ("template", "uriTemplate", &mut self.templates),
        ];
        for (kind, key, items) in lists {
            items.retain(|item| {
                let Some(why) = refusal(item, key) else { return true };
                let name = item.get(key).or_else(|| item.get("name")).and_then(Value::as_str);
                let name = ServerText::new(name.unwrap_or_default()).beginning(MAX_SHOWN_CHARS);
                self.refused.push(format!("the {kind} `{name}` is not served: {why}"));
                false
            });
        }
        self
    }

    /// The server's own version; `0` where it is none that a model or a person could be shown.
    pub fn version(&self) -> &str {
        self.own("version").filter(|own| own.len() <= 64).unwrap_or("0")
    }

    /// The server's own name.
    pub fn name(&self) -> Option<&str> {
        self.own("name")
    }

    /// A short text about the server itself, unless it hides something or gives orders.
    fn own(&self, key: &str) -> Option<&str> {
        let own = self.info.get(key)?.as_str()?;
        let is_short = !own.is_empty() && own.len() <= MAX_SHOWN_CHARS;
        let text = ServerText::new(own);
        (is_short && text.for_models() == own && text.for_people() == own).then_some(own)
    }
}
