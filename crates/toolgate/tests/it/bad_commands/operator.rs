//! What whoever added a command is told: why it does not start, what was not kept, whether its examples hold.

use std::os::unix::fs::PermissionsExt;

use testkit::World;

use crate::{BINARY, command, with_commands};

#[tokio::test]
async fn the_operator_is_told_why_a_command_does_not_start() {
    let world = with_commands("", &[("good", "echo '{\"answer\":1}'")]).await;
    command(&world, "shy", "echo '{\"answer\":1}'", "");
    let script = world.folder().join("contracts/shy.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (code, _, told) = world.cli(&["config", "check"]);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("shy.sh` may not be run (chmod +x)"), "{told}");
    let (code, _, told) = world.cli(&["call", "shy"]);
    assert_eq!(code, 1);
    assert!(
        told.contains("could not be started") && told.contains("not a file that may be executed"),
        "{told}"
    );
    std::fs::remove_file(&script).unwrap();
    let (_, _, told) = world.cli(&["config", "check"]);
    assert!(told.contains("there is no program `"), "{told}");
    let (_, _, told) = world.cli(&["call", "shy"]);
    assert!(told.contains("was not found"), "{told}");
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
    let (code, _, told) = world.cli(&["call", "leaves"]);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("a.txt (2 bytes)"), "{told}");
    assert!(told.contains("1 file was not kept: larger than limits.max_artifact_bytes"), "{told}");
    assert!(told.contains("1 file was not kept: no plain file"), "{told}");
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
        world.cli(&["contracts", "test", "mean"])
    };
    let (code, said, _) = with("{ answer: [2, { a: 100 }] }");
    assert_eq!(code, 0, "{said}");
    assert_eq!(with("{ answer: [2, { a: 101 }] }").0, 1);
}
