//! What the doctor says of what a server has kept.

use std::path::Path;

use testkit::World;

use super::{check, examined};
use crate::BINARY;

/// A folder on which a call was made.
fn used(settings: &str) -> World {
    let world = World::new(BINARY, settings);
    world.cli("call hello name=Ada").exits(0);
    world
}

/// The doctor says what a start says.
fn sick(world: &World, subject: &str, words: &str) {
    check(world, subject, "problem", words);
    world.cli("serve --listen 127.0.0.1:0").exits(2).stdout_is("");
}

#[test]
fn what_was_kept_and_is_fine_is_said_to_be() {
    let world = used("");
    let before = std::fs::read(world.folder().join("data/toolgate.db")).unwrap();
    let (code, found) = examined(&world);
    assert_eq!(code, 0, "{found}");
    for subject in ["data folder", "database", "journal"] {
        assert_eq!(found[subject]["state"], "ok", "{found}");
    }
    assert!(std::fs::read(world.folder().join("data/toolgate.db")).unwrap() == before);
}

/// In the folder for temporary files every program could read it.
#[test]
fn a_copy_of_the_database_is_made_in_the_data_folder() {
    let Some(mount) = testkit::TmpfsMount::new("size=4k") else { return };
    let world = used("").with_env("TMPDIR", &mount.path().display().to_string());
    let names = || {
        let entries = std::fs::read_dir(world.folder().join("data")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    check(&world, "database", "ok", "can be opened");
    assert_eq!(names(), before);
}

#[test]
fn a_database_that_cannot_be_opened_is_told() {
    let world = World::new(BINARY, "");
    world.write("data/toolgate.db", "garbage");
    sick(&world, "database", "not a SQLite database");
    let world = World::new(BINARY, "");
    world.write("data/toolgate.db/x", "a folder");
    sick(&world, "database", "cannot open the database");
    // The beginning is as it should be, and what follows is not.
    let world = used("");
    let file = world.folder().join("data/toolgate.db");
    let mut bytes = std::fs::read(&file).unwrap();
    for one in &mut bytes[100..] {
        *one = 0xa5;
    }
    std::fs::write(&file, bytes).unwrap();
    let _ = std::fs::remove_file(world.folder().join("data/toolgate.db-wal"));
    sick(&world, "database", "cannot open the database");
    // One that is only just being made is nothing to worry about.
    let world = World::new(BINARY, "");
    world.write("data/toolgate.db", "");
    check(&world, "database", "ok", "can be opened");
}

#[test]
fn a_database_that_is_not_the_right_one_is_told() {
    let changed = |change: &dyn Fn(&Path)| {
        let world = used("");
        change(&world.folder().join("data/toolgate.db"));
        world
    };
    let execute = |database: &Path, statements: &str| {
        rusqlite::Connection::open(database).unwrap().execute_batch(statements).unwrap();
    };
    let world = changed(&|database| execute(database, "DROP TABLE jobs"));
    sick(&world, "database", "the database is damaged");
    let world = changed(&|database| {
        std::fs::remove_file(database).unwrap();
        execute(database, "CREATE TABLE notes (text TEXT)");
    });
    sick(&world, "database", "the database of another program");
    let world = changed(&|database| {
        let elsewhere = database.with_file_name("elsewhere.db");
        std::fs::rename(database, &elsewhere).unwrap();
        std::os::unix::fs::symlink(elsewhere, database).unwrap();
    });
    sick(&world, "database", "not a regular file");
    // The server starts, and is not ready.
    let world = changed(&|database| {
        let mut bytes = std::fs::read(database).unwrap();
        let last = bytes.len() - 4_096;
        bytes[last..].fill(0xff);
        std::fs::write(database, bytes).unwrap();
    });
    check(&world, "database", "problem", "the database is damaged");
}

#[test]
fn a_folder_of_somebody_elses_is_told() {
    let world = World::new(BINARY, "");
    world.write("data/work/thesis.txt", "theirs");
    sick(&world, "data folder", "none that Toolgate has made");
}

#[test]
fn secrets_that_are_none_are_told() {
    for name in ["operator.token", "state.key"] {
        let world = used("");
        world.write(&format!("data/{name}"), "short");
        sick(&world, "secrets", name);
    }
}

#[test]
fn a_journal_that_cannot_be_written_is_told() {
    sick(
        &World::new(BINARY, "journal: { path: /nope/x }\n"),
        "journal",
        "the folder `/nope` does not exist",
    );
    sick(&World::new(BINARY, "journal: { path: /proc/x }\n"), "journal", "cannot write `/proc/x`");
    let world = World::new(BINARY, "");
    world.write("data/journal.jsonl/x", "a folder");
    sick(&world, "journal", "cannot write");
    let world = World::new(BINARY, "");
    world.write("data/journal.jsonl", "my important text\n");
    sick(&world, "journal", "holds something else than a journal");
    let world = World::new(BINARY, "journal: { path: ./own.jsonl }\n");
    check(&world, "journal", "ok", "can be written");
    assert!(!world.has("own.jsonl"));
}

#[test]
fn a_name_that_is_ours_is_told() {
    let settings = "server: { tokens: [ { name: stdio, token_env: ADA } ] }\n";
    let world = World::new(BINARY, settings).with_env("ADA", "a-token-that-is-long-enough");
    sick(&world, "tokens", "the name `stdio` is reserved");
}

/// Whoever opens one that nobody writes to waits for ever.
#[test]
fn a_pipe_in_the_place_of_a_file_is_told() {
    for (place, subject) in [
        ("data/toolgate.db", "data folder"),
        ("data/operator.token", "secrets"),
        ("toolgate.env", "settings"),
    ] {
        let world = used("");
        let _ = std::fs::remove_file(world.folder().join(place));
        #[allow(clippy::disallowed_types)] // A program of the machine.
        let mut made = std::process::Command::new("mkfifo");
        assert!(made.arg(world.folder().join(place)).status().unwrap().success());
        sick(&world, subject, "");
    }
}
