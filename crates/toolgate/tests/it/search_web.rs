//! `search.web` through the doors, with a real service on the other side.

mod cases;
mod hostile;
mod services;

use serde_json::{Value, json};
use testkit::{Answer, Reply, Upstream, World};

use crate::BINARY;

/// The key that the service wants.
pub const KEY: &str = "sk-a-secret-of-the-test";

/// Settings for a service of this kind at this place.
pub fn settings(provider: &str, base_url: &str, more: &str) -> String {
    format!(
        "tools:\n  search: {{ provider: {provider}, base_url: \"{base_url}\", api_key_env: \
         SEARCH_KEY, timeout_ms: 1500{more} }}\n"
    )
}

/// A server that asks a LiteLLM.
pub async fn asking(upstream: &Upstream) -> World {
    asking_with(upstream, "litellm", ", search_tool: web").await
}

/// A server that asks a service of this kind.
pub async fn asking_with(upstream: &Upstream, provider: &str, more: &str) -> World {
    asking_at(&upstream.url(), provider, more).await
}

/// The same at this address.
pub async fn asking_at(base_url: &str, provider: &str, more: &str) -> World {
    let world = World::new(BINARY, &settings(provider, base_url, more));
    world.with_env("SEARCH_KEY", KEY).started().await
}

/// A call through REST.
pub async fn search(world: &World, arguments: &Value) -> Answer {
    world.call("search.web", arguments).await
}

/// The failure of a call: status, code, text, details.
pub fn failure(answer: &Answer) -> (u16, String, String, Value) {
    let json = answer.json();
    assert_eq!(json["ok"], false, "{json}");
    let text = |key: &str| json[key].as_str().unwrap().to_owned();
    (answer.status, text("code"), text("error"), json["details"].clone())
}

/// Results that can be told apart.
pub fn some_results(count: usize) -> Reply {
    let results: Vec<_> = (0..count)
        .map(|number| {
            json!({
                "title": format!("Title {number}"),
                "url": format!("https://example.org/{number}"),
                "snippet": "Text",
                "date": null,
            })
        })
        .collect();
    Reply::json(200, json!({ "object": "search", "results": results }))
}
