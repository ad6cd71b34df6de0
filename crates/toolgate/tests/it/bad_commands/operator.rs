//! What the operator is told of a command: why it does not start, what was not kept, if its examples hold.

use std::os::unix::fs::PermissionsExt;

use testkit::World;

use crate::{BINARY, command, with_commands};

#[tokio::test]
async fn the_operator_is_told_why_a_command_does_not_start() {
    let world = with_commands("", &[("good", "echo '{\"answer\":1}'")]).await;
    command(&world, "shy", "echo '{\"answer\":1}'", "");
    let script = world.folder().join("contracts/shy.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o644)).unwrap();
    world.cli("config check").exits(0).stderr_has("shy.sh` may not be run (chmod +x)");
    let output = world.cli("call shy").exits(1);
    output.stderr_has("could not be started").stderr_has("not a file that may be executed");
    std::fs::remove_file(&script).unwrap();
    world.cli("config check").stderr_has("there is no program `");
    world.cli("call shy").stderr_has("was not found");
    // A caller over the network learns nothing of our paths.
    let answer = world.post("/v1/tools/shy", "{}").await;
    assert!(!answer.text().contains("contracts/"), "{}", answer.text());
}

#[tokio::test]
async fn files_that_are_not_kept_are_told() {
    let script =
        "echo a > a.txt; head -c 3000 /dev/zero > big.bin; mkdir inner; echo '{\"answer\":1}'";
    let world =
        with_commands("limits: { max_artifact_bytes: 2000 }\n", &[("leaves", script)]).await;
    world
        .cli("call leaves")
        .exits(0)
        .stderr_has("a.txt (2 bytes)")
        .stderr_has("1 file was not kept: larger than limits.max_artifact_bytes")
        .stderr_has("1 file was not kept: no plain file");
}

#[test]
fn numbers_of_examples_are_compared_by_value() {
    let world = World::new(BINARY, "contracts: [ ./contracts ]\n");
    command(&world, "mean", "echo '{\"answer\":[2.0,{\"a\":1e2}]}'", "");
    let path = world.folder().join("contracts/mean.yaml");
    let contract = std::fs::read_to_string(&path).unwrap();
    let at = contract.find("examples:").unwrap();
    let with = |output: &str| {
        let examples =
            format!("examples:\n  - title: A call\n    input: {{}}\n    output: {output}\n");
        std::fs::write(&path, format!("{}{examples}", &contract[..at])).unwrap();
        world.cli("contracts test mean")
    };
    with("{ answer: [2, { a: 100 }] }").exits(0);
    with("{ answer: [2, { a: 101 }] }").exits(1);
}
