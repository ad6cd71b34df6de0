//! What a person says about a probe: how long it may take, which arguments are good, who asks.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use testkit::World;

use super::{checks, count, count_of, counted, honest, of, probe, probed};
use crate::upstreams::Upstreams;

#[test]
fn no_listing_makes_a_probe_outlast_its_time() {
    let names: Vec<String> = (0..300).map(|n| format!("p{n}")).collect();
    let part = json!({ "type": "string", "minLength": 20_000 });
    let parts: Map<String, Value> = names.iter().map(|name| (name.clone(), part.clone())).collect();
    let mut heavy = count();
    heavy["inputSchema"] = json!({ "type": "object", "properties": parts, "required": names,
        "additionalProperties": false });
    let mut script = honest();
    script["tools"] = (0..20)
        .map(|n| {
            let mut one = heavy.clone();
            one["name"] = json!(format!("heavy{n}"));
            one
        })
        .collect();
    let began = Instant::now();
    let (code, report) = probe(&script, &["--total-timeout-ms", "5000"]);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    let gave_up = of(&report, "no-values");
    assert!(code == 2 || !gave_up.is_empty(), "{report:#}");
    for one in gave_up {
        assert!(one["message"].as_str().unwrap().contains("262144 bytes"), "{one}");
    }
}

#[test]
fn one_that_is_never_ready_is_quoted() {
    let world = World::new(crate::BINARY, "");
    let script = "echo 'Loading model'; echo 'no key in ~/.config' >&2; sleep 600";
    let began = Instant::now();
    let stderr = world
        .cli(&["probe", "--connect-timeout-ms", "2000", "--", "sh", "-c", script])
        .exits(2)
        .stderr;
    assert!(began.elapsed() < Duration::from_secs(30));
    for words in ["2000 ms (connect_timeout_ms)", "`Loading model`", "`no key in ~/.config`"] {
        assert!(stderr.contains(words), "{words}: {stderr}");
    }
}

#[test]
fn arguments_that_a_tool_knows_can_be_given() {
    let mut script = honest();
    let refused = json!({ "result": { "isError": true, "content": [{ "type": "text", "text": "unknown" }] } });
    script["answers"]["count"] = json!({ "*": refused, "7": counted(&json!(7)) });
    let world = Upstreams::new(&[("one", script)], "");
    let more = ["--tool", "count", "--cases", "1"];
    let (_, report) = probed(&world, &more);
    assert_eq!(of(&report, "output-unproven").len(), 1, "{report:#}");
    world.write("known.json", r#"{ "count": [{ "n": 7 }, { "n": "seven" }] }"#);
    let (code, report) = probed(&world, &[&more[..], &["--arguments", "known.json"]].concat());
    assert_eq!((code, of(&report, "output-unproven").len()), (0, 0), "{report:#}");
    let given: Vec<_> = checks(&report, &json!("count"))
        .into_iter()
        .filter(|check| check["title"].as_str().unwrap().contains("given arguments"))
        .collect();
    assert_eq!((count_of(&given, "passed"), count_of(&given, "skipped")), (1, 1), "{report:#}");
    for (text, words) in [
        (r#"{ "cuont": [] }"#, "did you mean `count`?"),
        (r#"{ "count": [7] }"#, "is not an object with a list of argument objects for each tool"),
        ("{", "not valid JSON"),
    ] {
        world.write("bad.json", text);
        world.cli("probe one --arguments bad.json").exits(2).stderr_has(words);
    }
}

#[tokio::test]
async fn an_address_gets_the_headers_that_are_given() {
    let settings = "server: { tokens: [ { name: ada, token_env: ADA } ] }\n";
    let world = World::new(crate::BINARY, settings)
        .with_env("ADA", "a-token-of-ada-1234567890")
        .started()
        .await;
    let url = world.url("/mcp");
    let header = "Authorization: Bearer ${ADA}";
    let probe = ["probe", &url, "--tool", "hello", "--cases", "2"];
    let lint = ["contracts", "lint", &url];
    for arguments in [&probe[..], &lint] {
        world.cli(arguments).exits(2);
        world.cli(&[arguments, &["--header", header]].concat()).exits(0);
        for (bad, words) in [
            ("Authorization: ${NO_SUCH_VARIABLE}", "`NO_SUCH_VARIABLE` is not set"),
            ("Authorization", "needs the form `NAME: VALUE`"),
            ("A b: c", "not a header name"),
        ] {
            world.cli(&[arguments, &["--header", bad]].concat()).exits(2).stderr_has(words);
        }
    }
    let output = world.cli(&["probe", "--header", header, "--", "true"]).exits(2);
    output.stderr_has("--header needs a URL");
}
