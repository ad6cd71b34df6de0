//! What a path leads to when it is read: over a hundred of them, in both ways and by both rules.

use std::io::{Seek, Write};

use guard::files::{FileError, FileTree, LinkPolicy};

use super::{TreeFixture, word};

/// The path, what reading it gives, and what it gives where no link may be followed.
const CASES: &[(&str, &str, &str)] = &[
    // Plain files.
    ("notes.txt", "notes", "notes"),
    ("./notes.txt", "notes", "notes"),
    ("sub//notes.txt", "sub notes", "sub notes"),
    ("sub/./deep/./file.txt", "deep", "deep"),
    ("empty.txt", "", ""),
    (".hidden", "hidden", "hidden"),
    ("..data", "two dots", "two dots"),
    ("...data", "three dots", "three dots"),
    ("with space.txt", "space", "space"),
    (" leading.txt", "leading", "leading"),
    ("1:b.txt", "digit", "digit"),
    ("~/x.txt", "tilde", "tilde"),
    ("$HOME/x.txt", "dollar", "dollar"),
    ("-rf", "dash", "dash"),
    ("*.txt", "star", "star"),
    ("'; rm -rf ~", "quote", "quote"),
    ("🦀.txt", "crab", "crab"),
    ("nul.txt", "a\0b", "a\0b"),
    // Case, Unicode and encodings: a name is itself and nothing else.
    ("NOTES.TXT", "!missing", "!missing"),
    ("Notes.txt", "!missing", "!missing"),
    ("upper.txt", "!missing", "!missing"),
    ("UPPER.TXT", "upper", "upper"),
    ("caf\u{e9}.txt", "composed", "composed"),
    ("cafe\u{301}.txt", "decomposed", "decomposed"),
    ("CAF\u{c9}.txt", "!missing", "!missing"),
    ("\u{ff4e}otes.txt", "!missing", "!missing"),
    ("n\u{43e}tes.txt", "!missing", "!missing"),
    ("%2e%2e/secret.txt", "percent", "percent"),
    ("%2e%2e%2fsecret.txt", "encoded", "encoded"),
    ("%2E%2E/secret.txt", "!missing", "!missing"),
    ("..%2fsecret.txt", "!missing", "!missing"),
    ("%252e%252e/secret.txt", "!missing", "!missing"),
    ("%c0%ae%c0%ae/secret.txt", "!missing", "!missing"),
    ("..%c0%afsecret.txt", "!missing", "!missing"),
    ("notes%2etxt", "!missing", "!missing"),
    ("notes.txt%00", "!missing", "!missing"),
    ("\u{ff0e}\u{ff0e}/secret.txt", "fullwidth", "fullwidth"),
    ("\u{2024}\u{2024}/secret.txt", "leaders", "leaders"),
    ("..\u{2215}secret.txt", "slash-like", "slash-like"),
    ("..\u{2044}secret.txt", "!missing", "!missing"),
    ("..\u{ff3c}secret.txt", "!missing", "!missing"),
    // Up and out.
    ("..", "!denied", "!denied"),
    ("../secret.txt", "!denied", "!denied"),
    ("../config/adam.yaml", "!denied", "!denied"),
    ("../root/notes.txt", "!denied", "!denied"),
    ("../root-too/secret.txt", "!denied", "!denied"),
    ("../..secret/x", "!denied", "!denied"),
    ("a/../../x", "!denied", "!denied"),
    ("sub/../notes.txt", "!denied", "!denied"),
    ("sub/..", "!denied", "!denied"),
    ("./../secret.txt", "!denied", "!denied"),
    ("sub/deep/../../../secret.txt", "!denied", "!denied"),
    (".../secret.txt", "!denied", "!denied"),
    ("....//secret.txt", "!denied", "!denied"),
    ("..\\secret.txt", "!denied", "!denied"),
    ("sub\\notes.txt", "!denied", "!denied"),
    ("..;/secret.txt", "!missing", "!missing"),
    ("C:/notes.txt", "!denied", "!denied"),
    ("file:///etc/passwd", "!missing", "!missing"),
    ("", "!denied", "!denied"),
    ("notes.txt\0", "!denied", "!denied"),
    ("notes.txt\0.png", "!denied", "!denied"),
    ("notes.txt\n", "!denied", "!denied"),
    ("notes.txt ", "!denied", "!denied"),
    ("notes.txt.", "!denied", "!denied"),
    ("notes.txt::$DATA", "!missing", "!missing"),
    ("notes\u{200b}.txt", "!denied", "!denied"),
    ("notes\u{202e}.txt", "!denied", "!denied"),
    // Elsewhere on this machine.
    ("/etc/passwd", "!denied", "!denied"),
    ("//etc/passwd", "!denied", "!denied"),
    ("/./etc/passwd", "!denied", "!denied"),
    ("/proc/self/environ", "!denied", "!denied"),
    ("/proc/self/cwd/notes.txt", "!denied", "!denied"),
    ("/proc/self/fd/0", "!denied", "!denied"),
    ("/dev/null", "!denied", "!denied"),
    ("/dev/zero", "!denied", "!denied"),
    ("/dev/stdin", "!denied", "!denied"),
    ("/dev/fd/0", "!denied", "!denied"),
    ("/sys/kernel/notes", "!denied", "!denied"),
    ("/", "!denied", "!denied"),
    ("etc/passwd", "!missing", "!missing"),
    // LinkPolicy that stay inside.
    ("in.txt", "notes", "!denied"),
    ("in-winding.txt", "notes", "!denied"),
    ("in-dir/notes.txt", "sub notes", "!denied"),
    ("in-dir-slash/notes.txt", "sub notes", "!denied"),
    ("in-dir/deep/file.txt", "deep", "!denied"),
    ("in-dir/up.txt", "notes", "!denied"),
    ("self/notes.txt", "notes", "!denied"),
    ("self/self/self/notes.txt", "notes", "!denied"),
    ("sub/up.txt", "notes", "!denied"),
    ("sub/up/notes.txt", "notes", "!denied"),
    ("sub/up/sub/up/sub/notes.txt", "sub notes", "!denied"),
    ("sub/deep/two-up/notes.txt", "notes", "!denied"),
    ("chain1", "notes", "!denied"),
    ("chain2", "notes", "!denied"),
    ("steps39", "notes", "!denied"),
    // LinkPolicy that do not, or that leave and come back.
    ("out.txt", "!denied", "!denied"),
    ("out-dir/secret.txt", "!denied", "!denied"),
    ("out-dir/root/notes.txt", "!denied", "!denied"),
    ("out-config/adam.yaml", "!denied", "!denied"),
    ("out-winding.txt", "!denied", "!denied"),
    ("out-chain1", "!denied", "!denied"),
    ("out-chain2", "!denied", "!denied"),
    ("around.txt", "!denied", "!denied"),
    ("sub/around.txt", "!denied", "!denied"),
    ("in-dir/around.txt", "!denied", "!denied"),
    ("out-absolute.txt", "!denied", "!denied"),
    ("in-absolute.txt", "!denied", "!denied"),
    ("out-root/etc/passwd", "!denied", "!denied"),
    ("out-passwd", "!denied", "!denied"),
    ("out-proc/environ", "!denied", "!denied"),
    ("out-proc-root/etc/passwd", "!denied", "!denied"),
    ("out-null", "!denied", "!denied"),
    ("dangling-out.txt", "!denied", "!denied"),
    // LinkPolicy that lead nowhere.
    ("loop", "!denied", "!denied"),
    ("loop/x", "!denied", "!denied"),
    ("ping", "!denied", "!denied"),
    ("steps40", "!denied", "!denied"),
    ("steps44", "!denied", "!denied"),
    ("dangling.txt", "!missing", "!denied"),
    ("dangling-dir/x", "!missing", "!denied"),
    ("in-slash.txt", "!no folder", "!denied"),
    // What is not there, or is no file.
    ("missing.txt", "!missing", "!missing"),
    ("missing/missing.txt", "!missing", "!missing"),
    ("notes.txt/x", "!no folder", "!no folder"),
    ("notes.txt/", "!denied", "!denied"),
    ("notes.txt/.", "!denied", "!denied"),
    ("sub", "!folder", "!folder"),
    ("sub/", "!folder", "!folder"),
    (".", "!folder", "!folder"),
    ("./", "!folder", "!folder"),
    ("in-dir", "!folder", "!denied"),
    ("self", "!folder", "!denied"),
    ("pipe", "!special", "!special"),
    ("socket", "!special", "!special"),
    ("pipe/x", "!no folder", "!no folder"),
    // A second name may lie outside.
    ("hard-out.txt", "!denied", "!denied"),
    ("hard-in.txt", "!denied", "!denied"),
    ("sub/hard.txt", "!denied", "!denied"),
    // No text.
    ("latin.txt", "!no text", "!no text"),
    ("bom16.txt", "!no text", "!no text"),
    ("cut.txt", "!no text", "!no text"),
    // Our own temporary files.
    (".toolgate-tmp-0", "!denied", "!denied"),
];

