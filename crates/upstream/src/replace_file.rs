//! Replaces a file as a whole or not at all; links, owner and permissions stay. A pipe or a device is written to.

use std::{
    fs::{Metadata, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

/// The number of links that are followed to a file that does not exist yet.
const MAX_LINKS: usize = 40;
/// The permissions of a new file: everybody may read it.
const NEW_MODE: u32 = 0o644;
/// Folders of devices: `/dev/stdout` may be a file that others write to as well.
const DEVICE_FOLDERS: &[&str] = &["/dev", "/proc"];

/// Replaces the contents of a file.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let before = match path.metadata() {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let special = DEVICE_FOLDERS.iter().any(|folder| path.starts_with(folder));
    if special || before.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        return OpenOptions::new().append(true).open(path)?.write_all(bytes);
    }
    let target = behind_links(path)?;
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    // Its error does not name the temporary file.
    folder.metadata()?;
    let mut temporary = NamedTempFile::new_in(folder)?;
    temporary.write_all(bytes)?;
    copy_metadata(&temporary, before.as_ref())?;
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// Gives a new file the owner and the permissions of the old one.
fn copy_metadata(temporary: &NamedTempFile, before: Option<&Metadata>) -> io::Result<()> {
    let file = temporary.as_file();
    let Some(before) = before else {
        return file.set_permissions(Permissions::from_mode(NEW_MODE));
    };
    let now = file.metadata()?;
    if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
        // Only root may give a file away; for others the file becomes theirs.
        let _ = chown(temporary.path(), Some(before.uid()), Some(before.gid()));
    }
    file.set_permissions(before.permissions())
}

/// The target of a link, which need not exist yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Ok(real);
    }
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match path.read_link() {
            Ok(next) => path = path.parent().unwrap_or(Path::new(".")).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other(format!("more than {MAX_LINKS} links lead to it")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn links_and_rights_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        replace_file(&at("new"), b"1").unwrap();
        assert_eq!(mode(&at("new")), NEW_MODE);
        std::fs::set_permissions(at("new"), Permissions::from_mode(0o600)).unwrap();
        symlink("new", at("link")).unwrap();
        replace_file(&at("link"), b"2").unwrap();
        assert!(at("link").is_symlink());
        assert_eq!((std::fs::read(at("new")).unwrap(), mode(&at("new"))), (b"2".to_vec(), 0o600));
        symlink("later", at("dangling")).unwrap();
        replace_file(&at("dangling"), b"3").unwrap();
        assert!(at("dangling").is_symlink() && !at("later").is_symlink());
        symlink("round", at("round")).unwrap();
        assert!(replace_file(&at("round"), b"4").is_err());
        assert!(replace_file(folder.path(), b"5").is_err());
    }

    #[test]
    fn devices_are_written_to() {
        let number = |path: &str| Path::new(path).metadata().unwrap().rdev();
        let before = number("/dev/null");
        replace_file(Path::new("/dev/null"), b"gone").unwrap();
        assert_eq!(number("/dev/null"), before);
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("null");
        symlink("/dev/null", &link).unwrap();
        replace_file(&link, b"gone").unwrap();
        assert!(link.is_symlink());
    }
}
