//! A kernel, or a container's filter, that does not know `openat2`.

use guard::files::FileTree;

use super::{TreeFixture, always, word};
use crate::harness::{Command, strace_works};

/// Run with and without the call: a few paths of each kind, resolved as this machine can.
#[test]
#[ignore = "is started by `without_the_call_everything_is_as_with_it`"]
fn reads_and_writes_as_it_can() {
    let world = TreeFixture::new();
    let tree = FileTree::new(world.root());
    for (path, expected) in [
        ("notes.txt", "ok"),
        ("sub/up.txt", "ok"),
        ("in-dir/notes.txt", "ok"),
        ("out.txt", "denied"),
        ("around.txt", "denied"),
        ("out-proc/environ", "denied"),
        ("missing.txt", "missing"),
        ("sub", "folder"),
        ("pipe", "special"),
    ] {
        let path = tree.path(path).unwrap();
        assert_eq!(word(&tree.read(&path, 100)), expected, "{path}");
    }
    for (path, expected) in [("a/b/c.txt", "ok"), ("out-dir/x", "denied"), ("in.txt", "denied")] {
        let path = tree.path(path).unwrap();
        assert_eq!(word(&tree.write(&path, b"new", &always)), expected, "{path}");
    }
    world.is_untouched("without the call");
}

#[test]
fn without_the_call_everything_is_as_with_it() {
    if !strace_works() {
        return;
    }
    for error in ["ENOSYS", "EPERM", "EINVAL", "E2BIG"] {
        let output = Command::new("strace")
            .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=openat2"])
            .args(["-e", &format!("inject=openat2:error={error}")])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "tree::kernel::reads_and_writes_as_it_can", "--ignored"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("running 1 test") && output.status.success(), "{error}: {said}");
    }
}
