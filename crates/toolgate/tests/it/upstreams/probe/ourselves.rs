//! Our own tools through every door.

use serde_json::{Value, json};
use testkit::World;

use super::{checks, count_of, failures};

fn probe(world: &World, more: &[&str]) -> (i32, Value) {
    let output = world.cli(&[&["probe", "--self", "--json"], more].concat());
    (output.code, output.json()["report"].clone())
}

#[test]
fn our_own_tools_pass_through_every_door() {
    let world = World::new(crate::BINARY, "");
    let (code, report) = probe(&world, &["--cases", "6"]);
    assert_eq!((code, failures(&report)), (0, vec![]), "{report:#}");
    for suite in report["suites"].as_array().unwrap() {
        let checks = suite["checks"].as_array().unwrap();
        for word in ["refuses: ", "stops: ", "passes: "] {
            let begins = |check: &&Value| check["title"].as_str().unwrap().starts_with(word);
            assert!(checks.iter().any(|check| begins(&check)), "{word}: {}", suite["tool"]);
        }
    }
    // What changes something is not run, and nothing is left where we are.
    assert_eq!(count_of(&checks(&report, &json!("write_file")), "skipped"), 1);
    assert!(!world.has("data"));
}

#[test]
fn tools_with_effects_run_in_folders_of_their_own() {
    let world = World::new(crate::BINARY, "");
    let files = ["--tool", "write_file", "--tool", "edit_file", "--tool", "write_memory_entry"];
    let (code, report) = probe(&world, &[&files[..], &["--effects", "--cases", "4"]].concat());
    assert_eq!((code, failures(&report)), (0, vec![]), "{report:#}");
    assert_eq!(report["suites"].as_array().unwrap().len(), 3);
    assert_eq!(count_of(&checks(&report, &json!("write_file")), "skipped"), 0);
    assert!(!world.has("data") && !world.has(".claude"));
}

#[test]
fn a_command_that_breaks_its_contract_is_found_out() {
    let world = World::new(crate::BINARY, "contracts: [ ./contracts ]\n");
    crate::command(&world, "liar", "echo '{\"wrong\": 1}'", "");
    crate::command(&world, "fine", "echo '{\"answer\": 1}'", "");
    let (code, report) = probe(&world, &["--tool", "liar", "--tool", "fine", "--cases", "2"]);
    assert_eq!((code, failures(&report)), (1, vec!["output-broken"]), "{report:#}");
    assert_eq!(count_of(&checks(&report, &json!("fine")), "failed"), 0);
    world.cli("probe --self --tool lair").exits(2).stderr_has("did you mean `liar`?");
}
