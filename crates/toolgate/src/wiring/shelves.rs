//! The prompts and resources of upstreams, as the MCP doors hand them out.

use std::{sync::Arc, time::Duration};

use gate::{BoxFuture, CallChannel};
use serde_json::{Map, Value, json};
use server::mcp::{Completing, Library, LibraryError};
use tokio::sync::watch;
use upstream::{Host, Member, names};

/// What all upstreams offer beside tools.
pub struct Shelves {
    host: Arc<Host>,
    /// The one upstream that is meant; all where there is none.
    only: Option<String>,
}

impl Shelves {
    /// The shelves of this host.
    pub fn new(host: Arc<Host>) -> Self {
        Self { host, only: None }
    }

    fn members(&self) -> impl Iterator<Item = &Arc<Member>> {
        let meant = |member: &&Arc<Member>| self.only.as_ref().is_none_or(|id| *id == member.id);
        self.host.members().iter().filter(meant)
    }

    /// The upstream that a prompt of this served name is from, and its own name there.
    fn of_prompt(&self, served: &str) -> Option<(&Arc<Member>, String)> {
        self.members().find_map(|member| {
            let found = member.prompts().into_iter().find_map(|prompt| {
                let name = prompt.get("name")?.as_str()?;
                (names::served(&member.id, name) == served).then(|| name.to_owned())
            })?;
            Some((member, found))
        })
    }

    /// The upstream that a resource is from: the one that lists it, or else has a template for it. Where
    /// two do, it is not told to either of them what the other one is asked for.
    fn of_resource(&self, uri: &str) -> Result<&Arc<Member>, LibraryError> {
        let lists = |member: &&Arc<Member>| member.resources().iter().any(|one| one["uri"] == uri);
        let fits = |member: &&Arc<Member>| {
            let mut templates = member.templates().into_iter();
            templates.any(|one| one["uriTemplate"].as_str().is_some_and(|text| may_be(text, uri)))
        };
        let mut claim: Vec<_> = self.members().filter(lists).collect();
        if claim.is_empty() {
            claim = self.members().filter(fits).collect();
        }
        match claim[..] {
            [] => Err(LibraryError::Unknown),
            [one] => Ok(one),
            [one, ..] => Err(LibraryError::Invalid(format!(
                "{} upstreams offer this resource; read it from one of them, as at /mcp/{}",
                claim.len(),
                one.id
            ))),
        }
    }
}

impl Shelves {
    /// The upstream that can complete something, and what that is called there.
    fn completed_by(&self, reference: &Value) -> Option<(&Arc<Member>, Value)> {
        let (member, reference) = match reference["type"].as_str()? {
            "ref/prompt" => {
                let (member, own) = self.of_prompt(reference["name"].as_str()?)?;
                (member, json!({ "type": "ref/prompt", "name": own }))
            }
            _ => {
                let template = &reference["uri"];
                let mut offer = self.members().filter(|member| {
                    member.templates().iter().any(|one| one["uriTemplate"] == *template)
                });
                // With two of them nobody knows which is meant.
                let member = offer.next().filter(|_| offer.next().is_none())?;
                (member, reference.clone())
            }
        };
        let offer = member.offer()?;
        // Not every server knows the question.
        offer.completes.then_some((member, reference))
    }
}

/// Whether a URI may come from a template: it begins as the template does before its first variable,
/// and ends as it does after its last.
fn may_be(template: &str, uri: &str) -> bool {
    let Some((before, rest)) = template.split_once('{') else { return template == uri };
    let after = rest.rsplit_once('}').map_or("", |(_, after)| after);
    uri.len() >= before.len() + after.len() && uri.starts_with(before) && uri.ends_with(after)
}

/// How long an upstream may take to hand out a prompt or a resource.
const PATIENCE: Duration = Duration::from_secs(30);

impl Library for Shelves {
    fn prompts(&self) -> Vec<Value> {
        let all = self.members().flat_map(|member| {
            member.prompts().into_iter().filter_map(|mut prompt| {
                let name = names::served(&member.id, prompt.get("name")?.as_str()?);
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
            let (member, own) = self.of_prompt(name).ok_or(LibraryError::Unknown)?;
            let params = json!({ "name": own, "arguments": arguments });
            let answer = member.ask("prompts/get", Some(&own), &params, PATIENCE).await;
            answer.map_err(LibraryError::Failed)
        })
    }

    fn resources(&self) -> Vec<Value> {
        self.members().flat_map(|member| member.resources()).collect()
    }

    fn templates(&self) -> Vec<Value> {
        self.members().flat_map(|member| member.templates()).collect()
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Value, LibraryError>> {
        Box::pin(async move {
            let member = self.of_resource(uri)?;
            let params = json!({ "uri": uri });
            let mut answer = member
                .ask("resources/read", Some(uri), &params, PATIENCE)
                .await
                .map_err(LibraryError::Failed)?;
            match answer.get_mut("contents").map(Value::take) {
                Some(contents @ Value::Array(_)) => Ok(contents),
                _ => Err(LibraryError::Failed("the upstream answered without contents".into())),
            }
        })
    }

    fn complete<'a>(&'a self, given: &'a Completing) -> BoxFuture<'a, Value> {
        Box::pin(async move {
            let nothing = json!({ "values": [], "total": 0, "hasMore": false });
            let Some((member, reference)) = self.completed_by(&given.reference) else {
                return nothing;
            };
            let mut params = json!({ "ref": reference, "argument": given.argument });
            if given.context.as_object().is_some_and(|context| !context.is_empty()) {
                params["context"] = given.context.clone();
            }
            let answer = member.ask("completion/complete", None, &params, PATIENCE).await;
            match answer.ok().and_then(|mut answer| answer.get_mut("completion").map(Value::take)) {
                Some(completion) if completion["values"].is_array() => completion,
                _ => nothing,
            }
        })
    }

    fn within(&self, toolset: &str) -> Arc<dyn Library> {
        Arc::new(Self { host: self.host.clone(), only: Some(toolset.to_owned()) })
    }

    fn knows(&self, toolset: &str) -> bool {
        self.host.member(toolset).is_some_and(|member| member.settings.enabled)
    }

    fn upstreams(&self) -> Vec<Value> {
        let reports = self.host.reports().into_iter();
        reports.map(|one| serde_json::to_value(one).unwrap_or_default()).collect()
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
        assert!(may_be("file:///{path}", "file:///a/b"));
        assert!(may_be("demo://{id}/data", "demo://7/data"));
        assert!(!may_be("demo://{id}/data", "demo://7/text"));
        assert!(!may_be("demo://aa{id}aa", "demo://aa"));
        assert!(may_be("demo://fixed", "demo://fixed"));
    }
}
