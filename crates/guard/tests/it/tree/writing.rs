//! What a path leads to when it is written to, and how a file is replaced.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use guard::files::{FileError, FileTree, LinkPolicy, TEMPORARY_PREFIX, WriteOutcome, WriteTarget};

use super::{TreeFixture, always, snapshot, word};

/// The path, what writing to it gives, and what it gives where no link may be followed.
const CASES: &[(&str, &str, &str)] = &[
    ("new.txt", "ok", "ok"),
    ("notes.txt", "ok", "ok"),
    ("./notes.txt", "ok", "ok"),
    ("a/b/c.txt", "ok", "ok"),
    ("sub/deep/new.txt", "ok", "ok"),
    ("sub/new/new.txt", "ok", "ok"),
    ("latin.txt", "ok", "ok"),
    ("%2e%2e/x", "ok", "ok"),
    ("..%2fx", "ok", "ok"),
    ("\u{ff0e}\u{ff0e}/x", "ok", "ok"),
    ("~/y", "ok", "ok"),
    ("etc/passwd", "ok", "ok"),
    // The other name keeps the old content.
    ("hard-out.txt", "ok", "ok"),
    ("hard-in.txt", "ok", "ok"),
    // Up and out.
    ("../x", "denied", "denied"),
    ("../secret.txt", "denied", "denied"),
    ("../root/notes.txt", "denied", "denied"),
    ("a/../../x", "denied", "denied"),
    ("a/../x", "denied", "denied"),
    ("/etc/toolgate-was-here", "denied", "denied"),
    ("/tmp/toolgate-was-here", "denied", "denied"),
    ("/proc/self/oom_score_adj", "denied", "denied"),
    ("/dev/null", "denied", "denied"),
    ("..\\x", "denied", "denied"),
    ("C:/x", "denied", "denied"),
    ("x\0y", "denied", "denied"),
    ("x\u{202e}y", "denied", "denied"),
    ("x.", "denied", "denied"),
    ("x ", "denied", "denied"),
    ("x. /y", "denied", "denied"),
    ("", "denied", "denied"),
    (".toolgate-tmp-0", "denied", "denied"),
    // A link at the end is never written through, wherever it leads.
    ("in.txt", "denied", "denied"),
    ("chain1", "denied", "denied"),
    ("out.txt", "denied", "denied"),
    ("out-chain1", "denied", "denied"),
    ("out-absolute.txt", "denied", "denied"),
    ("out-null", "denied", "denied"),
    ("loop", "denied", "denied"),
    ("dangling.txt", "denied", "denied"),
    ("dangling-out.txt", "denied", "denied"),
    ("in-dir", "denied", "denied"),
    ("out-dir", "denied", "denied"),
    // A link on the way is followed inside.
    ("in-dir/x", "ok", "denied"),
    ("in-dir/new/x", "ok", "denied"),
    ("self/self/x", "ok", "denied"),
    ("sub/up/x", "ok", "denied"),
    ("sub/up/new/x", "ok", "denied"),
    ("sub/deep/two-up/x", "ok", "denied"),
    ("out-dir/x", "denied", "denied"),
    ("out-dir/new/x", "denied", "denied"),
    ("out-dir/root/x", "denied", "denied"),
    ("out-config/adam.yaml", "denied", "denied"),
    ("out-root/tmp/toolgate-was-here", "denied", "denied"),
    ("out-proc/oom_score_adj", "denied", "denied"),
    ("dangling-dir/x", "denied", "denied"),
    ("loop/x", "denied", "denied"),
    ("in-absolute.txt/x", "denied", "denied"),
    // What stands there is no file, or no folder.
    ("sub", "folder", "folder"),
    ("sub/", "folder", "folder"),
    ("new/", "folder", "folder"),
    (".", "folder", "folder"),
    ("notes.txt/x", "no folder", "no folder"),
    ("notes.txt/new/x", "no folder", "no folder"),
    ("notes.txt/", "folder", "folder"),
    ("pipe", "special", "special"),
    ("pipe/x", "no folder", "no folder"),
    ("socket", "special", "special"),
];

fn write(tree: &FileTree, text: &str, content: &str) -> Result<WriteOutcome, FileError> {
    tree.write(&tree.path(text)?, content.as_bytes(), &always)
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o7777
}

