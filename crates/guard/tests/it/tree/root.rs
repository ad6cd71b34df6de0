//! The folder itself: made when it is needed, and refused when it was exchanged.

use guard::files::{FileError, FileTree};

use super::{always, word};

#[test]
fn it_is_made_when_it_is_used() {
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("a/b/files");
    let tree = FileTree::new(&root).create_root();
    assert!(!root.exists());
    let path = tree.path("x.txt").unwrap();
    assert!(!root.exists());
    assert_eq!(word(&tree.read(&path, 10)), "missing");
    assert!(root.is_dir());
    tree.write(&path, b"1", &always).unwrap();
    std::fs::remove_dir_all(outside.path().join("a")).unwrap();
    assert_eq!(word(&tree.read(&path, 10)), "missing");
    tree.write(&path, b"2", &always).unwrap();
    assert_eq!(std::fs::read_to_string(root.join("x.txt")).unwrap(), "2");
}

#[test]
fn without_it_nothing_works_and_the_operator_learns_why() {
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("files");
    let tree = FileTree::new(&root);
    let path = tree.path("x.txt").unwrap();
    for failed in [tree.read(&path, 10).err(), tree.write(&path, b"", &always).err()] {
        let error = failed.unwrap();
        assert!(matches!(&error, FileError::Io(_)), "{error:?}");
        assert!(error.to_string().contains(root.to_str().unwrap()), "{error}");
    }
    assert!(!root.exists());
    std::fs::create_dir(&root).unwrap();
    tree.write(&path, b"", &always).unwrap();
    // A file in its place.
    std::fs::remove_dir_all(&root).unwrap();
    std::fs::write(&root, "").unwrap();
    let error = tree.read(&path, 10).unwrap_err();
    assert!(error.to_string().contains("cannot be used"), "{error}");
}

/// Who may change a folder above it decides nothing about what we read and write.
#[test]
fn another_folder_in_its_place_is_refused() {
    let outside = tempfile::tempdir().unwrap();
    let at = |name: &str| outside.path().join(name);
    for name in ["area/files", "secret"] {
        std::fs::create_dir_all(at(name)).unwrap();
    }
    std::fs::write(at("secret/x.txt"), "secret").unwrap();
    std::os::unix::fs::symlink("area/files", at("link")).unwrap();
    for (root, creates) in [("area/files", false), ("area/files", true), ("link", true)] {
        for used in [true, false] {
            let tree = FileTree::new(at(root));
            let tree = if creates { tree.create_root() } else { tree };
            let path = tree.path("x.txt").unwrap();
            if used {
                tree.write(&path, b"old", &always).unwrap();
            }
            let refused = |what: &str| {
                for failed in [tree.read(&path, 10).err(), tree.write(&path, b"new", &always).err()]
                {
                    let error = failed.unwrap_or_else(|| panic!("{what} is used")).to_string();
                    assert!(error.contains("replaced since the server started"), "{error}");
                }
                assert_eq!(std::fs::read_to_string(at("secret/x.txt")).unwrap(), "secret");
            };
            // A link or a folder in its place, or in that of a folder above it.
            for moved in ["area/files", "area"] {
                std::fs::rename(at(moved), at("moved")).unwrap();
                let target = if moved == "area" { at("other") } else { at("secret") };
                std::fs::create_dir_all(at("other")).unwrap();
                let _ = std::os::unix::fs::symlink(at("secret"), at("other/files"));
                std::os::unix::fs::symlink(target, at(moved)).unwrap();
                refused("a link");
                std::fs::remove_file(at(moved)).unwrap();
                std::fs::create_dir_all(at("area/files")).unwrap();
                refused("a folder");
                std::fs::remove_dir_all(at(moved)).unwrap();
                std::fs::rename(at("moved"), at(moved)).unwrap();
            }
            if root == "link" {
                std::fs::remove_file(at("link")).unwrap();
                std::os::unix::fs::symlink("secret", at("link")).unwrap();
                refused("another link");
                std::fs::remove_file(at("link")).unwrap();
                std::os::unix::fs::symlink("area/files", at("link")).unwrap();
            }
            tree.write(&path, b"new", &always).unwrap();
            assert_eq!(std::fs::read_to_string(at("area/files/x.txt")).unwrap(), "new");
        }
    }
}

#[test]
fn what_is_missing_is_made_where_it_was_missing() {
    let outside = tempfile::tempdir().unwrap();
    let at = |name: &str| outside.path().join(name);
    for name in ["area", "secret"] {
        std::fs::create_dir(at(name)).unwrap();
    }
    for (root, link) in [("area/files", "area/files"), ("area/deep/files", "area/deep")] {
        let tree = FileTree::new(at(root)).create_root();
        std::os::unix::fs::symlink("../secret", at(link)).unwrap();
        let path = tree.path("x.txt").unwrap();
        let error = tree.write(&path, b"x", &always).unwrap_err().to_string();
        assert!(error.contains("replaced since the server started"), "{error}");
        assert_eq!(std::fs::read_dir(at("secret")).unwrap().count(), 0);
        std::fs::remove_file(at(link)).unwrap();
        tree.write(&path, b"x", &always).unwrap();
    }
}

#[test]
fn its_own_path_may_lead_through_links() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(outside.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", outside.path().join("link")).unwrap();
    let tree = FileTree::new(outside.path().join("link")).links(guard::files::LinkPolicy::Refused);
    let path = tree.path("x.txt").unwrap();
    tree.write(&path, b"1", &always).unwrap();
    assert_eq!(tree.read(&path, 10).unwrap(), b"1");
    assert!(outside.path().join("real/x.txt").exists());
}
