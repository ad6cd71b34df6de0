//! A file system of its own: the only way to a full or a read-only disk that root, too, is held to.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

#[allow(clippy::disallowed_types)] // Programs of the system, as a person starts them.
type Command = std::process::Command;

/// A small disk, gone when dropped.
pub struct TmpfsMount {
    path: PathBuf,
    /// The folder where it is, if nobody named one.
    folder: Option<TempDir>,
}

impl TmpfsMount {
    /// Mounts one. Nothing where this user may not mount; the test then says so and ends.
    pub fn new(options: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Self::at(folder.path(), options)?;
        mount.folder = Some(folder);
        Some(mount)
    }

    /// The same at this path.
    pub fn at(path: &Path, options: &str) -> Option<Self> {
        std::fs::create_dir_all(path).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "toolgate-test"]).arg(path);
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Some(Self { path: path.to_owned(), folder: None });
        }
        skipped("mounting is not permitted here");
        None
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Mounts it again with other options.
    pub fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let status = Command::new("mount").args(["-o", &options]).arg(&self.path).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for TmpfsMount {
    fn drop(&mut self) {
        // Lazily: a server may still run on it.
        let _ = Command::new("umount").arg("-l").arg(&self.path).status();
    }
}

/// A folder that is in a second place too, until this is dropped.
pub struct BindMount(PathBuf);

impl BindMount {
    /// Mounts one. Nothing where this user may not mount; the test then says so and ends.
    pub fn new(folder: &Path, at: &Path) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let mut mount = Command::new("mount");
        mount.arg("--bind").arg(folder).arg(at);
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Some(Self(at.to_owned()));
        }
        skipped("mounting is not permitted here");
        None
    }
}

impl Drop for BindMount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Says why a test did nothing. Straight to stderr: what a test prints is shown only where it fails.
pub fn skipped(reason: &str) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or_default();
    let _ = writeln!(std::io::stderr(), "{name} skipped: {reason}");
}
