//! Listing, looking and walking.

use std::ops::ControlFlow;

use guard::files::{FileError, FileKind, FileTree, LinkPolicy};

use super::{TreeFixture, word};

fn names(tree: &FileTree, path: &str, max: usize) -> Result<Vec<String>, FileError> {
    let listing = tree.list(&tree.path(path)?, max)?;
    Ok(listing.entries.into_iter().map(|entry| entry.name).collect())
}

fn walk(tree: &FileTree, path: &str, max: usize) -> Result<Vec<String>, FileError> {
    let mut found = Vec::new();
    tree.walk(&tree.path(path)?, max, &mut |file| {
        found.push(file.path.to_string());
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

#[test]
fn a_folder_is_listed_in_order_and_within_bounds() {
    let world = TreeFixture::new();
    for tree in world.trees(LinkPolicy::Inside) {
        let all = names(&tree, "sub", 100).unwrap();
        assert_eq!(all, ["around.txt", "deep", "hard.txt", "notes.txt", "up", "up.txt"]);
        assert_eq!(names(&tree, "in-dir/", 100).unwrap(), all);
        assert_eq!(names(&tree, "sub", 2).unwrap(), ["around.txt", "deep"]);
        let listing = tree.list(&tree.path("sub").unwrap(), 2).unwrap();
        assert_eq!((listing.total, listing.unnameable, listing.uncounted), (6, 0, false));
        let kinds: Vec<_> = tree
            .list(&tree.path("sub").unwrap(), 100)
            .unwrap()
            .entries
            .into_iter()
            .map(|entry| (entry.status.kind, entry.status.bytes))
            .collect();
        assert_eq!(
            kinds,
            [
                (FileKind::Symlink, 0),
                (FileKind::Directory, 0),
                (FileKind::File, 4),
                (FileKind::File, 9),
                (FileKind::Symlink, 0),
                (FileKind::Symlink, 0)
            ]
        );
        for (path, expected) in [
            ("notes.txt", "no folder"),
            ("missing", "missing"),
            ("..", "denied"),
            ("out-dir", "denied"),
            ("out-root", "denied"),
            ("loop", "denied"),
            ("pipe", "no folder"),
            ("/etc", "denied"),
        ] {
            assert_eq!(word(&names(&tree, path, 10)), expected, "{path}");
        }
    }
    for tree in world.trees(LinkPolicy::Refused) {
        assert_eq!(word(&names(&tree, "in-dir", 10)), "denied");
        assert_eq!(names(&tree, "sub", 1).unwrap(), ["around.txt"]);
    }
}

#[test]
fn names_that_no_path_can_have_are_counted() {
    use std::os::unix::ffi::OsStrExt;
    let world = TreeFixture::new();
    let folder = world.root().join("odd");
    std::fs::create_dir(&folder).unwrap();
    for name in [&b"fine"[..], b"\xff\xfe", b"line\nbreak", b"dot.", b"a\\b", "\u{202e}".as_bytes()]
    {
        std::fs::write(folder.join(std::ffi::OsStr::from_bytes(name)), "").unwrap();
    }
    for tree in world.trees(LinkPolicy::Inside) {
        let listing = tree.list(&tree.path("odd").unwrap(), 10).unwrap();
        assert_eq!((listing.entries.len(), listing.total, listing.unnameable), (1, 1, 5));
        let walked =
            tree.walk(&tree.path("odd").unwrap(), 10, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!((walked.files, walked.passed_over, walked.cut), (1, 5, false));
    }
}

#[test]
fn looking_follows_links_inside_and_no_others() {
    let world = TreeFixture::new();
    for tree in world.trees(LinkPolicy::Inside) {
        let stat = |path: &str| tree.path(path).and_then(|path| tree.stat(&path));
        for (path, kind, bytes) in [
            ("notes.txt", FileKind::File, 5),
            ("in.txt", FileKind::File, 5),
            ("sub", FileKind::Directory, 0),
            ("sub/", FileKind::Directory, 0),
            (".", FileKind::Directory, 0),
            ("in-dir", FileKind::Directory, 0),
            ("pipe", FileKind::Other, 0),
            ("socket", FileKind::Other, 0),
            ("hard-in.txt", FileKind::File, 4),
        ] {
            let status = stat(path).unwrap();
            assert_eq!((status.kind, status.bytes), (kind, bytes), "{path}");
            assert!(status.modified.is_some());
        }
        for (path, expected) in [
            ("missing", "missing"),
            ("out.txt", "denied"),
            ("out-dir", "denied"),
            ("in-absolute.txt", "denied"),
            ("../secret.txt", "denied"),
            ("notes.txt/", "no folder"),
            ("loop", "denied"),
        ] {
            assert_eq!(word(&stat(path)), expected, "{path}");
        }
    }
}

#[test]
fn a_walk_visits_files_in_order_and_follows_no_link() {
    let world = TreeFixture::new();
    for tree in world.trees(LinkPolicy::Inside) {
        let expected = ["sub/deep/file.txt", "sub/hard.txt", "sub/notes.txt"];
        assert_eq!(walk(&tree, "sub", 100).unwrap(), expected);
        let through = walk(&tree, "in-dir", 100).unwrap();
        assert_eq!(through[0], "in-dir/deep/file.txt");
        assert_eq!(walk(&tree, "notes.txt", 100).unwrap(), ["notes.txt"]);
        let all = walk(&tree, ".", 1_000).unwrap();
        assert!(all.iter().all(|path| !path.contains("out") || path == "hard-out.txt"), "{all:?}");
        assert!(
            all.is_sorted_by_key(|path| path.split('/').map(str::to_owned).collect::<Vec<_>>())
        );
        for (path, expected) in [
            ("in.txt", "denied"),
            ("out.txt", "denied"),
            ("out-dir", "denied"),
            ("hard-out.txt", "denied"),
            ("missing", "missing"),
            ("pipe", "special"),
            ("notes.txt/", "no folder"),
        ] {
            assert_eq!(word(&walk(&tree, path, 100)), expected, "{path}");
        }
        // What it comes to is opened by the same rules.
        let mut opened = Vec::new();
        tree.walk(&tree.path("sub").unwrap(), 100, &mut |file| {
            opened.push(word(&file.open().and_then(|file| file.read_text(100))));
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(opened, ["ok", "denied", "ok"]);
    }
}

#[test]
fn a_walk_ends_where_it_is_told_to() {
    let world = TreeFixture::new();
    for tree in world.trees(LinkPolicy::Inside) {
        let root = tree.path(".").unwrap();
        let mut visited = 0;
        let walked = tree
            .walk(&root, 1_000, &mut |_| {
                visited += 1;
                if visited == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
        assert_eq!((visited, walked.files, walked.cut), (3, 3, true));
        let mut look = |_: &guard::files::FoundFile<'_>| ControlFlow::Continue(());
        assert!(tree.walk(&root, 10, &mut look).unwrap().cut);
        assert!(!tree.walk(&root, 1_000, &mut look).unwrap().cut);
        let deep = vec!["deep"; 63].join("/");
        tree.write(&tree.path(&format!("{deep}/x")).unwrap(), b"", &|| true).unwrap();
        std::fs::create_dir_all(world.root().join(&deep).join("deeper/deepest")).unwrap();
        let walked = tree.walk(&tree.path("deep").unwrap(), 1_000, &mut look).unwrap();
        assert_eq!((walked.files, walked.passed_over), (1, 1));
        std::fs::remove_dir_all(world.root().join("deep")).unwrap();
    }
}