fn read(tree: &FileTree, text: &str) -> Result<String, FileError> {
    tree.read_text(&tree.path(text)?, 1_000)
}

#[test]
fn a_path_leads_to_a_file_inside_or_nowhere() {
    assert!(CASES.len() >= 130, "{}", CASES.len());
    let world = TreeFixture::new();
    for (links, expected) in [(LinkPolicy::Inside, 0), (LinkPolicy::Refused, 1)] {
        for tree in world.trees(links) {
            for (path, inside, refused) in CASES {
                let expected = [inside, refused][expected];
                let got = read(&tree, path);
                let told = match &got {
                    Ok(text) => text.clone(),
                    Err(_) => format!("!{}", word(&got)),
                };
                assert_eq!(told, **expected, "{path:?} {links:?} {tree:?}: {got:?}");
            }
        }
    }
    world.is_untouched("reading");
}

#[test]
fn names_at_the_limits_are_found() {
    let world = TreeFixture::new();
    let long = "n".repeat(255);
    let deep = vec!["d"; 63].join("/");
    std::fs::create_dir_all(world.root().join(&deep)).unwrap();
    std::fs::write(world.root().join(&deep).join("x"), "deepest").unwrap();
    std::fs::create_dir(world.root().join(&deep).join("d")).unwrap();
    std::fs::write(world.root().join(&deep).join("d/x"), "too deep").unwrap();
    for links in [LinkPolicy::Inside, LinkPolicy::Refused] {
        for tree in world.trees(links) {
            assert_eq!(read(&tree, &long).unwrap(), "long");
            assert_eq!(word(&read(&tree, &"n".repeat(254))), "missing");
            assert_eq!(word(&read(&tree, &"n".repeat(256))), "denied");
            assert_eq!(read(&tree, &format!("{deep}/x")).unwrap(), "deepest");
            assert_eq!(word(&read(&tree, &format!("{deep}/d/x"))), "denied");
            let longest = vec![long.as_str(); 16].join("/");
            assert_eq!(word(&read(&tree, &longest)), "no folder", "{}", longest.len());
            assert_eq!(word(&read(&tree, &format!("{longest}/n"))), "denied");
        }
    }
}

