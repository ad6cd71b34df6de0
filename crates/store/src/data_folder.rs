//! The folder that holds everything the server keeps.

use std::{
    fs::{DirBuilder, File, TryLockError},
    io::{self, Read, Seek, Write},
    net::SocketAddr,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::Duration,
};

use guard::files::Folder;
use rand::Rng;

/// The file that a running server holds locked.
const LOCK_FILE: &str = "server.lock";
/// The file that every call of the command line holds locked together with the others.
const CALLS_FILE: &str = "calls.lock";

/// The file that says where a running server listens.
const ADDRESS_FILE: &str = "server.address";
/// The most of it that is read, in bytes.
const MAX_ADDRESS_BYTES: u64 = 256;

/// The number of times that a lock which somebody has is tried again, and the time before each.
const LOCK_RETRIES: u32 = 3;
const LOCK_RETRY_DELAY: Duration = Duration::from_millis(20);

/// The file of the database.
const DATABASE: &str = "toolgate.db";
/// The folder of jobs on their way into the database.
const SPOOL: &str = "spool";
/// Folders that hold what is removed again, and so must not be somebody else's.
const CLEARED: [&str; 3] = ["work", "artifacts", SPOOL];
/// The place in a SQLite file where its first page says what kind it is and how many tables are listed on it; and what it
/// has there while there are none.
const FIRST_ENTRIES: std::ops::Range<usize> = 100..105;
const NO_TABLES: [u8; 5] = [0x0d, 0, 0, 0, 0];
/// The largest file that may be without tables, in bytes.
const FIRST_PAGES: u64 = 2 * 4_096;

/// The most that a lock file of ours holds, in bytes: the number of a process.
const MAX_LOCK_BYTES: u64 = 16;

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
    /// What it keeps is there, and the database that tells what it is is not.
    #[error(
        "the data folder `{path}` has a `{name}`, and its database `toolgate.db` is missing or empty; \
         put the database back, or choose an empty folder with --data-dir"
    )]
    NoDatabase {
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
pub struct DataFolderLock {
    folder: DataFolder,
    #[allow(dead_code)]
    file: File,
    /// Whoever removes the file as a leftover lets no second server in.
    #[allow(dead_code)]
    spool: File,
}

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
        if let Some(name) = kept_without_database(&path) {
            return Err(DataFolderError::NoDatabase { path, name });
        }
        // Asking for permission bits would not tell about a read-only mount or a full
        // disk; writing a byte does.
        tempfile::tempfile_in(&path)
            .and_then(|mut probe| probe.write_all(b"."))
            .map_err(unusable)?;
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

    /// The process of the server that runs on a folder, as far as we know, if one does. Makes nothing.
    pub fn server_on(path: &Path) -> Option<String> {
        let file = path.join(LOCK_FILE);
        let file = file.is_file().then(|| File::open(file).ok()).flatten()?;
        // Shared: two that look do not take each other for a server.
        if !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
            return None;
        }
        let mut process = String::new();
        let _ = file.take(MAX_LOCK_BYTES).read_to_string(&mut process);
        Some(process.trim().to_owned())
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

    /// The folder of jobs on their way into the database.
    pub fn spool(&self) -> PathBuf {
        self.path.join(SPOOL)
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
            let write = || -> io::Result<()> {
                // Only its owner may read a temporary file.
                let mut draft = tempfile::NamedTempFile::new_in(&self.path)?;
                draft.write_all(fresh)?;
                draft.as_file().sync_all()?;
                match draft.persist_noclobber(&path) {
                    // Whoever is first wins; the others read what is there then.
                    Err(failed) if failed.error.kind() != io::ErrorKind::AlreadyExists => {
                        Err(failed.error)
                    }
                    _ => Ok(()),
                }
            };
            write().map_err(unusable)?;
        }
        read_regular(&path).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => self.not_a(name, "regular file"),
            _ => unusable(error),
        })
    }

    /// Opens a file that is only there to be locked. One that holds anything but a process is somebody else's.
    fn open_lock(&self, name: &str) -> io::Result<File> {
        let folder = Folder::open_or_create(&self.path)?;
        let file = folder.open_lock(name)?;
        if is_lock(&folder, name) {
            return Ok(file);
        }
        let message = format!("`{name}` is none that Toolgate has made; choose another folder");
        Err(io::Error::new(io::ErrorKind::InvalidData, message))
    }

    /// Takes the folder for this server.
    pub fn lock(&self) -> Result<DataFolderLock, DataFolderError> {
        let unusable = |source| DataFolderError::Unusable { path: self.path.clone(), source };
        let mut file = self.open_lock(LOCK_FILE).map_err(unusable)?;
        let spool = Folder::open_or_create(&self.path.join(SPOOL))
            .and_then(|folder| File::open(folder.path()))
            .map_err(unusable)?;
        let try_lock = || file.try_lock().and_then(|()| spool.try_lock());
        let mut locked = try_lock();
        for _ in 0..LOCK_RETRIES {
            // Somebody who only asks whether a server runs has it for a moment.
            if !matches!(locked, Err(TryLockError::WouldBlock)) {
                break;
            }
            std::thread::sleep(LOCK_RETRY_DELAY);
            locked = try_lock();
        }
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut process = String::new();
                let _ = file.read_to_string(&mut process);
                let process = match process.trim() {
                    "" => "unknown".to_owned(),
                    process => process.to_owned(),
                };
                return Err(DataFolderError::InUse { path: self.path.clone(), process });
            }
            Err(TryLockError::Error(source)) => return Err(unusable(source)),
        }
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(unusable)?;
        Ok(DataFolderLock { folder: self.clone(), file, spool })
    }

    /// The address of the server that runs on a folder; none if there is no such server. Nothing is made.
    pub fn served_at(path: &Path) -> io::Result<Option<SocketAddr>> {
        let lock = match File::open(path.join(LOCK_FILE)) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {}
            // What an address of before leads to now is not ours.
            Ok(()) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let mut text = String::new();
        let file = match File::open(path.join(ADDRESS_FILE)) {
            Ok(file) => file,
            // It is about to listen.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        file.take(MAX_ADDRESS_BYTES).read_to_string(&mut text)?;
        Ok(text.trim().parse().ok())
    }
}

