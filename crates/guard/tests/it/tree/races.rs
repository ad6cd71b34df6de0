//! Somebody exchanges files and folders for links, all the time, while we read and write.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use guard::files::{FileTree, LinkPolicy};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{TreeFixture, always, path_property::SECRET, word};

const READS: usize = 10_000;
const WRITES: usize = 1_500;

/// Tells the others to end, also where the work fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` while the two paths of each pair are exchanged for each other, again and again.
fn while_exchanging(pairs: &[(&Path, &Path)], work: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for (one, other) in pairs {
            let stop = &stop;
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    // Now and then one of them is not there: the other side replaces files.
                    let _ = renameat_with(CWD, *one, CWD, *other, RenameFlags::EXCHANGE);
                }
            });
        }
        let _stop = Stop(&stop);
        work();
    });
}

/// How often each outcome came about: at least so many tries, and on a busy machine as many more as it
/// takes for the race to have been won and lost.
fn tally(
    tries: usize,
    mut attempt: impl FnMut(usize) -> &'static str,
) -> BTreeMap<&'static str, usize> {
    let began = Instant::now();
    let mut counts = BTreeMap::new();
    let both = |counts: &BTreeMap<_, _>| {
        ["ok", "denied"].iter().all(|word| counts.get(word).is_some_and(|count| *count >= 20))
    };
    let mut turn = 0;
    while turn < tries || !both(&counts) {
        assert!(began.elapsed() < Duration::from_mins(1), "the race was never on: {counts:?}");
        *counts.entry(attempt(turn)).or_default() += 1;
        turn += 1;
    }
    counts
}

/// Reads a file that says `inside`, in every way; whatever else is there is refused.
fn is_read_inside(world: &TreeFixture, path: &str) {
    for links in [LinkPolicy::Inside, LinkPolicy::Refused] {
        for tree in world.trees(links) {
            let path = tree.path(path).unwrap();
            let counts = tally(READS, |_| {
                let got = tree.read_text(&path, 1_000);
                assert!(got.as_ref().is_ok_and(|text| text == "inside") || got.is_err());
                word(&got)
            });
            assert_eq!(counts.len(), 2, "{counts:?}");
        }
    }
}

#[test]
fn a_file_exchanged_for_a_link_is_never_read_outside() {
    let world = TreeFixture::new();
    let (file, link) = (world.root().join("spot"), world.root().join("swap"));
    std::fs::write(&file, "inside").unwrap();
    symlink("../secret.txt", &link).unwrap();
    while_exchanging(&[(&file, &link)], || is_read_inside(&world, "spot"));
    world.is_untouched("race");
}

#[test]
fn a_folder_exchanged_for_a_link_is_never_read_outside() {
    let world = TreeFixture::new();
    let folder = |name: &str| {
        let path = world.root().join(name);
        std::fs::create_dir(&path).unwrap();
        path
    };
    let (real, link) = (folder("real"), world.root().join("link"));
    std::fs::create_dir(real.join("in")).unwrap();
    std::fs::write(real.join("in/secret.txt"), "inside").unwrap();
    let evil = world.outside().join("evil/in");
    std::fs::create_dir_all(&evil).unwrap();
    std::fs::write(evil.join("secret.txt"), SECRET).unwrap();
    symlink("../evil", &link).unwrap();
    while_exchanging(&[(&real, &link)], || is_read_inside(&world, "real/in/secret.txt"));
}

