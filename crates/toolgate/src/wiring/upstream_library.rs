//! The prompts and resources of all upstreams, as the MCP door serves them.

use std::{sync::Arc, time::Duration};

use gate::{BoxFuture, CallChannel};
use serde_json::{Map, Value, json};
use server::mcp::{CompletionRequest, Library, LibraryError};
use tokio::sync::watch;
use upstream::{Host, Upstream, names};

/// The prompts and resources of all upstreams.
pub struct UpstreamLibrary {
    host: Arc<Host>,
    /// Only this upstream; all if none.
    only: Option<String>,
}

impl UpstreamLibrary {
    pub fn new(host: Arc<Host>) -> Self {
        Self { host, only: None }
    }

    fn upstreams(&self) -> impl Iterator<Item = &Arc<Upstream>> {
        let selected =
            |upstream: &&Arc<Upstream>| self.only.as_ref().is_none_or(|id| *id == upstream.id);
        self.host.upstreams().iter().filter(selected)
    }

    /// The upstream of a prompt with this served name, and its name there.
    fn of_prompt(&self, served: &str) -> Option<(&Arc<Upstream>, String)> {
        self.upstreams().find_map(|upstream| {
            let found = upstream.prompts().into_iter().find_map(|prompt| {
                let name = prompt.get("name")?.as_str()?;
                (names::served(&upstream.id, name) == served).then(|| name.to_owned())
            })?;
            Some((upstream, found))
        })
    }

    /// The upstream of a resource: the one that lists it, or else has a template for it. Where two do, neither is
    /// asked: it would learn what the other is asked for.
    fn of_resource(&self, uri: &str) -> Result<&Arc<Upstream>, LibraryError> {
        let lists =
            |upstream: &&Arc<Upstream>| upstream.resources().iter().any(|one| one["uri"] == uri);
        let fits = |upstream: &&Arc<Upstream>| {
            let mut templates = upstream.templates().into_iter();
            templates
                .any(|one| one["uriTemplate"].as_str().is_some_and(|text| may_match(text, uri)))
        };
        let mut claim: Vec<_> = self.upstreams().filter(lists).collect();
        if claim.is_empty() {
            claim = self.upstreams().filter(fits).collect();
        }
        match claim[..] {
            [] => Err(LibraryError::Unknown),
            [one] => Ok(one),
            [one, ..] => Err(LibraryError::Invalid(format!(
                "{} upstreams have this resource; read it at /mcp/ID of one of them, such as /mcp/{}",
                claim.len(),
                one.id
            ))),
        }
    }

    /// The upstream that can complete an argument, and the reference as it knows it.
    fn completed_by(&self, reference: &Value) -> Option<(&Arc<Upstream>, Value)> {
        let (upstream, reference) = match reference["type"].as_str()? {
            "ref/prompt" => {
                let (upstream, own) = self.of_prompt(reference["name"].as_str()?)?;
                (upstream, json!({ "type": "ref/prompt", "name": own }))
            }
            _ => {
                let template = &reference["uri"];
                let mut having = self.upstreams().filter(|upstream| {
                    upstream.templates().iter().any(|one| one["uriTemplate"] == *template)
                });
                // With two of them it is not known which is meant.
                let upstream = having.next().filter(|_| having.next().is_none())?;
                (upstream, reference.clone())
            }
        };
        upstream.listings()?.completes.then_some((upstream, reference))
    }
}

/// True if a URI may come from a template: it has the same beginning before the first variable, and the same end after
/// the last.
fn may_match(template: &str, uri: &str) -> bool {
    let Some((before, rest)) = template.split_once('{') else { return template == uri };
    let after = rest.rsplit_once('}').map_or("", |(_, after)| after);
    uri.len() >= before.len() + after.len() && uri.starts_with(before) && uri.ends_with(after)
}

/// The timeout for a prompt, a resource or a completion.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

impl Library for UpstreamLibrary {
    fn prompts(&self) -> Vec<Value> {
        let all = self.upstreams().flat_map(|upstream| {
            upstream.prompts().into_iter().filter_map(|mut prompt| {
                let name = names::served(&upstream.id, prompt.get("name")?.as_str()?);
                prompt["name"] = json!(name);
                Some(prompt)
            })
        });
        all.collect()
    }

    fn prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Map<String, Value>,
        _: &'a CallChannel,
    ) -> BoxFuture<'a, Result<Value, LibraryError>> {
        Box::pin(async move {
            let (upstream, own) = self.of_prompt(name).ok_or(LibraryError::Unknown)?;
            let params = json!({ "name": own, "arguments": arguments });
            let result =
                upstream.request("prompts/get", Some(&own), &params, REQUEST_TIMEOUT).await;
            result.map_err(LibraryError::Failed)
        })
    }

    fn resources(&self) -> Vec<Value> {
        self.upstreams().flat_map(|upstream| upstream.resources()).collect()
    }

    fn templates(&self) -> Vec<Value> {
        self.upstreams().flat_map(|upstream| upstream.templates()).collect()
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Value, LibraryError>> {
        Box::pin(async move {
            let upstream = self.of_resource(uri)?;
            let params = json!({ "uri": uri });
            let mut result = upstream
                .request("resources/read", Some(uri), &params, REQUEST_TIMEOUT)
                .await
                .map_err(LibraryError::Failed)?;
            match result.get_mut("contents").map(Value::take) {
                Some(contents @ Value::Array(_)) => Ok(contents),
                _ => Err(LibraryError::Failed(
                    "the response of the upstream has no `contents`".into(),
                )),
            }
        })
    }

    fn complete<'a>(&'a self, given: &'a CompletionRequest) -> BoxFuture<'a, Value> {
        Box::pin(async move {
            let nothing = json!({ "values": [], "total": 0, "hasMore": false });
            let Some((upstream, reference)) = self.completed_by(&given.reference) else {
                return nothing;
            };
            let mut params = json!({ "ref": reference, "argument": given.argument });
            if given.context.as_object().is_some_and(|context| !context.is_empty()) {
                params["context"] = given.context.clone();
            }
            let result =
                upstream.request("completion/complete", None, &params, REQUEST_TIMEOUT).await;
            match result.ok().and_then(|mut result| result.get_mut("completion").map(Value::take)) {
                Some(completion) if completion["values"].is_array() => completion,
                _ => nothing,
            }
        })
    }

    fn within(&self, toolset: &str) -> Arc<dyn Library> {
        Arc::new(Self { host: self.host.clone(), only: Some(toolset.to_owned()) })
    }

    fn knows(&self, toolset: &str) -> bool {
        self.host.upstream(toolset).is_some_and(|upstream| upstream.settings.enabled)
    }

    fn upstreams(&self) -> Vec<Value> {
        let statuses = self.host.statuses().into_iter();
        statuses.map(|one| serde_json::to_value(one).unwrap_or_default()).collect()
    }

    fn prompt_changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.host.changes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_known_by_its_ends() {
        assert!(may_match("file:///{path}", "file:///a/b"));
        assert!(may_match("demo://{id}/data", "demo://7/data"));
        assert!(!may_match("demo://{id}/data", "demo://7/text"));
        assert!(!may_match("demo://aa{id}aa", "demo://aa"));
        assert!(may_match("demo://fixed", "demo://fixed"));
    }
}
