//! The prompts and resources of an upstream, pinned as tools are.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use contract::ApprovalRequirement;
use serde_json::Value;

use super::upstream::Upstream;
use crate::{
    listings::ServerListings,
    lock::{self, PinnedListings},
    methods::UpstreamMethod,
    server_text::ServerText,
    settings,
};

/// The number of resources, and of templates, of an upstream that are compared with those of others.
const MAX_COMPARED: usize = 1_000;

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
        let rules = self.rules.load();
        if !settings::allows_all(rules.allowlist.as_ref(), &self.id) {
            return Vec::new();
        }
        let Some(listings) = self.listings() else { return Vec::new() };
        let nothing = PinnedListings::default();
        let own = rules.lock.as_ref().map(|lock| lock.upstreams.get(&self.id).unwrap_or(&nothing));
        let all = listed(&listings).iter().filter(|item| {
            item.get(key).and_then(Value::as_str).is_some_and(|name| {
                let find = |own: &PinnedListings| pinned(own).get(name).cloned();
                lock::check_item(own, find, item, self.settings.changes).passes()
            })
        });
        all.cloned().collect()
    }

    /// True if it may be asked for this: what it lists may have changed since the call was made.
    pub(crate) fn offers(&self, method: UpstreamMethod, params: &Value) -> bool {
        let text = |value: &Value| value.as_str().map(str::to_owned).unwrap_or_default();
        match method {
            UpstreamMethod::ReadResource => self.has_resource(&text(&params["uri"])),
            UpstreamMethod::GetPrompt => self.lists_prompt(&params["name"]),
            UpstreamMethod::Complete => {
                let reference = &params["ref"];
                self.completes()
                    && match reference["type"].as_str() {
                        Some("ref/prompt") => self.lists_prompt(&reference["name"]),
                        _ => self.lists_template(&reference["uri"]),
                    }
            }
        }
    }

    /// True if it lists the resource, or the URI may come from one of its templates.
    pub fn has_resource(&self, uri: &str) -> bool {
        self.lists_resource(uri) || self.has_template_for(uri)
    }

    fn lists_resource(&self, uri: &str) -> bool {
        self.resources().iter().any(|one| one["uri"] == uri)
    }

    fn has_template_for(&self, uri: &str) -> bool {
        let templates = self.templates();
        let mut templates = templates.iter().filter_map(|one| one["uriTemplate"].as_str());
        templates.any(|template| may_match(template, uri))
    }

    pub fn lists_template(&self, template: &Value) -> bool {
        self.templates().iter().any(|one| one["uriTemplate"] == *template)
    }

    fn lists_prompt(&self, name: &Value) -> bool {
        self.prompts().iter().any(|one| one["name"] == *name)
    }

    /// True if it completes arguments, and nobody has to approve that: it is asked at every key that is pressed.
    pub fn completes(&self) -> bool {
        self.listings().is_some_and(|listings| listings.completes)
            && self
                .method(UpstreamMethod::Complete)
                .is_some_and(|tool| tool.contract.approval == ApprovalRequirement::Never)
    }
}

/// Warnings about resources that one upstream lists and another has too: they are read from neither. One for each pair,
/// with the upstreams that it is about.
pub(super) fn shared_resources(upstreams: &[Arc<Upstream>]) -> Vec<([usize; 2], String)> {
    // Read once: every look at a listing goes through the lock.
    let all: Vec<_> = upstreams.iter().map(|one| (one.resources(), one.templates())).collect();
    let texts = |key: &str, values: &[Value]| -> Vec<String> {
        let texts = values.iter().take(MAX_COMPARED).filter_map(|one| one[key].as_str());
        texts.map(str::to_owned).collect()
    };
    let all: Vec<_> = all
        .iter()
        .map(|(resources, templates)| (texts("uri", resources), texts("uriTemplate", templates)))
        .collect();
    let listed: Vec<HashSet<&str>> =
        all.iter().map(|(uris, _)| uris.iter().map(String::as_str).collect()).collect();
    let has = |index: usize, uri: &str| {
        listed[index].contains(uri) || all[index].1.iter().any(|template| may_match(template, uri))
    };
    let mut warnings = Vec::new();
    for first in 0..all.len() {
        for second in first + 1..all.len() {
            let shared: HashSet<&str> = listed[first]
                .iter()
                .filter(|uri| has(second, uri))
                .chain(listed[second].iter().filter(|uri| has(first, uri)))
                .copied()
                .collect();
            let Some(example) = shared.iter().min() else { continue };
            let message = format!(
                "{} resources are of `{}` and of `{}`, and read from neither at /mcp, such as `{}`",
                shared.len(),
                upstreams[first].id,
                upstreams[second].id,
                ServerText::new(example).for_programs()
            );
            warnings.push(([first, second], message));
        }
    }
    warnings
}

/// True if a URI may come from a template: it has the same beginning before the first variable, and the same end after
/// the last.
fn may_match(template: &str, uri: &str) -> bool {
    let Some((before, rest)) = template.split_once('{') else { return template == uri };
    let after = rest.rsplit_once('}').map_or("", |(_, after)| after);
    uri.len() >= before.len() + after.len() && uri.starts_with(before) && uri.ends_with(after)
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

    #[test]
    fn a_template_is_known_by_its_ends() {
        assert!(may_match("file:///{path}", "file:///a/b"));
        assert!(may_match("demo://{id}/data", "demo://7/data"));
        assert!(!may_match("demo://{id}/data", "demo://7/text"));
        assert!(!may_match("demo://aa{id}aa", "demo://aa"));
        assert!(may_match("demo://fixed", "demo://fixed"));
    }
}
