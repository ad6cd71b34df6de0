//! Every folder under `examples/` is loaded, started and replayed.

use serde_json::{Value, json};
use testkit::{PeerRequest, Reply, Upstream, World, replay::replay};

use crate::{BINARY, root};

/// Starts a copy of an example, so that what it leaves is left elsewhere.
pub async fn example(name: &str) -> World {
    let mut world = World::copy_of(BINARY, &root().join("examples").join(name));
    if !world.has("toolgate.yaml") {
        world = world.with_env("TOOLGATE_CONFIG", &format!("{name}.yaml"));
    }
    if name == "homelab" {
        let proxy = Upstream::new(litellm);
        world = world
            .with_env("TOOLGATE_TOOLS__SEARCH__BASE_URL", &proxy.url())
            .with_env("LITELLM_API_KEY", "sk-of-the-example")
            // Here is the other machine, too.
            .with_env("TOOLGATE_TOOLS__MLX__HOST", "local")
            .with_env("TOOLGATE_TOOLS__MLX__LAUNCH", &crate::mlx::launch());
    }
    world.started().await
}

/// Stands in for the proxy of the home lab.
fn litellm(asked: &PeerRequest) -> Reply {
    if asked.path != "/v1/search/web" || asked.header("authorization") != "Bearer sk-of-the-example"
    {
        return Reply::json(401, json!({ "error": { "message": "no" } }));
    }
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    match body["query"].as_str().unwrap() {
        "broken" => Reply::json(502, json!({ "error": { "message": "down" } })),
        "garbage" => Reply::new(200, "text/html", "<html>hello</html>"),
        "nothing" => Reply::json(200, json!({ "object": "search", "results": [] })),
        _ => Reply::json(
            200,
            json!({ "object": "search", "results": [
                { "title": "<b>Rust</b> Programming Language", "url": "https://rust-lang.org/",
                  "snippet": "Fast &amp; reliable.", "date": "2025-01-01", "last_updated": null },
                { "title": "", "url": "", "snippet": "" },
                { "title": "An archive", "url": "ftp://files.example/rust.tar", "snippet": "" },
                { "title": "The Book", "url": "https://doc.rust-lang.org/book/",
                  "snippet": "By Steve Klabnik\nand Carol Nichols", "date": null },
                { "title": "crates.io", "url": "https://crates.io/", "snippet": "" },
            ] }),
        ),
    }
}

#[tokio::test]
async fn every_example_is_replayed() {
    for (name, count) in
        [("autosage", 32), ("learning-os", 25), ("adam", 26), ("homelab", 29), ("multi-host", 14)]
    {
        let lines =
            std::fs::read_to_string(root().join("examples").join(name).join("replay.jsonl"));
        let lines = crate::mlx::with_free_ports(&lines.unwrap());
        assert_eq!(replay(&example(name).await, &lines).await, count, "{name}");
    }
}

#[tokio::test]
async fn the_contracts_of_every_example_hold() {
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let world = example(&name).await;
        let test = world.cli("contracts test");
        if name == "multi-host" {
            // All its tools are those of upstreams.
            test.exits(1).stderr_has("no example was run");
        } else {
            test.exits(0);
        }
    }
}

#[test]
fn the_contracts_of_the_binary_hold() {
    let world = World::new(BINARY, "");
    let output = world.cli("contracts test").exits(0);
    output.stdout_has_all(["echo_json: Echo message twice", "hello: An answer that is no text"]);
}

#[test]
fn the_contracts_of_the_binary_are_linted() {
    for entry in std::fs::read_dir(root().join("contracts")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let (read, found) = contract::read::contract(&path.display().to_string(), &text);
        let found: Vec<_> = found.iter().map(|one| one.render(false)).collect();
        assert!(found.is_empty(), "{}", found.join("\n"));
        // What is not linted at start must come out the same.
        let trusted = contract::read::trusted(&text).unwrap();
        assert_eq!(read.unwrap().0.to_value(), trusted.to_value());
    }
}