impl DataFolderLock {
    /// Writes down where the server listens, for command lines that ask it.
    pub fn tell_address(&self, address: SocketAddr) -> Result<(), DataFolderError> {
        let path = &self.folder.path;
        let unusable = |source| DataFolderError::Unusable { path: path.clone(), source };
        let folder = Folder::open_or_create(path).map_err(unusable)?;
        folder.replace(ADDRESS_FILE, format!("{address}\n").as_bytes()).map_err(unusable)
    }

    /// It listens no more.
    pub fn forget_address(&self) {
        // One that stays is not taken for that of a running server: its lock is free.
        let _ = Folder::open_or_create(&self.folder.path)
            .and_then(|folder| folder.remove_file(ADDRESS_FILE));
    }
}

/// The first bytes of a file, more than any of ours has that is read whole.
fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    guard::files::open_regular(path)?.take(FIRST_PAGES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// True if a lock file of ours has this name: a regular file that is empty or holds the number of a process.
fn is_lock(folder: &Folder, name: &str) -> bool {
    let Ok(file) = folder.open_regular(name) else { return false };
    let mut text = Vec::new();
    file.take(MAX_LOCK_BYTES + 1).read_to_end(&mut text).is_ok()
        && text.len() as u64 <= MAX_LOCK_BYTES
        && text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'\n')
}

/// Of the folders in which we remove things, one that was there before us. In `/` or in a project of
/// somebody's, `work` may be all that they have.
fn foreign(path: &Path) -> Option<&'static str> {
    let has_lock = Folder::open_or_create(path)
        .is_ok_and(|folder| [LOCK_FILE, CALLS_FILE].iter().any(|name| is_lock(&folder, name)));
    if has_lock || path.join(DATABASE).exists() {
        return None;
    }
    let is_used = |name: &&str| {
        std::fs::read_dir(path.join(name)).is_ok_and(|mut entries| entries.next().is_some())
    };
    CLEARED.into_iter().find(is_used)
}

/// Something that was kept together with a database that is gone. With a new one the artifacts would be removed as
/// nobody's, and approvals and keys forgotten.
fn kept_without_database(path: &Path) -> Option<&'static str> {
    if !is_without_tables(&path.join(DATABASE)) {
        return None;
    }
    let holds = |name: &&'static str| {
        let path = path.join(name);
        match std::fs::metadata(&path) {
            Ok(found) if found.is_dir() => {
                std::fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_some())
            }
            Ok(found) => found.len() > 0,
            Err(_) => false,
        }
    };
    let kept = ["operator.token", "artifacts", "journal.jsonl"].into_iter().find(holds);
    // Another process may just have made all of it.
    kept.filter(|_| is_without_tables(&path.join(DATABASE)))
}

