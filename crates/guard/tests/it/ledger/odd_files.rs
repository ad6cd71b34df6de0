//! What may be in the place of the file, and disks that do not take what they are given.

use std::{
    io::Write as _,
    os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, symlink},
    path::Path,
    time::Duration,
};

use guard::files::{Ledger, LedgerError};

use super::{appends, ledger, read, with};

// Mounting is the only way to a full or a read-only disk that root, too, is held to.
#[allow(clippy::disallowed_types)]
type Command = std::process::Command;

/// A file system of its own, gone when dropped.
struct Mount(tempfile::TempDir);

impl Mount {
    /// Nothing where this user may not mount; the test then says so and ends.
    fn new(options: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "ledger-test"]).arg(folder.path());
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        super::children::skipped("mounting is not permitted here");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let status = Command::new("mount").args(["-o", &options]).arg(self.path()).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

async fn refused(folder: &Path) -> String {
    let error = ledger(folder).append("entry".into()).await.unwrap_err();
    let seen = ledger(folder).next_line().unwrap_err();
    assert_eq!(error.to_string(), seen.to_string());
    error.to_string()
}

#[tokio::test]
async fn nothing_but_a_plain_file_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "secret\n").unwrap();

    symlink(&secret, &path).unwrap();
    assert_eq!(refused(folder.path()).await, "`log.jsonl` is not a regular file");
    std::fs::remove_file(&path).unwrap();
    symlink("nowhere", &path).unwrap();
    assert_eq!(refused(folder.path()).await, "`log.jsonl` is not a regular file");
    std::fs::remove_file(&path).unwrap();
    assert!(!folder.path().join("nowhere").exists());

    std::fs::hard_link(&secret, &path).unwrap();
    let words = "`log.jsonl` is a file with more than one name (hard links)";
    assert_eq!(refused(folder.path()).await, words);
    std::fs::remove_file(&path).unwrap();

    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    assert_eq!(refused(folder.path()).await, "`log.jsonl` is not a regular file");
    std::fs::remove_file(&path).unwrap();

    std::fs::create_dir(&path).unwrap();
    assert_eq!(refused(folder.path()).await, "`log.jsonl` is not a regular file");
    std::fs::remove_dir(&path).unwrap();

    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    assert_eq!(refused(folder.path()).await, "`log.jsonl` is not a regular file");
    drop(listener);
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "secret\n");
}

#[tokio::test]
async fn a_folder_that_is_a_link_of_the_operators_is_followed() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(outside.path().join("shared")).unwrap();
    symlink("shared", outside.path().join("memory")).unwrap();
    assert_eq!(appends(&ledger(&outside.path().join("memory")), "x").await, 1);
    assert_eq!(read(&outside.path().join("shared")), "x\n");
    // One that leads nowhere is not made.
    symlink("missing", outside.path().join("dangling")).unwrap();
    let error = ledger(&outside.path().join("dangling")).append("x".into()).await.unwrap_err();
    assert!(error.to_string().contains("No such file or directory"), "{error}");
    // A file is no folder.
    std::fs::write(outside.path().join("file"), "").unwrap();
    let error = ledger(&outside.path().join("file/deeper")).append("x".into()).await.unwrap_err();
    assert!(error.to_string().contains("Not a directory"), "{error}");
}

#[tokio::test]
async fn new_files_have_the_permissions_that_files_have_here() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("like"), "").unwrap();
    let folder = outside.path().join("memory");
    appends(&ledger(&folder), "x").await;
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
    assert_eq!(mode(&folder.join("log.jsonl")), mode(&outside.path().join("like")));
}

#[tokio::test]
async fn a_large_file_is_counted_once() {
    let (folder, log) = with("first\n");
    let path = folder.path().join("log.jsonl");
    // A hundred megabytes of nothing, and a line end.
    let file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.set_len(100_000_000).unwrap();
    (&file).write_all(b"\n").unwrap();
    assert_eq!(appends(&log, "third").await, 3);
    assert!(file.metadata().unwrap().blocks() < 1_000, "the hole is still one");
    // A line end is gone from what was counted. Nobody notices, because nobody reads it again.
    let inner = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    inner.write_all_at(b" ", 5).unwrap();
    for number in 4..14 {
        assert_eq!(appends(&log, "more").await, number);
    }
    assert_eq!(appends(&ledger(folder.path()), "by another").await, 13);
}

#[tokio::test]
async fn a_program_that_keeps_the_lock_is_not_waited_for_forever() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    std::fs::write(&path, "").unwrap();
    let log = Ledger::new(folder.path().to_owned(), "log.jsonl").unwrap();
    let log = std::sync::Arc::new(log.with_lock_wait(Duration::from_millis(50)));
    for held in [std::fs::File::open(&path).unwrap(), std::fs::File::open(folder.path()).unwrap()] {
        rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
        let error = log.append("x".into()).await.unwrap_err();
        let words = "another program has kept `log.jsonl` locked for more than 50ms";
        assert_eq!(error.to_string(), words);
        drop(held);
        appends(&log, "y").await;
    }
    assert_eq!(read(folder.path()), "y\ny\n");
}

#[tokio::test]
async fn a_full_disk_leaves_no_part_of_an_entry() {
    let Some(disk) = Mount::new("size=64k") else { return };
    let log = ledger(disk.path());
    std::fs::write(disk.path().join("log.jsonl"), "torn").unwrap();
    let entry = "x".repeat(5_000);
    let mut whole = 0;
    let error = loop {
        match log.append(entry.clone()).await {
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
    assert_eq!(appends(&log, "small").await, whole as u64 + 1);
    disk.remount("size=1m");
    assert_eq!(appends(&log, &entry).await, whole as u64 + 2);
    assert_eq!(read(disk.path()), format!("{lines}small\n{entry}\n"));
}

#[tokio::test]
async fn a_read_only_disk_is_told() {
    let Some(disk) = Mount::new("size=1m") else { return };
    let log = ledger(disk.path());
    assert_eq!(appends(&log, "x").await, 1);
    disk.remount("ro");
    let error = log.append("y".into()).await.unwrap_err();
    assert!(error.to_string().contains("Read-only file system"), "{error}");
    assert_eq!(log.next_line().unwrap(), 2);
    disk.remount("rw");
    assert_eq!(appends(&log, "y").await, 2);
}

#[tokio::test]
async fn files_and_folders_that_may_not_be_written_are_told() {
    if rustix::process::geteuid().is_root() {
        return super::children::skipped("root may write everything");
    }
    let (folder, log) = with("x\n");
    let path = folder.path().join("log.jsonl");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let error = log.append("y".into()).await.unwrap_err();
    assert!(error.to_string().contains("Permission denied"), "{error}");
    std::fs::remove_file(&path).unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    let error = log.append("y".into()).await.unwrap_err();
    assert!(error.to_string().contains("Permission denied"), "{error}");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
}
