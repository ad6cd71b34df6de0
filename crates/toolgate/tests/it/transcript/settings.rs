//! What the settings say about the model, and what the doctor does.

use serde_json::{Value, json};
use testkit::{Reply, Upstream, World};

use crate::BINARY;

fn refused(settings: &str, words: &str) {
    let world = World::new(BINARY, settings);
    let (code, _, stderr) = world.cli(&["config", "check"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains(words), "{stderr}");
}

#[test]
fn mistakes_are_named() {
    refused(
        "tools: { transcript: { mode: model } }\n",
        "`model` needs a language model: set `llm.base_url`",
    );
    refused("llm: { model: small }\n", "`base_url` is missing");
    refused("llm: { base_url: nowhere }\n", "must be a URL");
    refused("llm: { api_key_env: sk-secret-1 }\n", "not the key itself");
    refused("llm: { base_url: \"http://a/v1/chat/completions\" }\n", "which is added");
    refused("llm: { stall_timeout_ms: 0 }\n", "stall_timeout_ms");
    refused("tools: { transcript: { max_chunk_characters: 5 } }\n", "max_chunk_characters");
    refused("tools: { transcript: { mode: magic } }\n", "mode");
    let world = World::new(BINARY, "llm: { base_url: \"http://127.0.0.1:9\" }\n");
    assert_eq!(world.cli(&["config", "check"]).0, 0);
}

#[test]
fn the_doctor_asks_the_endpoint() {
    let listing = json!({ "object": "list", "data": [{ "id": "small" }] });
    let upstream = Upstream::saying(Reply::json(200, &listing));
    let check = |more: &str, state: &str, words: &str| {
        let settings = format!("llm: {{ base_url: \"{}\"{more} }}\n", upstream.url());
        let world = World::new(BINARY, &settings).with_env("MODEL_KEY", "sk-test");
        let (_, stdout, _) = world.cli(&["doctor", "--json", "--listen", "127.0.0.1:0"]);
        let said: Value = serde_json::from_str(&stdout).unwrap();
        let findings = said["findings"].as_array().unwrap();
        let found = findings.iter().find(|one| one["subject"] == "language model").unwrap();
        assert_eq!(found["state"], state, "{found}");
        let all = found.to_string();
        assert!(all.contains(words) && !all.contains("sk-test"), "{found}");
    };
    check("", "ok", "answers");
    check(", model: small, api_key_env: MODEL_KEY", "ok", "with `small`");
    assert!(upstream.asked().last().unwrap().head.contains("Bearer sk-test"));
    check(", model: large", "problem", "it has small");
    check(", api_key_env: NOT_SET_1", "problem", "`NOT_SET_1` (llm.api_key_env) is not set");
    upstream.say(Reply::json(401, json!({ "error": "sk-test" })));
    check(", api_key_env: MODEL_KEY", "problem", "refuses the key");
    let asked = upstream.asked();
    assert!(
        asked.iter().all(|one| ["/v1/models", "/v1/chat/completions"].contains(&one.path.as_str()))
    );
}
