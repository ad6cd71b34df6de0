//! A folder is a world of its own.

use std::io::{ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use guard::files::{FileKind, Folder};
use tempfile::TempDir;

/// A folder beside a `secret` that must stay out of reach.
fn world() -> (TempDir, Folder) {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    std::fs::create_dir(outside.path().join("private")).unwrap();
    std::fs::write(outside.path().join("private/kept"), "kept").unwrap();
    let folder = Folder::open_or_create(&outside.path().join("a/b")).unwrap();
    (outside, folder)
}

fn read(folder: &Folder, name: &str) -> std::io::Result<String> {
    let mut text = String::new();
    folder.open_regular(name)?.read_to_string(&mut text)?;
    Ok(text)
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o777
}

fn make_pipe(path: &Path) {
    rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR).unwrap();
}

#[test]
fn files_are_written_once_and_read_back() {
    let (_outside, folder) = world();
    folder.write_new("note", b"text").unwrap();
    assert_eq!(read(&folder, "note").unwrap(), "text");
    assert_eq!(mode(&folder.path().join("note")), 0o600);
    assert_eq!(folder.write_new("note", b"other").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(read(&folder, "note").unwrap(), "text");
    folder.sync().unwrap();
    folder.remove_file("note").unwrap();
    assert_eq!(folder.remove_file("note").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(read(&folder, "note").unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn folders_are_private_and_nest() {
    let (_outside, folder) = world();
    let inner = folder.create_dir("inner").unwrap();
    assert_eq!(inner.path(), folder.path().join("inner"));
    assert!(inner.path().is_absolute());
    assert_eq!((mode(folder.path()), mode(inner.path())), (0o700, 0o700));
    assert_eq!(folder.create_dir("inner").unwrap_err().kind(), ErrorKind::AlreadyExists);
    inner.write_new("x", b"1").unwrap();
    inner.sync().unwrap();
    let again = folder.open_dir("inner").unwrap();
    assert_eq!(read(&again, "x").unwrap(), "1");
    let same = Folder::open_or_create(folder.path()).unwrap();
    assert_eq!(same.entries().unwrap(), folder.entries().unwrap());
}

#[test]
fn only_plain_names_are_taken() {
    let (_outside, folder) = world();
    folder.write_new("here", b"").unwrap();
    let before = folder.entries().unwrap();
    for name in ["", ".", "..", "../secret", "/etc/passwd", "a/b", "a\\b", "a\0b", "a\nb"] {
        let refused = [
            folder.create_dir(name).err(),
            folder.open_dir(name).err(),
            folder.write_new(name, b"").err(),
            folder.rename_into(name, &folder, "there").err(),
            folder.rename_into("here", &folder, name).err(),
            folder.remove_tree(name).err(),
            folder.open_regular(name).err(),
            folder.remove_file(name).err(),
        ];
        for error in refused {
            let error = error.unwrap_or_else(|| panic!("`{name}` was taken"));
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name}");
            assert!(error.to_string().starts_with("a file name must not"), "{error}");
        }
    }
    assert_eq!(folder.entries().unwrap(), before);
}

#[test]
fn links_lead_nowhere() {
    let (outside, folder) = world();
    let secret = outside.path().join("secret");
    symlink(&secret, folder.path().join("file")).unwrap();
    symlink(outside.path().join("private"), folder.path().join("dir")).unwrap();
    symlink(outside.path().join("new"), folder.path().join("dangling")).unwrap();
    folder.write_new("real", b"").unwrap();
    symlink("real", folder.path().join("inside")).unwrap();

    for name in ["file", "dir", "inside", "dangling"] {
        let error = folder.open_regular(name).unwrap_err();
        assert_eq!(error.to_string(), format!("`{name}` is not a regular file"));
        assert!(folder.open_dir(name).is_err(), "{name}");
        let error = folder.write_new(name, b"overwritten").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{name}");
    }
    assert!(!outside.path().join("new").exists());

    folder.rename_into("file", &folder, "moved").unwrap();
    assert!(folder.path().join("moved").is_symlink());
    folder.remove_file("moved").unwrap();
    folder.remove_tree("dir").unwrap();
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "secret");
    assert!(outside.path().join("private/kept").exists());
}

#[test]
fn only_regular_files_are_opened() {
    let (_outside, folder) = world();
    make_pipe(&folder.path().join("pipe"));
    let _listener = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
    folder.create_dir("dir").unwrap();
    // None of these may wait for a peer.
    for name in ["pipe", "socket", "dir"] {
        let error = folder.open_regular(name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(error.to_string(), format!("`{name}` is not a regular file"));
    }
}

#[test]
fn entries_are_sorted_and_say_what_they_are() {
    let (outside, folder) = world();
    folder.write_new("c", b"12345").unwrap();
    folder.create_dir("b").unwrap();
    symlink("c", folder.path().join("d")).unwrap();
    make_pipe(&folder.path().join("e"));
    std::fs::hard_link(outside.path().join("secret"), folder.path().join("a")).unwrap();
    let entries = folder.entries().unwrap();
    let shown: Vec<_> = entries
        .iter()
        .map(|entry| (entry.name.to_str().unwrap(), entry.status.kind, entry.status.bytes))
        .collect();
    assert_eq!(
        shown,
        [
            ("a", FileKind::File, 6),
            ("b", FileKind::Directory, 0),
            ("c", FileKind::File, 5),
            ("d", FileKind::Symlink, 0),
            ("e", FileKind::Other, 0),
        ]
    );
    assert_eq!((entries[0].status.links, entries[2].status.links), (2, 1));
}

#[test]
fn a_file_moves_between_folders() {
    let (_outside, folder) = world();
    let (from, to) = (folder.create_dir("from").unwrap(), folder.create_dir("to").unwrap());
    from.write_new("result", b"new").unwrap();
    to.write_new("report", b"old").unwrap();
    from.rename_into("result", &to, "report").unwrap();
    assert_eq!(read(&to, "report").unwrap(), "new");
    assert_eq!(from.entries().unwrap(), []);
    let missing = from.rename_into("result", &to, "report").unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}

#[test]
fn a_folder_stays_itself_when_its_path_changes() {
    let (outside, folder) = world();
    std::fs::rename(folder.path(), outside.path().join("elsewhere")).unwrap();
    symlink(outside.path().join("private"), folder.path()).unwrap();
    folder.write_new("note", b"text").unwrap();
    assert!(outside.path().join("elsewhere/note").exists());
    assert!(!outside.path().join("private/note").exists());
}

#[test]
fn a_tree_is_removed_whatever_it_holds() {
    let (outside, folder) = world();
    let tree = folder.create_dir("tree").unwrap();
    tree.write_new(".lifted-0", b"in the way").unwrap();
    for name in ["one", "two"] {
        let inner = tree.create_dir(name).unwrap();
        inner.write_new("file", b"").unwrap();
        let deeper = inner.create_dir("deeper").unwrap();
        deeper.write_new("file", b"").unwrap();
        symlink(outside.path().join("private"), deeper.path().join("link")).unwrap();
        make_pipe(&deeper.path().join("pipe"));
        deeper.create_dir("empty").unwrap();
        for path in [deeper.path(), inner.path()] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
        }
    }
    folder.remove_tree("tree").unwrap();
    assert_eq!(folder.entries().unwrap(), []);
    assert!(outside.path().join("private/kept").exists());

    folder.remove_tree("tree").unwrap();
    folder.write_new("file", b"").unwrap();
    folder.remove_tree("file").unwrap();
    assert_eq!(folder.entries().unwrap(), []);
}

#[test]
fn a_tree_is_removed_however_deep_it_is() {
    // More than a path can name, and more than most processes may hold open.
    const LEVELS: usize = 2500;
    let (_outside, folder) = world();
    let mut deepest = folder.create_dir("tree").unwrap();
    for _ in 0..LEVELS {
        deepest = deepest.create_dir("d").unwrap();
        deepest.write_new("f", b"").unwrap();
    }
    folder.remove_tree("tree").unwrap();
    assert_eq!(folder.entries().unwrap(), []);
}
