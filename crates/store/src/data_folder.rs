//! The folder that holds everything the server keeps.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rand::Rng;

/// The file that a running server holds locked.
const LOCK_FILE: &str = "server.lock";
/// The file that every call of the command line holds locked together with the others.
const CALLS_FILE: &str = "calls.lock";

/// The file of the database.
const DATABASE: &str = "toolgate.db";
/// Folders that hold what is removed again, and so must not be somebody else's.
const CLEARED: [&str; 3] = ["work", "artifacts", "spool"];

/// The shortest text that is taken for a token.
const MIN_TOKEN_BYTES: usize = 32;

/// The reason that the data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataFolderError {
    /// It cannot be made or written.
    #[error("the data folder `{path}` cannot be written")]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It is somebody else's.
    #[error(
        "the data folder `{path}` is none that Toolgate has made: it has a `{name}` and no \
         `toolgate.db`; choose an empty folder with --data-dir"
    )]
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// The file that lies there.
        name: &'static str,
    },
    /// Another server has it.
    #[error(
        "another server (process {process}) already uses the data folder `{path}`; \
         stop it, or choose another folder with --data-dir"
    )]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The process that holds it, as far as we know.
        process: String,
    },
}

/// The data folder, made if it was not there.
#[derive(Debug, Clone)]
pub struct DataFolder {
    path: PathBuf,
}

