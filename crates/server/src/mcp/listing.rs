//! Listings, rendered once for each catalogue and handed out as bytes.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use contract::render::mcp::{OutputForm, tool as render_tool};
use gate::{Catalogue, EnforcementMode, Tool};
use mcp::{
    RpcError, append_field,
    params::{SERVER_INFO, string},
};
use serde_json::{Map, Value, json, value::RawValue};
use sha2::{Digest, Sha256};

use super::{
    context::{McpContext, RpcResult, Scope},
    resources,
};

/// A listing that is rendered once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RenderedKind {
    Tools,
    Resources,
}

/// A listing, page by page, each a whole `result`.
struct RenderedPages {
    /// Tells this listing from the one before it.
    digest: String,
    pages: Vec<Bytes>,
}

/// The listings of one catalogue.
#[derive(Default)]
pub(crate) struct RenderedListings {
    pages: Mutex<HashMap<(RenderedKind, bool, Scope), Arc<RenderedPages>>>,
}

impl RenderedListings {
    fn pages(
        &self,
        catalogue: &Catalogue,
        kind: RenderedKind,
        context: &McpContext,
    ) -> Arc<RenderedPages> {
        let key = (kind, context.client.is_modern(), context.scope.clone());
        let mut known = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pages) = known.get(&key) {
            return pages.clone();
        }
        let tools = tools(catalogue, context.scope.as_deref());
        let (name, entries): (_, Vec<Value>) = match kind {
            RenderedKind::Tools => {
                let form =
                    if context.client.is_modern() { OutputForm::Any } else { OutputForm::Object };
                let portable = context.app.settings.mcp.portable_names;
                let shown = |tool: &Arc<Tool>| {
                    let mut shown = listed(tool, form);
                    if portable {
                        shown["name"] = json!(catalogue.portable_name(&tool.contract.name));
                    }
                    shown
                };
                ("tools", tools.map(shown).collect())
            }
            RenderedKind::Resources => {
                let own = tools.map(|tool| resources::of_contract(&tool.contract));
                ("resources", own.chain(context.library().resources()).collect())
            }
        };
        let pages = Arc::new(RenderedPages::render(name, &entries, context));
        known.insert(key, pages.clone());
        pages
    }
}

/// A tool as it is listed. What it is not held to is not promised: clients hold results against
/// an `outputSchema`, and would refuse what the operator lets pass.
fn listed(tool: &Tool, form: OutputForm) -> Value {
    let mut listed = render_tool(&tool.contract, form);
    if tool.mode != EnforcementMode::Enforce
        && let Value::Object(fields) = &mut listed
    {
        fields.shift_remove("outputSchema");
    }
    listed
}

/// The tools of a scope, sorted by name.
pub(crate) fn tools<'a>(
    catalogue: &'a Catalogue,
    scope: Option<&'a str>,
) -> impl Iterator<Item = &'a Arc<Tool>> {
    catalogue.tools().filter(move |tool| scope.is_none_or(|name| tool.contract.toolset == name))
}

/// The page of a listing that is asked for.
pub(crate) fn page(
    context: &McpContext,
    kind: RenderedKind,
    cursor: Option<&RawValue>,
) -> RpcResult {
    let documents = context.app.documents();
    let pages = documents.mcp.pages(documents.catalogue(), kind, context);
    let number = match cursor {
        None => 0,
        Some(raw) => pages.number(&string(raw, "cursor")?)?,
    };
    pages.pages.get(number).cloned().map(mcp::Response::from).ok_or_else(unknown_cursor)
}

fn unknown_cursor() -> RpcError {
    RpcError::not_found("the cursor is not known: the list may have changed, start again")
}

impl RenderedPages {
    fn render(name: &str, entries: &[Value], context: &McpContext) -> Self {
        let printed: Vec<Vec<u8>> =
            entries.iter().map(|entry| serde_json::to_vec(entry).unwrap_or_default()).collect();
        let mut hash = Sha256::new();
        for entry in &printed {
            hash.update(entry);
        }
        let digest: String =
            hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        let size = context.app.settings.mcp.page_size.max(1);
        let mut chunks: Vec<&[Vec<u8>]> = printed.chunks(size).collect();
        if chunks.is_empty() {
            chunks.push(&[]);
        }
        let last = chunks.len() - 1;
        let tail = tail(context);
        let pages = chunks.into_iter().enumerate().map(|(number, entries)| {
            let mut text = Vec::with_capacity(entries.iter().map(Vec::len).sum::<usize>() + 256);
            text.extend_from_slice(format!("{{\"{name}\":[").as_bytes());
            text.extend_from_slice(&entries.join(&b','));
            text.push(b']');
            if number < last {
                append_field(&mut text, "nextCursor", &format!("{}.{digest}", number + 1));
            }
            text.extend_from_slice(tail.as_bytes());
            text.push(b'}');
            Bytes::from(text)
        });
        Self { pages: pages.collect(), digest }
    }

    fn number(&self, cursor: &str) -> Result<usize, RpcError> {
        let (number, digest) = cursor.split_once('.').ok_or_else(unknown_cursor)?;
        if digest != self.digest {
            return Err(unknown_cursor());
        }
        number.parse().map_err(|_| unknown_cursor())
    }
}

/// The fields of a listing beside its entries.
fn tail(context: &McpContext) -> String {
    if !context.client.is_modern() {
        return String::new();
    }
    let (ttl, scope) = context.cache_hints();
    let info = context.server_info();
    format!(
        r#","resultType":"complete","ttlMs":{ttl},"cacheScope":"{scope}","_meta":{{"{SERVER_INFO}":{info}}}"#
    )
}

/// A listing that is short, has one page, and changes by its own rules.
pub(crate) fn small(
    context: &McpContext,
    name: &str,
    entries: &[Value],
    cursor: Option<&RawValue>,
) -> RpcResult {
    if cursor.is_some() {
        return Err(unknown_cursor());
    }
    Ok(context.cacheable(Map::from_iter([(name.to_owned(), json!(entries))])))
}
