//! Who may use a file after it was replaced: nobody more than before.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::Path;

use guard::files::LinkPolicy;
use rustix::fs::{XattrFlags, getxattr, setxattr};
use rustix::io::Errno;
use testkit::skipped;

use super::{TreeFixture, always, disk::become_nobody};

const ACL: &str = "system.posix_acl_access";
const DEFAULT_ACL: &str = "system.posix_acl_default";

/// A list that lets user 12345 read, and nobody else but the owner do anything.
fn list() -> Vec<u8> {
    let entries: [(u16, u16, u32); 5] = [
        (0x01, 6, u32::MAX), // the owner
        (0x02, 4, 12_345),   // a user
        (0x04, 0, u32::MAX), // the group
        (0x10, 4, u32::MAX), // the most that users and groups may
        (0x20, 0, u32::MAX), // all others
    ];
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(rights.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

fn list_of(path: &Path) -> Option<Vec<u8>> {
    let mut value = vec![0; 1_000];
    match getxattr(path, ACL, &mut value[..]) {
        Ok(length) => Some(value[..length].to_vec()),
        Err(Errno::NODATA) => None,
        Err(error) => panic!("{error}"),
    }
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o7777
}

#[test]
fn a_list_of_users_stays_and_none_is_inherited() {
    let world = TreeFixture::new();
    let (path, folder) = (world.root().join("notes.txt"), world.root().join("lists"));
    for tree in world.trees(LinkPolicy::Inside) {
        if setxattr(&path, ACL, &list(), XattrFlags::empty()).is_err() {
            return skipped("there are no access lists here");
        }
        tree.write(&tree.path("notes.txt").unwrap(), b"new", &always).unwrap();
        assert_eq!((list_of(&path), mode(&path)), (Some(list()), 0o640));

        // The folder would give user 12345 what the file did not.
        std::fs::create_dir_all(&folder).unwrap();
        let plain = folder.join("plain.txt");
        std::fs::write(&plain, "old").unwrap();
        std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o640)).unwrap();
        setxattr(&folder, DEFAULT_ACL, &list(), XattrFlags::empty()).unwrap();
        tree.write(&tree.path("lists/plain.txt").unwrap(), b"new", &always).unwrap();
        assert_eq!((list_of(&plain), mode(&plain)), (None, 0o640));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

/// Root may do anything, so a thread of the test becomes somebody else.
#[test]
fn whoever_cannot_keep_the_group_gives_it_to_fewer() {
    let world = TreeFixture::new();
    std::fs::set_permissions(world.outside(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let set = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let open = world.root().join("open");
    std::fs::create_dir(&open).unwrap();
    set(&open, 0o777);
    let cases = [("a.txt", 0o660, 0o600), ("b.txt", 0o664, 0o644), ("c.txt", 0o606, 0o600)];
    for (name, mode, _) in cases {
        let path = open.join(name);
        std::fs::write(&path, "old").unwrap();
        set(&path, mode);
        if chown(&path, Some(65_534), Some(12_346)).is_err() {
            return skipped("only root can give files away");
        }
    }
    let listed = open.join("listed.txt");
    std::fs::write(&listed, "old").unwrap();
    let has_lists = setxattr(&listed, ACL, &list(), XattrFlags::empty()).is_ok();
    chown(&listed, Some(65_534), Some(12_346)).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if !become_nobody() {
                return skipped("a thread cannot become another user here");
            }
            let [tree, _] = world.trees(LinkPolicy::Inside);
            for name in ["a.txt", "b.txt", "c.txt", "listed.txt"] {
                let path = tree.path(&format!("open/{name}")).unwrap();
                tree.write(&path, b"new", &always).unwrap();
            }
            for (name, _, expected) in cases {
                assert_eq!(mode(&open.join(name)), expected, "{name}");
            }
            if has_lists {
                assert_eq!((list_of(&listed), mode(&listed)), (None, 0o600));
            }
        });
    });
}