/// Proof that this process is the only server on the folder; given back when dropped.
#[derive(Debug)]
pub struct DataFolderLock(#[allow(dead_code)] File);

/// Proof that a call of the command line is under way; given back when dropped.
#[derive(Debug)]
pub struct DataFolderVisit(#[allow(dead_code)] File);

impl DataFolder {
    /// Makes the folder where it is missing and proves that it can be written.
    pub fn open(path: &Path) -> Result<Self, DataFolderError> {
        let unusable = |source| DataFolderError::Unusable { path: path.to_owned(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(unusable)?;
        let path = path.canonicalize().map_err(unusable)?;
        if let Some(name) = foreign(&path) {
            return Err(DataFolderError::NotOurs { path, name });
        }
        // Asking for permission bits would not tell about a read-only mount or a full
        // disk; writing a byte does.
        let probe = path.join(format!(".probe-{}", std::process::id()));
        std::fs::write(&probe, b".").map_err(unusable)?;
        std::fs::remove_file(&probe).map_err(unusable)?;
        Ok(Self { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says that a call of the command line is under way. A server may run beside it.
    pub fn visit(&self) -> Result<DataFolderVisit, DataFolderError> {
        let unusable = |source| DataFolderError::Unusable { path: self.path.clone(), source };
        let file = self.open_lock(CALLS_FILE).map_err(unusable)?;
        file.lock_shared().map_err(unusable)?;
        Ok(DataFolderVisit(file))
    }

    /// True if no call of the command line is under way.
    pub fn is_alone(&self) -> bool {
        self.open_lock(CALLS_FILE).is_ok_and(|file| file.try_lock().is_ok())
    }

    /// A key that nobody but the owner of the folder can read, made when first asked for.
    /// Every process on the folder has the same.
    pub fn key(&self, name: &str) -> Result<[u8; 32], DataFolderError> {
        let mut key = [0; 32];
        rand::rng().fill_bytes(&mut key);
        self.secret(name, &key)?.try_into().map_err(|_| self.not_a(name, "key of 32 bytes"))
    }

    /// The same as a text that a person can hand to a program.
    pub fn token(&self, name: &str) -> Result<String, DataFolderError> {
        let mut key = [0; 32];
        rand::rng().fill_bytes(&mut key);
        let text: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        let kept = String::from_utf8(self.secret(name, format!("{text}\n").as_bytes())?);
        let kept = kept.unwrap_or_default().trim().to_owned();
        // A file that somebody has emptied must not become a token that anybody can show.
        let good = kept.len() >= MIN_TOKEN_BYTES && kept.bytes().all(|one| one.is_ascii_graphic());
        if good {
            Ok(kept)
        } else {
            Err(self.not_a(name, "token of 32 visible characters or more"))
        }
    }

    pub fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    fn not_a(&self, name: &str, what: &str) -> DataFolderError {
        let message = format!("`{name}` is not a {what}; remove it to get a new one");
        let source = io::Error::new(io::ErrorKind::InvalidData, message);
        DataFolderError::Unusable { path: self.path.clone(), source }
    }

    /// The content of the file of that name. Where there is none, it is made of these bytes, whole
    /// and for the owner alone.
    fn secret(&self, name: &str, fresh: &[u8]) -> Result<Vec<u8>, DataFolderError> {
        let unusable = |source| DataFolderError::Unusable { path: self.path.clone(), source };
        let path = self.path.join(name);
        if !path.exists() {
            let draft = self.path.join(format!(".{name}-{}", std::process::id()));
            let made = OpenOptions::new()
                .create(true)
                .truncate(true)
                .write(true)
                .mode(0o600)
                .open(&draft)
                .and_then(|mut file| file.write_all(fresh).and_then(|()| file.sync_all()))
                // Whoever is first wins; the others read what is there then.
                .and_then(|()| match std::fs::hard_link(&draft, &path) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                    other => other,
                });
            let _ = std::fs::remove_file(&draft);
            made.map_err(unusable)?;
        }
        std::fs::read(&path).map_err(unusable)
    }

    fn open_lock(&self, name: &str) -> io::Result<File> {
        OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(self.path.join(name))
    }

    /// Takes the folder for this server.
    pub fn lock(&self) -> Result<DataFolderLock, DataFolderError> {
        let unusable = |source| DataFolderError::Unusable { path: self.path.clone(), source };
        let mut file = self.open_lock(LOCK_FILE).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut process = String::new();
                let _ = file.read_to_string(&mut process);
                return Err(DataFolderError::InUse {
                    path: self.path.clone(),
                    process: process.trim().to_owned(),
                });
            }
            Err(TryLockError::Error(source)) => return Err(unusable(source)),
        }
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(unusable)?;
        Ok(DataFolderLock(file))
    }
}

/// Of the folders in which we remove things, one that was there before us. In `/` or in a project of
/// somebody's, `work` may be all that they have.
fn foreign(path: &Path) -> Option<&'static str> {
    if [LOCK_FILE, CALLS_FILE, DATABASE].iter().any(|name| path.join(name).exists()) {
        return None;
    }
    let is_used = |name: &&str| {
        std::fs::read_dir(path.join(name)).is_ok_and(|mut entries| entries.next().is_some())
    };
    CLEARED.into_iter().find(is_used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_is_secret() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::open(folder.path()).unwrap();
        let key = data.key("state.key").unwrap();
        assert_ne!(key, [0; 32]);
        assert_eq!(data.key("state.key").unwrap(), key);
        let mode = std::fs::metadata(folder.path().join("state.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::write(folder.path().join("state.key"), "short").unwrap();
        assert!(data.key("state.key").is_err());
    }

    #[test]
    fn a_folder_with_the_work_of_others_is_not_taken() {
        for name in CLEARED {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(folder.path().join(name).join("thesis")).unwrap();
            let told = DataFolder::open(folder.path()).unwrap_err().to_string();
            assert!(told.contains(&format!("has a `{name}` and no `toolgate.db`")), "{told}");
            // What we have made ourselves is ours, however far it has come.
            std::fs::write(folder.path().join(CALLS_FILE), "").unwrap();
            DataFolder::open(folder.path()).unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        std::fs::write(folder.path().join("notes.txt"), "theirs").unwrap();
        DataFolder::open(folder.path()).unwrap();
    }

    #[test]
    fn a_token_is_text_and_never_empty() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::open(folder.path()).unwrap();
        let token = data.token("operator.token").unwrap();
        assert_eq!(token.len(), 64);
        assert_eq!(data.token("operator.token").unwrap(), token);
        for short in ["", "\n", "guess me"] {
            std::fs::write(folder.path().join("operator.token"), short).unwrap();
            assert!(data.token("operator.token").is_err(), "{short:?}");
        }
    }

    #[test]
    fn only_one_server_has_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::open(&folder.path().join("a/b")).unwrap();
        let lock = data.lock().unwrap();
        let error = data.lock().unwrap_err().to_string();
        assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
        drop(lock);
        data.lock().unwrap();
    }
}
