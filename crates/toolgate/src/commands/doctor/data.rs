//! Checks of the data folder: that it can be written, and that what is in it can be used.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use gate::Journal;
use store::{DataFolder, DataFolderError, Durability, Sqlite};

use super::DoctorFinding;
use crate::{
    server_settings::{OPERATOR_TOKEN, STATE_KEY},
    settings::LoadedSettings,
    start_checks,
};

/// The first bytes of every SQLite database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// The largest database that is copied and opened, in bytes; of a larger one only the first bytes are checked.
const MAX_COPIED_BYTES: u64 = 256 << 20;
/// The number of attempts: a server may write while the copy is made.
const ATTEMPTS: usize = 3;
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// Checks that the data folder can be written. It is not created.
pub(super) fn data_folder(path: &Path) -> DoctorFinding {
    const SUBJECT: &str = "data folder";
    const HINT: &str = "set `data_dir` or --data-dir to another folder, or make this one writable";
    let shown = path.display();
    if path.exists() {
        return match DataFolder::open(path) {
            Ok(_) => DoctorFinding::ok(SUBJECT, format!("`{shown}` can be written")),
            // The message says what to do.
            Err(error @ DataFolderError::NotOurs { .. }) => {
                DoctorFinding::problem(SUBJECT, error.to_string())
            }
            Err(error) => {
                let error = anyhow::Error::from(error);
                DoctorFinding::problem(SUBJECT, format!("{error:#}")).hint(HINT)
            }
        };
    }
    let above = path.ancestors().find(|above| above.exists()).unwrap_or(Path::new("."));
    match tempfile::tempfile_in(above) {
        Ok(_) => {
            DoctorFinding::ok(SUBJECT, format!("`{shown}` will be created at the first start"))
        }
        Err(error) => {
            let message = format!("`{shown}` cannot be created in `{}`: {error}", above.display());
            DoctorFinding::problem(SUBJECT, message).hint(HINT)
        }
    }
}

/// Checks that calls can get a folder to work in. Nothing is made.
pub(super) fn work_folder(loaded: &LoadedSettings) -> Option<DoctorFinding> {
    let can_be_made = |path: &PathBuf| {
        let above = path.ancestors().find(|above| above.exists());
        above.is_some_and(|above| tempfile::tempfile_in(above).is_ok())
    };
    let folders = loaded.work_folders();
    if folders.iter().any(can_be_made) {
        return None;
    }
    let shown = folders.first().map_or(String::new(), |folder| folder.display().to_string());
    let message = format!("`{shown}` cannot be made or written");
    Some(
        DoctorFinding::problem("work folder", message)
            .hint("set `work_dir` to a folder where it can"),
    )
}

/// Checks that the database can be opened, if there is one. A copy is opened, because opening may change the file.
pub(super) fn database(folder: &Path) -> Option<DoctorFinding> {
    const SUBJECT: &str = "database";
    let file = folder.join("toolgate.db");
    // A broken link exists too.
    file.symlink_metadata().ok()?;
    let shown = file.display();
    let mut told = opened(&file);
    for _ in 1..ATTEMPTS {
        if told.is_ok() {
            break;
        }
        std::thread::sleep(PAUSE);
        told = opened(&file);
    }
    Some(match told {
        Ok(DatabaseCheck::Whole) => DoctorFinding::ok(SUBJECT, format!("`{shown}` can be opened")),
        Ok(DatabaseCheck::Header) => {
            let limit = MAX_COPIED_BYTES >> 20;
            let message =
                format!("`{shown}` is larger than {limit} MB: only its header was checked");
            DoctorFinding::ok(SUBJECT, message)
        }
        Err(error) => {
            let message = format!("cannot open the database `{shown}`: {error:#}");
            let hint =
                "restore the data folder from a backup, or choose an empty folder with --data-dir";
            DoctorFinding::problem(SUBJECT, message).hint(hint)
        }
    })
}

/// What of a database was checked.
enum DatabaseCheck {
    Whole,
    Header,
}

fn opened(file: &Path) -> anyhow::Result<DatabaseCheck> {
    Sqlite::require_regular(file)?;
    let mut begin = Vec::new();
    // A server needs to write to it.
    let mut kept = OpenOptions::new().read(true).write(true).open(file)?;
    kept.by_ref().take(MAGIC.len() as u64).read_to_end(&mut begin)?;
    // A new database begins as an empty file.
    if begin.is_empty() {
        return Ok(DatabaseCheck::Whole);
    }
    anyhow::ensure!(begin == MAGIC, "it is not a SQLite database");
    if kept.metadata()?.len() > MAX_COPIED_BYTES {
        return Ok(DatabaseCheck::Header);
    }
    // Beside the database, where no program of somebody else reads.
    let above = file.parent().unwrap_or(Path::new("/"));
    let folder = tempfile::Builder::new().prefix(".doctor-").tempdir_in(above)?;
    let copy = folder.path().join("copy.db");
    copied(file, &copy)?;
    match copied(&beside(file), &beside(&copy)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    Sqlite::open(&copy, Durability::Process)?.find_damage()?;
    Ok(DatabaseCheck::Whole)
}

/// The write-ahead log of a database.
fn beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Copies a file. The folder of copies can be read only by this user.
fn copied(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = File::open(from)?;
    io::copy(&mut from, &mut File::create_new(to)?).map(|_| ())
}

/// Checks the secrets in the data folder, if there are any.
pub(super) fn secrets(folder: &Path) -> Option<DoctorFinding> {
    const SUBJECT: &str = "secrets";
    let there = |name: &str| folder.join(name).exists();
    if !there(OPERATOR_TOKEN) && !there(STATE_KEY) {
        return None;
    }
    // Errors of the folder itself are reported by `data_folder`.
    let data = DataFolder::open(folder).ok()?;
    let token = there(OPERATOR_TOKEN).then(|| data.token(OPERATOR_TOKEN).map(|_| ()));
    let key = there(STATE_KEY).then(|| data.key(STATE_KEY).map(|_| ()));
    Some(match token.unwrap_or(Ok(())).and(key.unwrap_or(Ok(()))) {
        Ok(()) => DoctorFinding::ok(SUBJECT, "the secrets in the data folder are valid"),
        Err(error) => DoctorFinding::problem(SUBJECT, format!("{:#}", anyhow::Error::from(error))),
    })
}

/// Checks that the journal can be written, if it exists or the settings name it. It is not created.
pub(super) fn journal(loaded: &LoadedSettings) -> Option<DoctorFinding> {
    const SUBJECT: &str = "journal";
    if let Some(error) = start_checks::journal(loaded) {
        return Some(DoctorFinding::problem(SUBJECT, error.message).hint_if(error.hint));
    }
    let path = loaded.journal();
    let shown = path.display();
    let folder = path.parent().unwrap_or(Path::new("/"));
    let tried = if path.exists() {
        let settings = &loaded.settings.journal;
        Journal::open(&path, settings.max_bytes, settings.max_files).map(|_| ())
    } else if loaded.settings.journal.path.is_some() && folder.is_dir() {
        tempfile::tempfile_in(folder).map(|_| ())
    } else {
        // It is created with the data folder.
        return None;
    };
    Some(match tried {
        Ok(()) => DoctorFinding::ok(SUBJECT, format!("`{shown}` can be written")),
        Err(error) => DoctorFinding::problem(SUBJECT, format!("cannot write `{shown}`: {error}"))
            .hint("set `journal.path` to another file, or make this one writable"),
    })
}
