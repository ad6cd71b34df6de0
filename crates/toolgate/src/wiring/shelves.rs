//! The prompts and resources of upstreams, as the MCP doors hand them out.

use std::{sync::Arc, time::Duration};

use gate::{BoxFuture, Exchange};
use serde_json::{Map, Value, json};
use server::mcp::{Library, LibraryError};
use tokio::sync::watch;
use upstream::{Host, Member, names};

/// What all upstreams offer beside tools.
pub struct Shelves {
    host: Arc<Host>,
}

impl Shelves {
    /// The shelves of this host.
    pub fn new(host: Arc<Host>) -> Self {
        Self { host }
    }

    /// The upstream that a prompt of this served name is from, and its own name there.
    fn of_prompt(&self, served: &str) -> Option<(&Arc<Member>, String)> {
        self.host.members().iter().find_map(|member| {
            let found = member.prompts().into_iter().find_map(|prompt| {
                let name = prompt.get("name")?.as_str()?;
                (names::served(&member.id, name) == served).then(|| name.to_owned())
            })?;
            Some((member, found))
        })
    }

    /// The upstream that a resource is from: the one that lists it, or has a template for it.
    fn of_resource(&self, uri: &str) -> Option<&Arc<Member>> {
        let lists = |member: &&Arc<Member>| member.resources().iter().any(|one| one["uri"] == uri);
        let fits = |member: &&Arc<Member>| {
            let mut templates = member.templates().into_iter();
            templates.any(|one| one["uriTemplate"].as_str().is_some_and(|text| may_be(text, uri)))
        };
        let mut members = self.host.members().iter();
        members.clone().find(lists).or_else(|| members.find(fits))
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
        let all = self.host.members().iter().flat_map(|member| {
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
        _: &'a Exchange,
    ) -> BoxFuture<'a, Result<Value, LibraryError>> {
        Box::pin(async move {
            let (member, own) = self.of_prompt(name).ok_or(LibraryError::Unknown)?;
            let params = json!({ "name": own, "arguments": arguments });
            let answer = member.ask("prompts/get", Some(&own), &params, PATIENCE).await;
            answer.map_err(LibraryError::Failed)
        })
    }

    fn resources(&self) -> Vec<Value> {
        self.host.members().iter().flat_map(|member| member.resources()).collect()
    }

    fn templates(&self) -> Vec<Value> {
        self.host.members().iter().flat_map(|member| member.templates()).collect()
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Value, LibraryError>> {
        Box::pin(async move {
            let member = self.of_resource(uri).ok_or(LibraryError::Unknown)?;
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