#[test]
fn a_write_ends_inside_or_nowhere() {
    assert!(CASES.len() >= 65, "{}", CASES.len());
    for (links, expected) in [(LinkPolicy::Inside, 0), (LinkPolicy::Refused, 1)] {
        for way in 0..2 {
            for (path, inside, refused) in CASES {
                let expected = [*inside, *refused][expected];
                let world = TreeFixture::new();
                let tree = &world.trees(links)[way];
                let before = snapshot(&world.root());
                let looked = tree.path(path).and_then(|path| tree.preview_write(&path));
                assert_eq!(snapshot(&world.root()), before, "{path:?}: a look changes nothing");
                let got = write(tree, path, "new content");
                assert_eq!(word(&looked), word(&got), "{path:?}: {looked:?} became {got:?}");
                if let (Ok(before), Ok(written)) = (&looked, &got) {
                    assert_eq!(matches!(before, WriteTarget::Nothing), written.created, "{path:?}");
                }
                assert_eq!(word(&got), expected, "{path:?} {links:?} {way}: {got:?}");
                world.is_untouched(path);
                if got.is_ok() {
                    let text = tree.read_text(&tree.path(path).unwrap(), 100).unwrap();
                    assert_eq!(text, "new content", "{path:?}");
                } else {
                    assert_eq!(snapshot(&world.root()), before, "{path:?}: something changed");
                }
            }
        }
    }
}

#[test]
fn the_other_name_of_a_file_keeps_its_content() {
    let world = TreeFixture::new();
    for tree in world.trees(LinkPolicy::Inside) {
        write(&tree, "hard-in.txt", "new").unwrap();
        assert_eq!(std::fs::read_to_string(world.root().join("sub/hard.txt")).unwrap(), "hard");
        world.is_untouched("hard link");
    }
}

#[test]
fn new_files_and_folders_are_made_as_usual_and_old_ones_stay_as_they_are() {
    let world = TreeFixture::new();
    let umask = {
        // What a plain program would make here.
        std::fs::create_dir(world.root().join("usual")).unwrap();
        0o777 & !mode(&world.root().join("usual"))
    };
    for tree in world.trees(LinkPolicy::Inside) {
        let created = write(&tree, "made/by/us.txt", "1").unwrap();
        assert_eq!(created, WriteOutcome { bytes: 1, created: true });
        assert_eq!(mode(&world.root().join("made/by")), 0o777 & !umask);
        assert_eq!(mode(&world.root().join("made/by/us.txt")), 0o644 & !umask);
        for kept in [0o600, 0o640, 0o755, 0o666, 0o200] {
            let path = world.root().join("kept.txt");
            std::fs::write(&path, "old").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(kept)).unwrap();
            let replaced = write(&tree, "kept.txt", "new!").unwrap();
            assert_eq!(replaced, WriteOutcome { bytes: 4, created: false });
            assert_eq!(mode(&path), kept, "{kept:o}");
        }
        // New content must not run with the rights of the old file's owner.
        let path = world.root().join("suid");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o6755)).unwrap();
        write(&tree, "suid", "new").unwrap();
        assert_eq!(mode(&path), 0o755);
        std::fs::remove_dir_all(world.root().join("made")).unwrap();
    }
}

#[test]
fn the_owner_of_a_replaced_file_stays_the_owner() {
    let world = TreeFixture::new();
    let path = world.root().join("theirs.txt");
    for tree in world.trees(LinkPolicy::Inside) {
        std::fs::write(&path, "old").unwrap();
        if std::os::unix::fs::chown(&path, Some(12_345), Some(12_346)).is_err() {
            return testkit::skipped("only root can give files away");
        }
        write(&tree, "theirs.txt", "new").unwrap();
        let metadata = path.metadata().unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (12_345, 12_346));
    }
}

#[test]
fn a_file_that_nobody_may_write_to_is_not_replaced() {
    let world = TreeFixture::new();
    let path = world.root().join("notes.txt");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    for tree in world.trees(LinkPolicy::Inside) {
        assert_eq!(word(&write(&tree, "notes.txt", "new")), "read-only");
        let path_in_tree = tree.path("notes.txt").unwrap();
        assert_eq!(word(&tree.preview_write(&path_in_tree)), "read-only");
        assert_eq!(word(&tree.preview_edit(&path_in_tree, 100)), "read-only");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "notes");
    }
}

