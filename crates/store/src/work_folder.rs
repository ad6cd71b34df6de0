//! The folder of the folders that calls work in.
//!
//! It lies outside of the data folder: from there a program would find the operator's token by a relative path. Beside the
//! data folder it is usually on the same file system, so that artifacts need not be copied.

use std::{
    ffi::OsString,
    fs::Metadata,
    io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use guard::files::Folder;
use rustix::fs::{Access, access};
use sha2::{Digest, Sha256};

/// Behind the name of the data folder.
const SUFFIX: &str = ".work";
/// Before the hash of the data folder, in a folder that others use, too.
const PREFIX: &str = "toolgate-";
/// The bytes of that hash.
const HASH_BYTES: usize = 8;
/// Bits of a mode that let others than the owner change a folder.
const OTHERS_WRITE: u32 = 0o022;

/// The folders that may be it, the first that can be used: below the folder that the operator has chosen; else
/// beside the data folder, or, where nothing can be made there, in the system's folder for temporary files.
pub fn work_folders(data: &Path, chosen: Option<&Path>) -> Vec<PathBuf> {
    let hash: [u8; 32] = Sha256::digest(data.as_os_str().as_encoded_bytes()).into();
    let hash: String = hash[..HASH_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
    let name = format!("{PREFIX}{hash}");
    if let Some(chosen) = chosen {
        return vec![chosen.join(name)];
    }
    let beside = data.file_name().map(|own| {
        let mut own = OsString::from(own);
        own.push(SUFFIX);
        data.with_file_name(own)
    });
    beside.into_iter().chain([std::env::temp_dir().join(name)]).collect()
}

/// Those of these folders in which files of calls may be: the first that can be used, and all that are there.
pub fn work_folders_in_use(folders: &[PathBuf]) -> Vec<&PathBuf> {
    let mut found = Vec::new();
    let mut is_usable = false;
    for folder in folders {
        if !is_usable || folder.symlink_metadata().is_ok() {
            found.push(folder);
        }
        is_usable |= can_be_used(folder);
    }
    found
}

/// True if a folder can be used, as far as can be seen without making it.
fn can_be_used(path: &Path) -> bool {
    let may_write = |path: &Path| access(path, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    match path.symlink_metadata() {
        Ok(found) => is_own(&found) && may_write(path),
        Err(_) => {
            let above = path.ancestors().skip(1).find(|above| above.symlink_metadata().is_ok());
            above.is_some_and(|above| above.is_dir() && may_write(above))
        }
    }
}

fn is_own(found: &Metadata) -> bool {
    found.is_dir()
        && found.uid() == rustix::process::geteuid().as_raw()
        && found.permissions().mode() & OTHERS_WRITE == 0
}

/// Opens the first of these folders that can be used.
pub(crate) fn open(folders: &[PathBuf]) -> io::Result<Folder> {
    let mut failed = io::Error::from(io::ErrorKind::NotFound);
    for path in folders {
        match open_own(path) {
            Ok(folder) => return Ok(folder),
            Err(error) => {
                let message =
                    format!("the work folder `{}` cannot be used: {error}", path.display());
                failed = io::Error::new(error.kind(), message);
            }
        }
    }
    Err(failed)
}

/// Opens a folder that is there for this user alone, or makes it.
fn open_own(path: &Path) -> io::Result<Folder> {
    let folder = Folder::open_or_create(path)?;
    if is_own(&path.symlink_metadata()?) {
        return Ok(folder);
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is a link, or others may change it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_others_is_not_used() {
        let base = tempfile::tempdir().unwrap();
        let path = |name: &str| base.path().join(name);
        std::fs::create_dir(path("open")).unwrap();
        std::fs::set_permissions(path("open"), PermissionsExt::from_mode(0o777)).unwrap();
        std::fs::create_dir(path("own")).unwrap();
        std::os::unix::fs::symlink(path("own"), path("link")).unwrap();
        std::fs::write(path("file"), "").unwrap();
        for name in ["open", "link", "file"] {
            let told = open(&[path(name)]).unwrap_err().to_string();
            assert!(told.contains(name), "{told}");
        }
        let folders = [path("open"), path("file/below"), path("new"), path("newer"), path("own")];
        assert_eq!(
            work_folders_in_use(&folders).into_iter().cloned().collect::<Vec<_>>(),
            [path("open"), path("file/below"), path("new"), path("own")]
        );
        let folder = open(&[path("file/below"), path("new")]).unwrap();
        assert_eq!(folder.path(), path("new").canonicalize().unwrap());
        assert_eq!(path("new").metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn it_is_outside_of_the_data_folder() {
        let data = Path::new("/srv/toolgate/data");
        let all = work_folders(data, None);
        assert_eq!(all[0], Path::new("/srv/toolgate/data.work"));
        assert!(all.iter().all(|path| !path.starts_with(data)));
        let chosen = work_folders(data, Some(Path::new("/tmp")));
        assert_ne!(chosen, work_folders(Path::new("/srv/other"), Some(Path::new("/tmp"))));
        assert_eq!(chosen.len(), 1);
    }
}
