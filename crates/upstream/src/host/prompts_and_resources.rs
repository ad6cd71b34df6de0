//! The prompts and resources of an upstream, pinned as tools are.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use serde_json::Value;

use super::upstream::Upstream;
use crate::{
    connection::{RequestError, RequestOptions},
    listings::ServerListings,
    lock::{self, PinnedListings},
    settings,
};

impl Upstream {
    /// The prompts that are served.
    pub fn prompts(&self) -> Vec<Value> {
        self.served_items(|listings| &listings.prompts, "name", |pinned| &pinned.prompts)
    }

    /// The resources that are served.
    pub fn resources(&self) -> Vec<Value> {
        self.served_items(|listings| &listings.resources, "uri", |pinned| &pinned.resources)
    }

    /// The resource templates that are served. One without a fixed scheme would match the URIs of other upstreams.
    pub fn templates(&self) -> Vec<Value> {
        let mut all =
            self.served_items(|listings| &listings.templates, "uriTemplate", |own| &own.templates);
        all.retain(|one| one["uriTemplate"].as_str().is_some_and(has_scheme));
        all
    }

    /// The items that the lock lets pass. An allowlist names tools alone: where there is one, it has to allow
    /// everything of this upstream.
    fn served_items(
        &self,
        listed: impl Fn(&ServerListings) -> &Vec<Value>,
        key: &str,
        pinned: impl Fn(&PinnedListings) -> &BTreeMap<String, Value>,
    ) -> Vec<Value> {
        if !settings::allows_all(self.shared.allowlist.as_ref(), &self.id) {
            return Vec::new();
        }
        let Some(listings) = self.listings() else { return Vec::new() };
        let lock = self.shared.lock.load();
        let nothing = PinnedListings::default();
        let own = lock.as_ref().map(|lock| lock.upstreams.get(&self.id).unwrap_or(&nothing));
        let all = listed(&listings).iter().filter(|item| {
            item.get(key).and_then(Value::as_str).is_some_and(|name| {
                let find = |own: &PinnedListings| pinned(own).get(name).cloned();
                lock::check_item(own, find, item, self.settings.changes).passes()
            })
        });
        all.cloned().collect()
    }

    /// Sends a request that is not a tool call. It takes a slot as a call does, and respects the circuit breaker.
    pub async fn request(
        &self,
        method: &'static str,
        name: Option<&str>,
        params: &Value,
        timeout: Duration,
    ) -> Result<Value, String> {
        let id = &self.id;
        let permit = self.breaker.acquire().map_err(|open| format!("upstream `{id}`: {open}"))?;
        let sent = AtomicBool::new(false);
        let request = async {
            let slot = self.slots.acquire().await;
            let connection = self.connection().await.map_err(|unreachable| {
                let detail = unreachable.detail;
                tracing::warn!(upstream = id, detail, "cannot reach the upstream");
                (unreachable.message, false)
            })?;
            sent.store(true, Ordering::Relaxed);
            let params = params.to_string();
            let options = RequestOptions { name, ..RequestOptions::new(timeout) };
            let response = connection.request(method, &params, options).await;
            drop(slot);
            let response = response.map_err(|error| match error {
                RequestError::Rpc(error) => (error.to_string(), false),
                error => {
                    tracing::warn!(upstream = id, %error, method, "no response");
                    (format!("the upstream `{id}` did not respond"), true)
                }
            })?;
            serde_json::from_str(response.json()).map_err(|error| (error.to_string(), false))
        };
        // Waiting for a slot says nothing about the server.
        let late = |_| {
            let message = format!("the upstream `{id}` did not respond within {timeout:?}");
            Err((message, sent.load(Ordering::Relaxed)))
        };
        let result = tokio::time::timeout(timeout, request).await.unwrap_or_else(late);
        match &result {
            Err((_, true)) => permit.failed(),
            _ if !sent.load(Ordering::Relaxed) => drop(permit),
            _ => permit.succeeded(),
        }
        result.map_err(|(message, _)| message)
    }
}

/// True if a template begins with a scheme that is not a variable.
fn has_scheme(template: &str) -> bool {
    let before = template.split_once('{').map_or(template, |(before, _)| before);
    before.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_has_a_fixed_scheme() {
        assert!(has_scheme("file:///{path}"));
        assert!(has_scheme("demo+x://{id}/data"));
        assert!(has_scheme("demo:fixed"));
        for open in ["{any}", "{scheme}://x", "x{rest}", "", "://{x}", "1:{x}"] {
            assert!(!has_scheme(open), "{open}");
        }
    }
}
