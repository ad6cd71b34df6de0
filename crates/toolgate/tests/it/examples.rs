//! Every folder under `examples/` is loaded, started and replayed.

use serde_json::{Value, json};
use testkit::{Asked, Reply, Upstream, World, replay::replay};

use crate::{BINARY, root};

/// Starts a copy of an example, so that what it leaves is left elsewhere.
pub async fn example(name: &str) -> World {
    let mut world = World::copy_of(BINARY, &root().join("examples").join(name));
    if !world.folder().join("toolgate.yaml").exists() {
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
    world.run().await;
    world
}

/// Stands in for the proxy of the home lab.
fn litellm(asked: &Asked) -> Reply {
    if asked.path != "/v1/search/web" || !asked.head.contains("Bearer sk-of-the-example\r\n") {
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

async fn replays(name: &str) -> usize {
    let world = example(name).await;
    let lines = root().join("examples").join(name).join("replay.jsonl");
    replay(&world, &std::fs::read_to_string(lines).unwrap()).await
}

#[tokio::test]
async fn autosage() {
    assert_eq!(replays("autosage").await, 32);
}

#[tokio::test]
async fn learning_os() {
    assert_eq!(replays("learning-os").await, 25);
}

#[tokio::test]
async fn adam() {
    assert_eq!(replays("adam").await, 26);
}

#[tokio::test]
async fn homelab() {
    assert_eq!(replays("homelab").await, 29);
}

#[tokio::test]
async fn multi_host() {
    assert_eq!(replays("multi-host").await, 14);
}

#[tokio::test]
async fn the_contracts_of_every_example_hold() {
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let world = example(&name).await;
        let (code, stdout, stderr) = world.cli(&["contracts", "test"]);
        assert_eq!(code, 0, "{name}: {stdout}{stderr}");
    }
}

#[test]
fn the_contracts_of_the_binary_hold() {
    let world = World::new(BINARY, "");
    let (code, stdout, stderr) = world.cli(&["contracts", "test"]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    for shown in ["echo_json: Echo message twice", "hello: An answer that is no text"] {
        assert!(stdout.contains(shown), "{stdout}");
    }
}

#[test]
fn the_contracts_of_the_binary_are_linted() {
    for entry in std::fs::read_dir(root().join("contracts")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let (contract, found) = contract::read::contract(&path.display().to_string(), &text);
        let found: Vec<_> = found.iter().map(|one| one.render(false)).collect();
        assert!(found.is_empty(), "{}", found.join("\n"));
        // What is not linted at start must come out the same.
        let trusted = contract::read::trusted(&text).unwrap();
        assert_eq!(contract.unwrap().to_value(), trusted.to_value());
    }
}
