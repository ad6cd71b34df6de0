//! Blocks of MCP content, read strictly: the fields of MCP are passed on, all others are not.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::listings;

/// Blocks that are all of a kind that MCP defines, without other fields; nothing if one is not.
pub(crate) fn known(json: &str) -> Option<Value> {
    let blocks: Vec<ContentBlock> = serde_json::from_str(json).ok()?;
    let is_whole = |block: &ContentBlock| match block {
        ContentBlock::Resource { resource, .. } => resource.check().is_ok(),
        _ => true,
    };
    blocks.iter().all(is_whole).then(|| serde_json::to_value(blocks).ok())?
}

/// Checks blocks as they are passed on: nothing in them is named as if it were ours, what describes a link is judged as
/// in a listing, and data are Base64. Texts are data: whoever reads them knows where they come from.
pub(crate) fn check(blocks: &Value) -> Result<(), String> {
    let blocks = blocks.as_array().map_or(std::slice::from_ref(blocks), Vec::as_slice);
    for (index, block) in blocks.iter().enumerate() {
        check_block(block).map_err(|why| format!("block {index} of the content: {why}"))?;
    }
    Ok(())
}

fn check_block(block: &Value) -> Result<(), String> {
    if block["type"] == "resource_link"
        && let Some(why) = listings::refusal(block, "uri")
    {
        return Err(why);
    }
    let resource = &block["resource"];
    if resource["uri"].as_str().is_some_and(listings::is_own_uri) {
        return Err(listings::OWN_URI.to_owned());
    }
    let mut data = [&block["data"], &resource["blob"]].into_iter().filter_map(Value::as_str);
    if data.all(is_base64) { Ok(()) } else { Err(NO_BASE64.to_owned()) }
}

const NO_BASE64: &str = "its data are not Base64";

/// Base64 as RFC 4648 has it, with its padding.
fn is_base64(text: &str) -> bool {
    let data = text.trim_end_matches('=');
    let is_digit = |one: u8| one.is_ascii_alphanumeric() || matches!(one, b'+' | b'/');
    text.len().is_multiple_of(4) && text.len() - data.len() <= 2 && data.bytes().all(is_digit)
}

/// A block of content.
#[derive(Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum ContentBlock {
    Text {
        text: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        annotations: Option<Annotations>,
    },
    Image {
        data: String,
        mime_type: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        annotations: Option<Annotations>,
    },
    Audio {
        data: String,
        mime_type: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        annotations: Option<Annotations>,
    },
    ResourceLink {
        uri: String,
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        annotations: Option<Annotations>,
    },
    Resource {
        resource: ResourceContents,
        #[serde(skip_serializing_if = "Option::is_none")]
        annotations: Option<Annotations>,
    },
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Annotations {
    #[serde(skip_serializing_if = "Option::is_none")]
    audience: Option<Vec<Role>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResourceContents {
    pub uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blob: Option<String>,
}

impl ResourceContents {
    /// Contents are text, or binary.
    pub fn check(&self) -> Result<(), String> {
        match (&self.text, &self.blob) {
            (None, Some(blob)) if !is_base64(blob) => Err(NO_BASE64.to_owned()),
            (Some(_), None) | (None, Some(_)) => Ok(()),
            _ => Err("contents have either `text` or `blob`".to_owned()),
        }
    }
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    User,
    Assistant,
}
