//! Every folder under `examples/` is loaded, started and replayed.

use testkit::{World, replay::replay};

use crate::{BINARY, root};

/// Starts a copy of an example, so that what it leaves is left elsewhere.
pub async fn example(name: &str) -> World {
    let mut world = World::copy_of(BINARY, &root().join("examples").join(name));
    if !world.folder().join("toolgate.yaml").exists() {
        world = world.with_env("TOOLGATE_CONFIG", &format!("{name}.yaml"));
    }
    world.run().await;
    world
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
