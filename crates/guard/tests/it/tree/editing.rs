//! Editing: nobody's change is lost.

use guard::files::{FileError, FileTree, LinkPolicy};

use super::{TreeFixture, always, snapshot, word};

fn edit(
    tree: &FileTree,
    text: &str,
    change: impl FnOnce(&str) -> Result<String, FileError>,
) -> Result<(), FileError> {
    tree.edit(&tree.path(text)?, 10_000, &always, |old| Ok((change(old)?, ())))
}

#[test]
fn a_text_becomes_another() {
    let world = TreeFixture::new();
    for tree in world.trees(LinkPolicy::Inside) {
        std::fs::write(world.root().join("x.txt"), "one").unwrap();
        edit(&tree, "x.txt", |old| Ok(format!("{old} two"))).unwrap();
        assert_eq!(std::fs::read_to_string(world.root().join("x.txt")).unwrap(), "one two");
        world.is_untouched("editing");
    }
}

#[test]
fn what_cannot_be_edited_stays_as_it_is() {
    let world = TreeFixture::new();
    std::fs::write(world.root().join("large.txt"), "x".repeat(10_001)).unwrap();
    let before = snapshot(&world.root());
    for tree in world.trees(LinkPolicy::Inside) {
        for (path, expected) in [
            ("missing.txt", "missing"),
            ("missing/missing.txt", "missing"),
            ("in.txt", "denied"),
            ("out.txt", "denied"),
            ("../secret.txt", "denied"),
            ("hard-out.txt", "denied"),
            ("hard-in.txt", "denied"),
            ("sub", "folder"),
            ("sub/", "folder"),
            ("pipe", "special"),
            ("socket", "special"),
            ("latin.txt", "no text"),
            ("large.txt", "too large"),
            ("notes.txt/x", "no folder"),
        ] {
            let got = edit(&tree, path, |_| panic!("{path} was read"));
            assert_eq!(word(&got), expected, "{path}: {got:?}");
            let looked = tree.path(path).and_then(|path| tree.preview_edit(&path, 10_000));
            assert_eq!(word(&looked), expected, "{path}: {looked:?}");
        }
        let refused = edit(&tree, "notes.txt", |_| Err(FileError::NotText));
        assert_eq!(word(&refused), "no text");
        assert_eq!(snapshot(&world.root()), before);
    }
}

#[test]
fn a_change_by_another_program_is_seen_and_kept() {
    let world = TreeFixture::new();
    let path = world.root().join("notes.txt");
    for tree in world.trees(LinkPolicy::Inside) {
        type Change<'a> = (&'a str, Box<dyn Fn() + 'a>);
        let changes: [Change<'_>; 4] = [
            ("rewritten, of the same length", Box::new(|| std::fs::write(&path, "NOTES").unwrap())),
            ("made longer", Box::new(|| std::fs::write(&path, "n".repeat(20_000)).unwrap())),
            ("removed", Box::new(|| std::fs::remove_file(&path).unwrap())),
            (
                "replaced by another file",
                Box::new(|| {
                    std::fs::write(world.root().join("other"), "other").unwrap();
                    std::fs::rename(world.root().join("other"), &path).unwrap();
                }),
            ),
        ];
        for (what, change) in &changes {
            std::fs::write(&path, "notes").unwrap();
            let mut theirs = None;
            let got = edit(&tree, "notes.txt", |_| {
                change();
                theirs = Some(snapshot(&world.root()));
                Ok("ours".to_owned())
            });
            assert_eq!(word(&got), "changed", "{what}");
            assert_eq!(Some(snapshot(&world.root())), theirs, "{what}");
        }
    }
}

#[test]
fn a_link_that_takes_the_place_of_the_file_is_not_written_through() {
    let world = TreeFixture::new();
    let path = world.root().join("notes.txt");
    for tree in world.trees(LinkPolicy::Inside) {
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, "notes").unwrap();
        let got = edit(&tree, "notes.txt", |_| {
            std::fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink("../secret.txt", &path).unwrap();
            Ok("ours".to_owned())
        });
        assert_eq!(word(&got), "denied");
        world.is_untouched("a link in place of the file");
    }
}

/// Many at once, by several names of the same file.
#[test]
fn edits_within_a_process_wait_for_each_other() {
    const THREADS: usize = 8;
    const EDITS: usize = 50;
    let world = TreeFixture::new();
    for tree in world.trees(LinkPolicy::Inside) {
        std::fs::write(world.root().join("sub/count.txt"), "0").unwrap();
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let tree = &tree;
                scope.spawn(move || {
                    let names = ["sub/count.txt", "in-dir/count.txt", "self/sub/count.txt"];
                    for _ in 0..EDITS {
                        edit(tree, names[thread % 3], |old| {
                            Ok((old.parse::<usize>().unwrap() + 1).to_string())
                        })
                        .unwrap();
                    }
                });
            }
        });
        let count = std::fs::read_to_string(world.root().join("sub/count.txt")).unwrap();
        assert_eq!(count, (THREADS * EDITS).to_string());
    }
}

#[test]
fn whoever_waits_for_another_edit_can_give_up() {
    let world = TreeFixture::new();
    let [tree, _] = world.trees(LinkPolicy::Inside);
    let stopped = edit(&tree, "notes.txt", |old| {
        let path = tree.path("notes.txt")?;
        // Yes at the start, no as soon as it has to wait.
        let asked = std::cell::Cell::new(0);
        let go_on = || asked.replace(asked.get() + 1) < 3;
        assert_eq!(word(&tree.write(&path, b"x", &go_on)), "stopped");
        Ok(old.to_owned())
    });
    assert_eq!(word(&stopped), "ok");
}
