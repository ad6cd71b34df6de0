//! Whoever only looks is told when there is nothing to look at, and changes nothing.

use testkit::World;

use crate::BINARY;

const LOOKS: [&[&str]; 8] = [
    &["approvals"],
    &["approvals", "--all"],
    &["approvals", "show", "apr_00000000000000000000000000"],
    &["approvals", "watch"],
    &["quarantine"],
    &["quarantine", "list"],
    &["quarantine", "show", "q_00000000000000000000000000"],
    &["mlx", "status"],
];

/// Every look ends with 2, prints no data and leaves the folder as it was.
fn refused(world: &World, folder: &str) {
    let count = || std::fs::read_dir(world.folder()).unwrap().count();
    let before = count();
    for arguments in LOOKS {
        for more in [&[][..], &["--json"]] {
            if arguments.contains(&"watch") && !more.is_empty() {
                continue;
            }
            let arguments = [arguments, &["--data-dir", folder], more].concat();
            world.cli(&arguments).exits(2).stdout_is("");
            assert_eq!(count(), before, "{arguments:?}");
        }
    }
}

#[test]
fn a_data_folder_that_was_named_has_to_be_there() {
    let world = World::new(BINARY, "");
    refused(&world, "./nothere");
    world.write("elsewhere/notes.txt", "mine");
    refused(&world, "elsewhere");
    assert_eq!(std::fs::read_dir(world.folder().join("elsewhere")).unwrap().count(), 1);
    refused(&world, "toolgate.yaml");
    let world = world.with_env("TOOLGATE_DATA_DIR", "./nothere");
    world.cli("approvals").exits(2);
}

#[test]
fn one_that_was_not_needed_yet_is_no_mistake() {
    for settings in ["", "data_dir: ./later\n"] {
        let world = World::new(BINARY, settings);
        world.cli("approvals").exits(0);
        world.cli("quarantine").exits(0);
        assert_eq!(std::fs::read_dir(world.folder()).unwrap().count(), 1);
    }
    let world = World::new(BINARY, "");
    world.cli("call hello name=Ada --data-dir ./kept").exits(0);
    for arguments in [["approvals", "--data-dir", "./kept"], ["quarantine", "--data-dir", "./kept"]]
    {
        world.cli(&arguments).exits(0);
    }
}
