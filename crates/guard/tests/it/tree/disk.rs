//! A disk that is full or read-only, and files that are not ours.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use guard::files::{FileTree, LinkPolicy, Resolver};
use rustix::fs::{IFlags, ioctl_setflags};
use rustix::thread::{Gid, Uid, set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use testkit::{TmpfsMount, skipped, until};

use super::{TreeFixture, always, snapshot, word};

fn both(root: &Path) -> [FileTree; 2] {
    [FileTree::new(root), FileTree::new(root).resolver(Resolver::Steps)]
}

#[test]
fn a_full_disk_leaves_the_old_content() {
    let Some(mount) = TmpfsMount::new("size=256k") else { return };
    for tree in both(mount.path()) {
        let path = tree.path("sub/notes.txt").unwrap();
        let old = "old ".repeat(10_000);
        tree.write(&path, old.as_bytes(), &always).unwrap();
        let before = snapshot(mount.path());
        for _ in 0..20 {
            let got = tree.write(&path, &vec![b'x'; 400_000], &always);
            assert_eq!(word(&got), "full", "{got:?}");
            let edited = tree.edit(&path, 1_000_000, &always, |_| {
                Ok::<_, guard::files::FileError>(("y".repeat(400_000), ()))
            });
            assert_eq!(word(&edited), "full", "{edited:?}");
            assert_eq!(snapshot(mount.path()), before);
        }
        // What was begun has been taken away again, so that there is room, as soon as the kernel has counted it.
        until("there is room", || tree.write(&path, &vec![b'x'; 150_000], &always).is_ok());
        std::fs::remove_dir_all(mount.path().join("sub")).unwrap();
    }
}

#[test]
fn no_room_for_another_name_leaves_everything_as_it_was() {
    let Some(mount) = TmpfsMount::new("size=1m,nr_inodes=4") else { return };
    for tree in both(mount.path()) {
        // The root takes one of the four.
        for name in ["a", "b", "c"] {
            tree.write(&tree.path(name).unwrap(), name.as_bytes(), &always).unwrap();
        }
        let before = snapshot(mount.path());
        for path in ["a", "d", "new/folder/x"] {
            let got = tree.write(&tree.path(path).unwrap(), b"new", &always);
            assert_eq!(word(&got), "full", "{path}: {got:?}");
        }
        assert_eq!(snapshot(mount.path()), before);
        for name in ["a", "b", "c"] {
            std::fs::remove_file(mount.path().join(name)).unwrap();
        }
    }
}

#[test]
fn a_read_only_disk_can_be_read() {
    let Some(mount) = TmpfsMount::new("size=1m") else { return };
    std::fs::write(mount.path().join("notes.txt"), "notes").unwrap();
    mount.remount("ro");
    for tree in both(mount.path()) {
        let path = tree.path("notes.txt").unwrap();
        assert_eq!(tree.read_text(&path, 100).unwrap(), "notes");
        for text in ["notes.txt", "new.txt", "new/folder/x.txt"] {
            let got = tree.write(&tree.path(text).unwrap(), b"new", &always);
            assert_eq!(word(&got), "read-only", "{text}: {got:?}");
        }
        let missing = FileTree::new(mount.path().join("missing")).create_root();
        let got = missing.read(&path, 100);
        assert_eq!(word(&got), "io", "{got:?}");
    }
}

#[test]
fn a_file_that_must_not_change_does_not() {
    let world = TreeFixture::new();
    let path = world.root().join("notes.txt");
    let file = std::fs::File::open(&path).unwrap();
    if ioctl_setflags(&file, IFlags::IMMUTABLE).is_err() {
        return skipped("files cannot be made immutable here");
    }
    let before = snapshot(&world.root());
    let got: Vec<_> = world
        .trees(LinkPolicy::Inside)
        .iter()
        .map(|tree| word(&tree.write(&tree.path("notes.txt").unwrap(), b"new", &always)))
        .collect();
    let after = snapshot(&world.root());
    ioctl_setflags(&file, IFlags::empty()).unwrap();
    assert_eq!(got, ["forbidden", "forbidden"]);
    assert_eq!(before, after);
}

/// Root may do anything, so a thread of the test becomes somebody else.
#[test]
fn files_of_others_are_refused_by_the_system() {
    let world = TreeFixture::new();
    let set = |path: &str, mode: u32| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(world.root().join(path), mode).unwrap();
    };
    std::fs::set_permissions(world.outside(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let closed = world.root().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::write(closed.join("x.txt"), "x").unwrap();
    std::fs::create_dir(world.root().join("open")).unwrap();
    std::fs::write(world.root().join("open/theirs.txt"), "theirs").unwrap();
    set("notes.txt", 0o000);
    set("sub/notes.txt", 0o000);
    set("closed", 0o000);
    set("open", 0o777);
    set("open/theirs.txt", 0o644);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if !become_nobody() {
                return skipped("a thread cannot become another user here");
            }
            for tree in world.trees(LinkPolicy::Inside) {
                let path = |text: &str| tree.path(text).unwrap();
                let read = |text: &str| word(&tree.read(&path(text), 100));
                let write = |text: &str| word(&tree.write(&path(text), b"new", &always));
                assert_eq!(read("empty.txt"), "ok");
                for text in ["notes.txt", "in.txt", "sub/notes.txt", "closed/x.txt"] {
                    assert_eq!(read(text), "forbidden", "{text}");
                }
                assert_eq!(word(&tree.list(&path("closed"), 10)), "forbidden");
                for text in ["empty.txt", "new.txt", "new/x.txt", "closed/x.txt", "closed/new.txt"]
                {
                    assert_eq!(write(text), "forbidden", "{text}");
                }
                // The folder is ours to write to, the file is not.
                assert_eq!(write("open/theirs.txt"), "forbidden");
                assert_eq!(read("open/theirs.txt"), "ok");
                assert_eq!(write("open/new/x.txt"), "ok");
                let walked =
                    tree.walk(&path("."), 1_000, &mut |_| std::ops::ControlFlow::Continue(()));
                assert!(walked.unwrap().passed_over > 0);
            }
        });
    });
    set("closed", 0o700);
    set("notes.txt", 0o600);
    set("sub/notes.txt", 0o600);
    world.is_untouched("as somebody else");
}

/// This thread alone becomes a user without rights, if it is not one already.
pub(super) fn become_nobody() -> bool {
    if !rustix::process::geteuid().is_root() {
        return false;
    }
    let (user, group) = (Uid::from_raw(65_534), Gid::from_raw(65_534));
    set_thread_groups(&[]).is_ok()
        && set_thread_res_gid(group, group, group).is_ok()
        && set_thread_res_uid(user, user, user).is_ok()
}
