//! `kill -9` between any two system calls of a write.
//!
//! The test starts itself again under `strace`, which kills it when it enters the n-th call of a kind,
//! for every kind and every n until there is no n-th any more.

use std::path::Path;

use guard::files::{FileTree, TEMPORARY_PREFIX};

use super::{always, snapshot};
use crate::harness::{Command, strace_works};

/// The variable that tells the started test where to write.
const ROOT: &str = "GUARD_CRASH_ROOT";
/// Every call that a write makes; one that is missing on this machine is never reached.
const CALLS: &[&str] = &[
    "openat2",
    "openat",
    "newfstatat",
    "fstat",
    "fstatfs",
    "statx",
    "readlink",
    "mkdirat",
    "mkdir",
    "faccessat",
    "faccessat2",
    "getdents64",
    "getrandom",
    "fchown",
    "fchmod",
    "write",
    "fsync",
    "renameat",
    "renameat2",
    "unlinkat",
    "close",
    "lseek",
    "futex",
    "mmap",
    "munmap",
];
/// No write makes more calls of one kind.
const MAX_CALLS: usize = 400;

fn old() -> String {
    "old ".repeat(50_000)
}

fn new() -> String {
    "new ".repeat(60_000)
}

/// What is killed: one file is replaced, another one is made in folders that are not there.
#[test]
#[ignore = "is started by `a_kill_at_any_moment_leaves_old_or_new_content`"]
fn writes_and_is_killed() {
    let Some(root) = std::env::var_os(ROOT) else { return };
    let tree = FileTree::new(root);
    tree.write(&tree.path("sub/notes.txt").unwrap(), new().as_bytes(), &always).unwrap();
    tree.write(&tree.path("a/b/new.txt").unwrap(), new().as_bytes(), &always).unwrap();
}

/// Whether the run came to its end.
fn run(root: &Path, call: &str, turn: usize) -> bool {
    let _ = std::fs::remove_dir_all(root);
    std::fs::create_dir_all(root.join("sub")).unwrap();
    std::fs::write(root.join("sub/notes.txt"), old()).unwrap();
    let status = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace=?{call}")])
        .args(["-e", &format!("inject=?{call}:signal=SIGKILL:when={turn}")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "tree::crash::writes_and_is_killed", "--ignored", "--test-threads=1"])
        .env(ROOT, root)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    status.success()
}

/// What is there is whole, and everything can go on. The contents, for counting.
fn is_whole(root: &Path, what: &str) -> (bool, bool) {
    let replaced = std::fs::read_to_string(root.join("sub/notes.txt")).unwrap();
    assert!(replaced == old() || replaced == new(), "{what}: a mixture");
    let made = std::fs::read_to_string(root.join("a/b/new.txt")).ok();
    assert!(made.is_none() || made == Some(new()), "{what}: half a file");
    let expected = ["sub", "sub/notes.txt", "a", "a/b", "a/b/new.txt"];
    for path in snapshot(root).into_keys() {
        let name = path.rsplit('/').next().unwrap();
        assert!(
            expected.contains(&path.as_str()) || name.starts_with(TEMPORARY_PREFIX),
            "{what}: {path} is left"
        );
    }
    let tree = FileTree::new(root);
    for path in ["sub/notes.txt", "a/b/new.txt"] {
        let path = tree.path(path).unwrap();
        tree.write(&path, b"after", &always).unwrap();
        assert_eq!(tree.read(&path, 100).unwrap(), b"after", "{what}");
    }
    (replaced == new(), made.is_some())
}

#[test]
fn a_kill_at_any_moment_leaves_old_or_new_content() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    if !strace_works() {
        return;
    }
    let mut seen = std::collections::BTreeMap::new();
    let mut kills = 0;
    for call in CALLS {
        for turn in 1..=MAX_CALLS {
            let ended = run(&root, call, turn);
            let state = is_whole(&root, &format!("{call} {turn}"));
            if ended {
                assert_eq!(state, (true, true), "{call} {turn}");
                break;
            }
            assert!(turn < MAX_CALLS, "{call} has no end");
            kills += 1;
            *seen.entry(state).or_insert(0) += 1;
        }
    }
    println!("{kills} kills: {seen:?}");
    // Before the first rename, between the two, and after both.
    assert!(kills >= 100, "only {kills} kills");
    for state in [(false, false), (true, false), (true, true)] {
        assert!(seen.contains_key(&state), "{state:?} of {seen:?}");
    }
}