/// True if there is no database, or nothing in it: of one that was copied without its log, that may be all that is left.
fn is_without_tables(database: &Path) -> bool {
    let Ok(found) = std::fs::metadata(database) else { return true };
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    let has_log = std::fs::metadata(log).is_ok_and(|log| log.len() > 0);
    // A larger one has tables. It is not opened: closing it again would give back the locks that SQLite has on it.
    if !found.is_file() || found.len() > FIRST_PAGES || has_log {
        return found.len() == 0;
    }
    let first = read_regular(database).unwrap_or_default();
    first.is_empty() || first.get(FIRST_ENTRIES) == Some(&NO_TABLES[..])
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
            std::fs::write(folder.path().join(DATABASE), "rows").unwrap();
            DataFolder::open(folder.path()).unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        std::fs::write(folder.path().join("notes.txt"), "theirs").unwrap();
        DataFolder::open(folder.path()).unwrap();
    }

    #[test]
    fn a_lock_file_of_somebody_else_is_not_emptied() {
        for name in [LOCK_FILE, CALLS_FILE] {
            let folder = tempfile::tempdir().unwrap();
            let theirs = folder.path().join(name);
            std::fs::write(&theirs, "the key is below the mat").unwrap();
            let data = DataFolder::open(folder.path()).unwrap();
            let told = match name {
                LOCK_FILE => data.lock().unwrap_err(),
                _ => data.visit().unwrap_err(),
            };
            let cause = std::error::Error::source(&told).unwrap().to_string();
            assert!(cause.contains("none that Toolgate has made"), "{cause}");
            assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "the key is below the mat");
            // Nor does it make the folder ours.
            std::fs::create_dir_all(folder.path().join("work/thesis")).unwrap();
            DataFolder::open(folder.path()).unwrap_err();

            std::fs::remove_file(&theirs).unwrap();
            std::os::unix::fs::symlink("work", &theirs).unwrap();
            data.lock().and_then(|_| data.visit()).unwrap_err();
        }
    }

    #[test]
    fn what_was_kept_without_its_database_is_not_swept() {
        for name in ["operator.token", "journal.jsonl", "artifacts/job_1"] {
            let folder = tempfile::tempdir().unwrap();
            let data = DataFolder::open(folder.path()).unwrap();
            std::fs::write(data.path().join(CALLS_FILE), "").unwrap();
            let kept = data.path().join(name);
            std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
            std::fs::write(&kept, "kept").unwrap();
            for database in [None, Some("")] {
                if let Some(text) = database {
                    std::fs::write(data.database(), text).unwrap();
                }
                let told = DataFolder::open(folder.path()).unwrap_err().to_string();
                assert!(told.contains("`toolgate.db` is missing or empty"), "{told}");
                assert!(kept.exists());
            }
        }
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
        // Not even for somebody who takes the file for a leftover.
        std::fs::remove_file(data.path().join(LOCK_FILE)).unwrap();
        let error = data.lock().unwrap_err().to_string();
        assert!(error.contains("another server (process unknown)"), "{error}");
        drop(lock);
        data.lock().unwrap();
    }

    #[test]
    fn the_address_of_a_server_is_that_of_one_that_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        assert_eq!(DataFolder::served_at(&path).unwrap(), None);
        assert!(!path.exists());
        let data = DataFolder::open(&path).unwrap();
        let lock = data.lock().unwrap();
        assert_eq!(DataFolder::served_at(&path).unwrap(), None);
        let address: SocketAddr = "127.0.0.1:8000".parse().unwrap();
        lock.tell_address(address).unwrap();
        assert_eq!(DataFolder::served_at(&path).unwrap(), Some(address));
        drop(lock);
        assert_eq!(DataFolder::served_at(&path).unwrap(), None);
    }

    #[test]
    fn a_database_that_lost_its_log_is_no_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::open(folder.path()).unwrap();
        let database = rusqlite::Connection::open(data.database()).unwrap();
        let set = |pragma, value| database.pragma_update(None, pragma, value).unwrap();
        set("auto_vacuum", "INCREMENTAL");
        set("journal_mode", "WAL");
        set("wal_autocheckpoint", "0");
        database.execute_batch("CREATE TABLE jobs (id TEXT)").unwrap();
        data.token("operator.token").unwrap();
        // With its log it is one that another process makes.
        DataFolder::open(folder.path()).unwrap();
        let copy = tempfile::tempdir().unwrap();
        for name in [DATABASE, "operator.token"] {
            std::fs::copy(data.path().join(name), copy.path().join(name)).unwrap();
        }
        let told = DataFolder::open(copy.path()).unwrap_err().to_string();
        assert!(told.contains("`toolgate.db` is missing or empty"), "{told}");
    }
}