#[test]
fn an_absolute_path_may_name_the_folder_itself() {
    let world = TreeFixture::new();
    let other_name = world.outside().join("by-link");
    std::os::unix::fs::symlink("root", &other_name).unwrap();
    let text = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    for root in [world.root(), other_name] {
        let tree = FileTree::new(&root);
        let canonical = root.canonicalize().unwrap();
        for prefix in [text(&root), text(&canonical), format!("//{}", text(&root))] {
            assert_eq!(read(&tree, &format!("{prefix}/notes.txt")).unwrap(), "notes");
            assert_eq!(read(&tree, &format!("{prefix}//sub/./notes.txt")).unwrap(), "sub notes");
            assert_eq!(word(&read(&tree, &prefix)), "folder");
            assert_eq!(word(&read(&tree, &format!("{prefix}/"))), "folder");
            for tail in [
                "/../secret.txt",
                "/sub/../notes.txt",
                "/out.txt",
                "-too/secret.txt",
                "\\notes.txt",
                "/notes.txt\0",
                "/hard-out.txt",
                "/a\u{202e}",
            ] {
                let path = format!("{prefix}{tail}");
                assert_eq!(word(&read(&tree, &path)), "denied", "{path}");
            }
        }
    }
}

/// None of these may wait for a peer, and opening a device must not do what opening it does.
#[test]
fn devices_are_not_opened() {
    let world = TreeFixture::new();
    for tree in world.trees(LinkPolicy::Inside) {
        let got = word(&read(&tree, "device"));
        assert!(got == "special" || !world.root().join("device").exists(), "{got}");
    }
}

