//! What the settings say about the model, and what the doctor does.

use serde_json::json;
use testkit::{Reply, Upstream, World};

use crate::BINARY;

#[test]
fn the_doctor_asks_the_endpoint() {
    let listing = json!({ "object": "list", "data": [{ "id": "small" }] });
    let upstream = Upstream::saying(Reply::json(200, &listing));
    let check = |more: &str, state: &str, words: &str| {
        let settings = format!("llm: {{ base_url: \"{}\"{more} }}\n", upstream.url());
        let world = World::new(BINARY, &settings).with_env("MODEL_KEY", "sk-test");
        let said = world.cli("doctor --json --listen 127.0.0.1:0").json();
        let findings = said["findings"].as_array().unwrap();
        let found = findings.iter().find(|one| one["subject"] == "language model").unwrap();
        assert_eq!(found["state"], state, "{found}");
        let all = found.to_string();
        assert!(all.contains(words) && !all.contains("sk-test"), "{found}");
    };
    check("", "ok", "answers");
    check(", model: small, api_key_env: MODEL_KEY", "ok", "with `small`");
    assert!(upstream.requests().last().unwrap().header("authorization").contains("sk-test"));
    check(", model: large", "problem", "it has small");
    check(", api_key_env: NOT_SET_1", "problem", "`NOT_SET_1` (llm.api_key_env) is not set");
    upstream.say(Reply::json(401, json!({ "error": "sk-test" })));
    check(", api_key_env: MODEL_KEY", "problem", "refuses the key");
    let asked = upstream.requests();
    assert!(
        asked.iter().all(|one| ["/v1/models", "/v1/chat/completions"].contains(&one.path.as_str()))
    );
}
