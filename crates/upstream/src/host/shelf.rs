//! What an upstream offers beside tools: prompts and resources, pinned as tools are.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use serde_json::Value;

use super::member::Member;
use crate::{
    connection::{Request, RequestError},
    lock::{self, Pinned},
    offer::Offer,
    settings,
};

impl Member {
    /// The prompts that may be handed out.
    pub fn prompts(&self) -> Vec<Value> {
        self.pinned_alone(|offer| &offer.prompts, "name", |pinned| &pinned.prompts)
    }

    /// The resources that may be handed out.
    pub fn resources(&self) -> Vec<Value> {
        self.pinned_alone(|offer| &offer.resources, "uri", |pinned| &pinned.resources)
    }

    /// The templates of resources that may be handed out. One that does not say how its addresses
    /// begin would have us send the addresses of others there.
    pub fn templates(&self) -> Vec<Value> {
        let mut all =
            self.pinned_alone(|offer| &offer.templates, "uriTemplate", |own| &own.templates);
        all.retain(|one| one["uriTemplate"].as_str().is_some_and(has_scheme));
        all
    }

    /// What is offered and, where there is a lock, as it was pinned. Where there is an allowlist it has to
    /// allow everything of this upstream: it names tools alone.
    fn pinned_alone(
        &self,
        offered: impl Fn(&Offer) -> &Vec<Value>,
        key: &str,
        pinned: impl Fn(&Pinned) -> &BTreeMap<String, Value>,
    ) -> Vec<Value> {
        if !settings::allows_all(self.shared.allowlist.as_ref(), &self.id) {
            return Vec::new();
        }
        let Some(offer) = self.offer() else { return Vec::new() };
        let lock = self.shared.lock.load();
        let nothing = Pinned::default();
        let own = lock.as_ref().map(|lock| lock.upstreams.get(&self.id).unwrap_or(&nothing));
        let all = offered(&offer).iter().filter(|item| {
            item.get(key).and_then(Value::as_str).is_some_and(|name| {
                let find = |own: &Pinned| pinned(own).get(name).cloned();
                lock::other(own, find, item, self.settings.changes).is_fine()
            })
        });
        all.cloned().collect()
    }

    /// Asks it something that is no call of a tool. It takes a place as a call does, and is not asked
    /// while it is left alone.
    pub async fn ask(
        &self,
        method: &'static str,
        name: Option<&str>,
        params: &Value,
        patience: Duration,
    ) -> Result<Value, String> {
        let id = &self.id;
        let leave = self
            .breaker
            .enter()
            .map_err(|_| format!("the upstream `{id}` failed too often and is left alone"))?;
        let sent = AtomicBool::new(false);
        let asked = async {
            let place = self.places.acquire().await;
            let connection = self.connection().await.map_err(|unreachable| {
                let why = unreachable.why;
                tracing::warn!(upstream = id, why, "it cannot be reached");
                (unreachable.message, false)
            })?;
            sent.store(true, Ordering::Relaxed);
            let params = params.to_string();
            let request = Request { name, ..Request::new(method, &params, patience) };
            let reply = connection.request(request).await;
            drop(place);
            let reply = reply.map_err(|error| match error {
                RequestError::Rpc(said) => (said.to_string(), false),
                error => {
                    tracing::warn!(upstream = id, %error, method, "it did not answer");
                    (format!("the upstream `{id}` did not answer"), true)
                }
            })?;
            serde_json::from_str(reply.json()).map_err(|error| (error.to_string(), false))
        };
        // To wait for a place shows nothing of the server.
        let late = |_| {
            let message = format!("the upstream `{id}` did not answer within {patience:?}");
            Err((message, sent.load(Ordering::Relaxed)))
        };
        let answer = tokio::time::timeout(patience, asked).await.unwrap_or_else(late);
        match &answer {
            Err((_, true)) => leave.failed(),
            _ if !sent.load(Ordering::Relaxed) => drop(leave),
            _ => leave.answered(),
        }
        answer.map_err(|(message, _)| message)
    }
}

/// Whether a template begins with a scheme that is no variable.
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
    fn a_template_says_how_its_addresses_begin() {
        assert!(has_scheme("file:///{path}"));
        assert!(has_scheme("demo+x://{id}/data"));
        assert!(has_scheme("demo:fixed"));
        for open in ["{any}", "{scheme}://x", "x{rest}", "", "://{x}", "1:{x}"] {
            assert!(!has_scheme(open), "{open}");
        }
    }
}