#[test]
fn files_of_the_kernel_are_not_read_even_below_the_root() {
    for links in [LinkPolicy::Inside, LinkPolicy::Refused] {
        for resolver in [None, Some(guard::files::Resolver::Steps)] {
            let mut tree = FileTree::new("/").links(links);
            if let Some(resolver) = resolver {
                tree = tree.resolver(resolver);
            }
            for path in [
                "/proc/self/environ",
                "proc/self/status",
                "proc/1/cmdline",
                "proc/self/fd/0",
                "proc/self/root/etc/passwd",
                "proc/self/cwd/Cargo.toml",
                "proc/self/exe",
                "proc/sys/kernel/hostname",
                "proc/version",
                "sys/kernel/notes",
                "sys/kernel/mm/transparent_hugepage/enabled",
                "dev/null",
                "dev/zero",
                "dev/full",
                "dev/tty",
                "dev/stdin",
                "dev/fd/0",
            ] {
                let got = tree.path(path).and_then(|path| tree.open(&path));
                let expected = ["denied", "special", "missing", "no folder"];
                assert!(expected.contains(&word(&got)), "{path} {links:?}: {got:?}");
            }
            let status = tree.path("proc/self").and_then(|path| tree.stat(&path));
            assert_eq!(word(&status), "denied", "{links:?}");
        }
    }
}

#[test]
fn the_limit_is_counted_and_not_believed() {
    let world = TreeFixture::new();
    let path = world.root().join("large.txt");
    for tree in world.trees(LinkPolicy::Inside) {
        std::fs::write(&path, "x".repeat(1_000)).unwrap();
        let name = tree.path("large.txt").unwrap();
        assert_eq!(tree.read(&name, 1_000).unwrap().len(), 1_000);
        assert!(matches!(tree.read(&name, 999), Err(FileError::TooLarge { limit: 999 })));
        assert_eq!(word(&tree.read(&name, 0)), "too large");
        assert_eq!(tree.read(&tree.path("empty.txt").unwrap(), 0).unwrap(), b"");

        // It grows after it was opened, within the limit and beyond it.
        for (grown, expected) in [(2_000, Ok(2_000)), (2_001, Err(()))] {
            std::fs::write(&path, "x".repeat(1_000)).unwrap();
            let opened = tree.open(&name).unwrap();
            assert_eq!(opened.status.bytes, 1_000);
            let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
            file.write_all("y".repeat(grown - 1_000).as_bytes()).unwrap();
            let got = opened.read(2_000).map(|bytes| bytes.len()).map_err(drop);
            assert_eq!(got, expected);
        }
        // It shrinks.
        std::fs::write(&path, "x".repeat(1_000)).unwrap();
        let opened = tree.open(&name).unwrap();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(10).unwrap();
        assert_eq!(opened.read(2_000).unwrap().len(), 10);
    }
}

#[test]
fn a_file_that_grows_all_the_time_comes_to_an_end() {
    let world = TreeFixture::new();
    let path = world.root().join("growing.txt");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::fs::write(&path, "start").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            let line = "z".repeat(4_096);
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                file.write_all(line.as_bytes()).unwrap();
                if file.stream_position().unwrap() > 50_000_000 {
                    file.set_len(0).unwrap();
                    file.rewind().unwrap();
                }
            }
        });
        let results: Vec<_> = world
            .trees(LinkPolicy::Inside)
            .iter()
            .flat_map(|tree| {
                (0..200).map(|_| tree.read(&tree.path("growing.txt").unwrap(), 100_000))
            })
            .collect();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        for result in results {
            assert!(matches!(word(&result), "ok" | "too large"), "{result:?}");
            assert!(result.map_or(0, |bytes| bytes.len()) <= 100_000);
        }
    });
}

#[test]
fn a_sparse_file_of_ten_gigabytes_takes_neither_time_nor_memory() {
    let world = TreeFixture::new();
    let file = std::fs::File::create(world.root().join("sparse")).unwrap();
    file.set_len(10 * 1_024 * 1_024 * 1_024).unwrap();
    let began = std::time::Instant::now();
    for tree in world.trees(LinkPolicy::Inside) {
        let path = tree.path("sparse").unwrap();
        assert_eq!(word(&tree.read(&path, 5_242_880)), "too large");
        assert_eq!(tree.stat(&path).unwrap().bytes, 10_737_418_240);
    }
    assert!(began.elapsed() < std::time::Duration::from_secs(2));
}
