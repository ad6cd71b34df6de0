//! Links, pipes and folders in the place of the file, and disks that are full or read-only.

use std::{
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::UnixListener,
    },
    path::Path,
    time::Duration,
};

use guard::files::LedgerError;
use testkit::{TmpfsMount, skipped};

use super::{FILE, append, appends, ledger, read, with};

fn refused(folder: &Path) -> String {
    let error = append(&ledger(folder), "entry").unwrap_err();
    let seen = ledger(folder).next_line().unwrap_err();
    assert_eq!(error.to_string(), seen.to_string());
    error.to_string()
}

/// Puts something else in the place of the file.
type Plant<'a> = &'a dyn Fn(&Path);

#[test]
fn nothing_but_a_plain_file_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "secret\n").unwrap();

    let plants: [(&str, Plant<'_>); 6] = [
        ("is not a regular file", &|path| symlink(&secret, path).unwrap()),
        ("is not a regular file", &|path| symlink("nowhere", path).unwrap()),
        ("is a file with more than one name (hard links)", &|path| {
            std::fs::hard_link(&secret, path).unwrap();
        }),
        ("is not a regular file", &|path| {
            rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).unwrap();
        }),
        ("is not a regular file", &|path| drop(UnixListener::bind(path).unwrap())),
        ("is not a regular file", &|path| std::fs::create_dir(path).unwrap()),
    ];
    for (words, plant) in plants {
        plant(&path);
        assert_eq!(refused(folder.path()), format!("`log.jsonl` {words}"));
        let _ = std::fs::remove_file(&path);
    }
    assert!(!folder.path().join("nowhere").exists());
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "secret\n");
}

#[test]
fn a_folder_that_is_a_link_of_the_operators_is_followed() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(outside.path().join("shared")).unwrap();
    symlink("shared", outside.path().join("memory")).unwrap();
    assert_eq!(appends(&ledger(&outside.path().join("memory")), "x"), 1);
    assert_eq!(read(&outside.path().join("shared")), "x\n");
    // One that leads nowhere is not made.
    symlink("missing", outside.path().join("dangling")).unwrap();
    let error = append(&ledger(&outside.path().join("dangling")), "x").unwrap_err();
    assert!(error.to_string().contains("No such file or directory"), "{error}");
    // A file is no folder.
    std::fs::write(outside.path().join("file"), "").unwrap();
    let error = append(&ledger(&outside.path().join("file/deeper")), "x").unwrap_err();
    assert!(error.to_string().contains("Not a directory"), "{error}");
}

#[test]
fn new_files_have_the_permissions_that_files_have_here() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("like"), "").unwrap();
    let folder = outside.path().join("memory");
    appends(&ledger(&folder), "x");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
    assert_eq!(mode(&folder.join(FILE)), mode(&outside.path().join("like")));
}

#[test]
fn a_program_that_keeps_the_lock_is_not_waited_for_forever() {
    let (folder, log) = with("");
    let log = log.with_lock_wait(Duration::from_millis(50));
    let held = std::fs::File::open(folder.path().join(FILE)).unwrap();
    held.lock().unwrap();
    let error = append(&log, "x").unwrap_err();
    let words = "`log.jsonl` has been locked by other writers for more than 50ms";
    assert_eq!(error.to_string(), words);
    drop(held);
    appends(&log, "y");
    assert_eq!(read(folder.path()), "y\n");
}

#[test]
fn a_full_disk_leaves_no_part_of_an_entry() {
    let Some(disk) = TmpfsMount::new("size=64k") else { return };
    let log = ledger(disk.path());
    std::fs::write(disk.path().join(FILE), "torn").unwrap();
    let entry = "x".repeat(5_000);
    let mut whole = 0;
    let error = loop {
        match append(&log, &entry) {
            Ok(line) => whole = usize::try_from(line).unwrap(),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, LedgerError::Full), "{error}");
    assert_eq!(error.to_string(), "the disk is full");
    assert!(whole > 3);
    let lines = "torn\n".to_owned() + &format!("{entry}\n").repeat(whole - 1);
    assert_eq!(read(disk.path()), lines);
    // There is room for a small one, which stands on a line of its own.
    assert_eq!(appends(&log, "small"), whole as u64 + 1);
    disk.remount("size=1m");
    assert_eq!(appends(&log, &entry), whole as u64 + 2);
    assert_eq!(read(disk.path()), format!("{lines}small\n{entry}\n"));
}

#[test]
fn a_read_only_disk_is_told() {
    let Some(disk) = TmpfsMount::new("size=1m") else { return };
    let log = ledger(disk.path());
    assert_eq!(appends(&log, "x"), 1);
    disk.remount("ro");
    let error = append(&log, "y").unwrap_err();
    assert!(error.to_string().contains("Read-only file system"), "{error}");
    assert_eq!(log.next_line().unwrap(), 2);
    disk.remount("rw");
    assert_eq!(appends(&log, "y"), 2);
}

#[test]
fn files_and_folders_that_may_not_be_written_are_told() {
    if rustix::process::geteuid().is_root() {
        return skipped("root may write everything");
    }
    let (folder, log) = with("x\n");
    let path = folder.path().join(FILE);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let error = append(&log, "y").unwrap_err();
    assert!(error.to_string().contains("Permission denied"), "{error}");
    std::fs::remove_file(&path).unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    let error = append(&log, "y").unwrap_err();
    assert!(error.to_string().contains("Permission denied"), "{error}");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
}