/// A link with `..` in it, while the folder that it lies in moves deeper and back: `..` must not
/// be taken from where the folder is now.
#[test]
fn a_folder_that_moves_does_not_take_a_link_outside() {
    let world = TreeFixture::new();
    let root = world.root();
    std::fs::create_dir_all(root.join("x/y/z")).unwrap();
    std::fs::create_dir_all(root.join("moving/inner")).unwrap();
    symlink("../../notes.txt", root.join("moving/inner/up.txt")).unwrap();
    symlink("../../secret.txt", root.join("moving/inner/out.txt")).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                std::fs::rename(root.join("moving/inner"), root.join("x/y/z/inner")).unwrap();
                std::fs::rename(root.join("x/y/z/inner"), root.join("moving/inner")).unwrap();
            }
        });
        for tree in world.trees(LinkPolicy::Inside) {
            for name in ["up.txt", "out.txt"] {
                let path = tree.path(&format!("moving/inner/{name}")).unwrap();
                for _ in 0..READS {
                    if let Ok(text) = tree.read_text(&path, 1_000) {
                        assert_eq!(text, "notes");
                    }
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    world.is_untouched("moving");
}

#[test]
fn a_folder_exchanged_for_a_link_is_never_written_outside() {
    let world = TreeFixture::new();
    let (real, link) = (world.root().join("real"), world.root().join("link"));
    std::fs::create_dir(&real).unwrap();
    symlink("../config", &link).unwrap();
    while_exchanging(&[(&real, &link)], || {
        for links in [LinkPolicy::Inside, LinkPolicy::Refused] {
            for tree in world.trees(links) {
                let counts = tally(WRITES, |turn| {
                    let text = match turn % 3 {
                        0 => "real/adam.yaml".to_owned(),
                        1 => format!("real/new{}/x.txt", turn % 30),
                        _ => format!("real/a/b{}/c/d.txt", turn % 30),
                    };
                    let got = tree.write(&tree.path(&text).unwrap(), b"written", &always);
                    word(&got)
                });
                // That somebody interferes is no fault of ours, and need not always be told alike.
                let known = ["ok", "denied", "missing", "no folder", "changed"];
                assert!(counts.keys().all(|word| known.contains(word)), "{counts:?}");
            }
        }
    });
    world.is_untouched("race");
}

#[test]
fn a_file_exchanged_for_a_link_is_never_written_through() {
    let world = TreeFixture::new();
    let (file, link) = (world.root().join("spot"), world.root().join("swap"));
    std::fs::write(&file, "inside").unwrap();
    symlink("../secret.txt", &link).unwrap();
    while_exchanging(&[(&file, &link)], || {
        for tree in world.trees(LinkPolicy::Inside) {
            let path = tree.path("spot").unwrap();
            for _ in 0..WRITES {
                let got = tree.write(&path, b"written", &always);
                assert!(matches!(word(&got), "ok" | "denied"), "{got:?}");
                let edited = tree.edit(&path, 1_000, &always, |text| {
                    assert_ne!(text, SECRET);
                    Ok::<_, guard::files::FileError>(("edited".to_owned(), ()))
                });
                assert!(matches!(word(&edited), "ok" | "denied" | "changed"), "{edited:?}");
                // When the link is replaced the swapping ends; put it back.
                if !link.is_symlink() && !file.is_symlink() {
                    let _ = std::fs::remove_file(&link);
                    let _ = symlink("../secret.txt", &link);
                }
            }
        }
    });
    world.is_untouched("race");
}

#[test]
fn folders_made_by_many_at_once_are_made_once() {
    let world = TreeFixture::new();
    for tree in world.trees(LinkPolicy::Inside) {
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let tree: &FileTree = &tree;
                scope.spawn(move || {
                    for turn in 0..20 {
                        let text = format!("many/{turn}/a/b/c/{thread}.txt");
                        let path = tree.path(&text).unwrap();
                        tree.write(&path, b"x", &always).unwrap();
                    }
                });
            }
        });
        let mut count = 0;
        let many = tree.path("many").unwrap();
        tree.walk(&many, 10_000, &mut |_| {
            count += 1;
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(count, 160);
        std::fs::remove_dir_all(world.root().join("many")).unwrap();
    }
}

#[test]
fn a_reader_sees_the_old_or_the_new_content() {
    let world = TreeFixture::new();
    for tree in world.trees(LinkPolicy::Inside) {
        let path = tree.path("whole.txt").unwrap();
        let content = |letter: &str| letter.repeat(300_000);
        tree.write(&path, content("a").as_bytes(), &always).unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let text = tree.read_text(&path, 1_000_000).unwrap();
                        assert_eq!(text.len(), 300_000);
                        assert!(text.bytes().all(|byte| byte == text.as_bytes()[0]));
                    }
                });
            }
            for turn in 0..100 {
                let letter = if turn % 2 == 0 { "b" } else { "c" };
                tree.write(&path, content(letter).as_bytes(), &always).unwrap();
            }
            stop.store(true, Ordering::Relaxed);
        });
    }
}
