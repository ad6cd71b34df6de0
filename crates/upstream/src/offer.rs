//! What a server offers: everything that it lists, as it came.

use serde_json::Value;

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
