//! Where backups and restored folders go, and where not: what is there stays as it is.

use std::path::Path;

use testkit::{TmpfsMount, World};

use super::{names, world};
use crate::BINARY;

fn with_data() -> World {
    let world = world();
    world.cli("call write_text_artifact text=kept").exits(0);
    world
}

#[test]
fn a_file_that_exists_is_replaced_only_with_force() {
    let world = with_data();
    world.write("notes.txt", "theirs");
    std::fs::create_dir(world.folder().join("folder")).unwrap();
    std::os::unix::fs::symlink("notes.txt", world.folder().join("link")).unwrap();
    let before = names(world.folder());
    for (arguments, words) in [
        ("backup notes.txt", "`notes.txt` already exists; --force replaces it"),
        ("backup folder --force", "is not a regular file"),
        ("backup link --force", "is not a regular file"),
        ("backup /dev/null --force", "is not a regular file"),
        ("backup missing/all.tar.gz", "cannot write `missing/all.tar.gz`: No such file"),
        ("backup /proc/all.tar.gz", "cannot write `/proc/all.tar.gz`"),
    ] {
        world.cli(arguments).exits(2).stdout_is("").stderr_has(words).stderr_lacks(".toolgate-");
        assert_eq!(names(world.folder()), before, "{arguments}");
    }
    assert_eq!(world.read("notes.txt"), "theirs");
    world.cli("backup notes.txt --force").exits(0);
    assert_eq!(names(world.folder()), before);
    world.cli("--data-dir new restore notes.txt").exits(0);
}

#[test]
fn there_must_be_something_to_back_up() {
    let world = World::new(BINARY, "");
    world.cli("backup all.tar.gz").exits(2).stderr_has("has no database yet: nothing to back up");
    world.cli("--data-dir missing backup all.tar.gz").exits(2).stderr_has("does not exist");
    world.write("data/toolgate.db", "not a database, but long enough to look like one");
    world.cli("backup all.tar.gz").exits(2).stderr_has("cannot copy the database");
    assert_eq!(names(world.folder()), ["data", "toolgate.yaml"]);
    let world = with_data();
    set_version(world.folder(), "data/toolgate.db", 99);
    world.cli("backup all.tar.gz").exits(2).stderr_has("a newer version of Toolgate");
    assert!(!world.has("all.tar.gz"));
}

/// Makes a database one of another version.
pub fn set_version(folder: &Path, database: &str, version: u32) {
    let script = format!(
        "import sqlite3; c = sqlite3.connect('{database}'); c.execute('PRAGMA user_version = {version}')"
    );
    #[allow(clippy::disallowed_types)] // Somebody else's program.
    let mut python = std::process::Command::new("python3");
    assert!(python.args(["-c", &script]).current_dir(folder).status().unwrap().success());
}

#[tokio::test]
async fn a_folder_in_use_or_with_files_stays_as_it_is() {
    let mut world = with_data();
    world.cli("backup all.tar.gz").exits(0);
    world.run().await;
    let output = world.cli("restore all.tar.gz").exits(2);
    output.stderr_has(format!("a server (process {}) uses the data folder", world.pid()));
    assert_eq!(world.stop().await, 0);
    world.write("file", "");
    std::os::unix::fs::symlink("nowhere", world.folder().join("dangling")).unwrap();
    let before = names(world.folder());
    for (folder, words) in [
        ("data", "is not empty"),
        ("contracts", "is not empty"),
        ("file", "cannot restore into `file`: Not a directory"),
        ("dangling", "cannot restore into `dangling`"),
        ("missing/new", "the folder above `missing/new` cannot be used"),
    ] {
        world.cli(&["--data-dir", folder, "restore", "all.tar.gz"]).exits(2).stderr_has(words);
        assert_eq!(names(world.folder()), before, "{folder}");
    }
    // An empty folder, and a link to one, are as good as none.
    std::fs::create_dir(world.folder().join("empty")).unwrap();
    std::fs::create_dir(world.folder().join("linked")).unwrap();
    std::os::unix::fs::symlink("linked", world.folder().join("link")).unwrap();
    for folder in ["empty", "link"] {
        world.cli(&["--data-dir", folder, "restore", "all.tar.gz"]).exits(0);
        assert!(world.has(&format!("{folder}/toolgate.db")));
    }
    assert!(world.folder().join("link").is_symlink());
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    let world = world();
    // Random, so that it does not become small.
    let noise: String = (0..400_000_u64)
        .map(|number| format!("{:x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40))
        .collect();
    world.write("noise.txt", &noise);
    world.cli("call write_text_artifact text=@noise.txt").exits(0);
    world.cli("backup all.tar.gz").exits(0);
    let Some(disk) = TmpfsMount::new("size=512k") else { return };
    let path = disk.path().display().to_string();
    let file = format!("{path}/all.tar.gz");
    let output = world.cli(&["backup", &file]).exits(2);
    output.stderr_has(&file).stderr_has("the disk is full");
    assert_eq!(names(disk.path()), [""; 0]);
    let folder = format!("{path}/data");
    let output = world.cli(&["--data-dir", &folder, "restore", "all.tar.gz"]).exits(2);
    output.stderr_has("`all.tar.gz`: cannot write `").stderr_has("No space left on device");
    assert_eq!(names(disk.path()), [""; 0]);
    // A mounted folder cannot be replaced.
    let output = world.cli(&["--data-dir", &path, "restore", "all.tar.gz"]).exits(2);
    output.stderr_has("a mounted folder cannot be replaced");
    assert_eq!(names(disk.path()), [""; 0]);
}
