//! The folder itself: made when it is needed, found again when it was exchanged.

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

#[test]
fn another_folder_in_its_place_is_the_folder() {
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("files");
    std::fs::create_dir(&root).unwrap();
    let tree = FileTree::new(&root);
    let path = tree.path("x.txt").unwrap();
    tree.write(&path, b"old", &always).unwrap();
    std::fs::rename(&root, outside.path().join("moved")).unwrap();
    std::fs::create_dir(&root).unwrap();
    assert_eq!(word(&tree.read(&path, 10)), "missing");
    tree.write(&path, b"new", &always).unwrap();
    assert_eq!(std::fs::read_to_string(root.join("x.txt")).unwrap(), "new");
    assert_eq!(std::fs::read_to_string(outside.path().join("moved/x.txt")).unwrap(), "old");
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
