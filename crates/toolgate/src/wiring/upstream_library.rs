//! The prompts and resources of all upstreams, as the MCP door serves them.

use std::sync::Arc;

use gate::Catalogue;
use serde_json::{Map, Value, json};
use server::mcp::{CompletionRequest, Library, LibraryCall, LibraryError};
use tokio::sync::watch;
use upstream::{Host, Upstream, methods::UpstreamMethod, names};

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

    fn upstreams(&self) -> impl Iterator<Item = Arc<Upstream>> {
        let selected =
            |upstream: &&Arc<Upstream>| self.only.as_ref().is_none_or(|id| *id == upstream.id);
        let upstreams = self.host.upstreams();
        let selected: Vec<_> = upstreams.iter().filter(selected).cloned().collect();
        selected.into_iter()
    }

    /// The upstream of a prompt with this served name, and its name there.
    fn of_prompt(&self, served: &str) -> Option<(Arc<Upstream>, String)> {
        self.upstreams().find_map(|upstream| {
            let found = upstream.prompts().into_iter().find_map(|prompt| {
                let name = prompt.get("name")?.as_str()?;
                (names::served(&upstream.id, name) == served).then(|| name.to_owned())
            })?;
            Some((upstream, found))
        })
    }

    /// The upstream of a resource: the one that lists it, or has a template for it. Where two do, neither is asked: it
    /// would learn what the other is asked for.
    fn of_resource(&self, uri: &str) -> Result<Arc<Upstream>, LibraryError> {
        let claim: Vec<_> = self.upstreams().filter(|one| one.has_resource(uri)).collect();
        match &claim[..] {
            [] => Err(LibraryError::Unknown),
            [one] => Ok(one.clone()),
            [one, ..] => Err(LibraryError::Invalid(format!(
                "{} upstreams have this resource; read it at /mcp/ID of one of them, such as /mcp/{}",
                claim.len(),
                one.id
            ))),
        }
    }

    /// The upstream that can complete an argument, and the reference as it knows it.
    fn completed_by(&self, reference: &Value) -> Option<(Arc<Upstream>, Value)> {
        let (upstream, reference) = match reference["type"].as_str()? {
            "ref/prompt" => {
                let (upstream, own) = self.of_prompt(reference["name"].as_str()?)?;
                (upstream, json!({ "type": "ref/prompt", "name": own }))
            }
            _ => {
                let template = &reference["uri"];
                let mut having = self.upstreams().filter(|one| one.lists_template(template));
                // With two of them it is not known which is meant.
                let upstream = having.next().filter(|_| having.next().is_none())?;
                (upstream, json!({ "type": "ref/resource", "uri": template }))
            }
        };
        upstream.completes().then_some((upstream, reference))
    }
}

/// The call of a method of an upstream.
fn call(upstream: &Upstream, method: UpstreamMethod, input: Value) -> LibraryCall {
    LibraryCall { tool: method.tool_name(&upstream.id), input }
}

impl Library for UpstreamLibrary {
    fn prompts(&self) -> Vec<Value> {
        let all = self.upstreams().flat_map(|upstream| {
            let id = upstream.id.clone();
            upstream.prompts().into_iter().filter_map(move |mut prompt| {
                let name = names::served(&id, prompt.get("name")?.as_str()?);
                prompt["name"] = json!(name);
                Some(prompt)
            })
        });
        all.collect()
    }

    fn prompt(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<LibraryCall, LibraryError> {
        let (upstream, own) = self.of_prompt(name).ok_or(LibraryError::Unknown)?;
        let input = json!({ "name": own, "arguments": arguments });
        Ok(call(&upstream, UpstreamMethod::GetPrompt, input))
    }

    fn resources(&self) -> Vec<Value> {
        self.upstreams().flat_map(|upstream| upstream.resources()).collect()
    }

    fn templates(&self) -> Vec<Value> {
        self.upstreams().flat_map(|upstream| upstream.templates()).collect()
    }

    fn read(&self, uri: &str) -> Result<LibraryCall, LibraryError> {
        let upstream = self.of_resource(uri)?;
        Ok(call(&upstream, UpstreamMethod::ReadResource, json!({ "uri": uri })))
    }

    fn complete(&self, given: &CompletionRequest) -> Result<LibraryCall, LibraryError> {
        let found = self.completed_by(&given.reference);
        let (upstream, reference) = found.ok_or(LibraryError::Unknown)?;
        let mut input = json!({ "ref": reference, "argument": given.argument });
        if given.context.as_object().is_some_and(|context| !context.is_empty()) {
            input["context"] = given.context.clone();
        }
        Ok(call(&upstream, UpstreamMethod::Complete, input))
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

    fn unready(&self, catalogue: &Catalogue) -> Vec<String> {
        self.host.upstreams().iter().filter_map(|upstream| upstream.unready(catalogue)).collect()
    }

    fn prompt_changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.host.changes())
    }
}