#[test]
fn a_write_that_nobody_waits_for_changes_nothing() {
    let world = TreeFixture::new();
    for tree in world.trees(LinkPolicy::Inside) {
        let before = snapshot(&world.root());
        for (path, calls) in [("notes.txt", 0), ("notes.txt", 1), ("new/x.txt", 0)] {
            let left = std::cell::Cell::new(calls);
            let go_on = || left.replace(left.get() - 1) > 0;
            let got = tree.write(&tree.path(path).unwrap(), b"new", &go_on);
            assert_eq!(word(&got), "stopped", "{path}");
        }
        assert_eq!(snapshot(&world.root()), before);
    }
}

#[test]
fn what_a_crash_left_is_hidden_and_goes_away_after_an_hour() {
    let world = TreeFixture::new();
    let make = |name: &str, age: u64| {
        let path = world.root().join("sub").join(name);
        std::fs::write(&path, "half").unwrap();
        let then = SystemTime::now() - Duration::from_secs(age);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
        path
    };
    for tree in world.trees(LinkPolicy::Inside) {
        let name = |end: &str| format!("{TEMPORARY_PREFIX}{end:0>32}");
        let (old, young) = (make(&name("01d"), 3_700), make(&name("2"), 3_500));
        let foreign = [
            ".somebody-elses-tmp".to_owned(),
            ".Toolgate-TMP-my-notes".to_owned(),
            format!("{TEMPORARY_PREFIX}my-notes"),
            name("A"),
            name("01d").to_uppercase(),
        ]
        .map(|name| make(&name, 100_000));
        let folder = world.root().join("sub").join(name("f"));
        std::fs::create_dir_all(&folder).unwrap();
        let listed = tree.list(&tree.path("sub").unwrap(), 100).unwrap();
        assert!(listed.entries.iter().all(|entry| !entry.name.contains("toolgate")));
        assert_eq!(word(&write(&tree, &format!("sub/{}", name("01d")), "x")), "denied");
        // A write elsewhere is no reason to look here.
        write(&tree, "elsewhere.txt", "x").unwrap();
        assert!(old.exists());
        write(&tree, "sub/x.txt", "x").unwrap();
        assert!(!old.exists() && young.exists() && folder.exists());
        assert!(foreign.iter().all(|path| path.exists()));
        // Not at every write: a folder may be large.
        let later = make(&name("3"), 3_700);
        write(&tree, "sub/x.txt", "y").unwrap();
        assert!(later.exists());
        for path in [young, later].into_iter().chain(foreign) {
            std::fs::remove_file(path).unwrap();
        }
        std::fs::remove_dir(folder).unwrap();
    }
}

/// A sweep must not follow a name that looks like ours out of the folder.
#[test]
fn a_planted_temporary_file_is_not_followed() {
    let world = TreeFixture::new();
    let secret = world.outside().join("secret.txt");
    let then = SystemTime::now() - Duration::from_hours(100);
    std::fs::File::options().write(true).open(&secret).unwrap().set_modified(then).unwrap();
    let planted = world.root().join(format!("{TEMPORARY_PREFIX}{:032x}", 7));
    symlink("../secret.txt", &planted).unwrap();
    for tree in world.trees(LinkPolicy::Inside) {
        write(&tree, "notes.txt", "new").unwrap();
        assert!(secret.exists() && planted.is_symlink());
    }
}

#[test]
fn large_and_odd_contents_are_written_as_they_are() {
    let world = TreeFixture::new();
    let large: Vec<u8> = (0..5_000_000_u32).flat_map(u32::to_le_bytes).collect();
    for tree in world.trees(LinkPolicy::Inside) {
        for bytes in [&b""[..], b"\0", b"\xff\xfe", "Grüße\r\n".as_bytes(), &large] {
            let path = tree.path("contents").unwrap();
            tree.write(&path, bytes, &always).unwrap();
            assert_eq!(tree.read(&path, 100_000_000).unwrap(), bytes);
        }
    }
    world.is_untouched("contents");
}
