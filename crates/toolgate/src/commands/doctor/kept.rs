//! What a server has kept from earlier, and whether it can go on with it.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use store::{DataFolder, Durability, Sqlite};

use super::Finding;
use crate::{
    doors::{OPERATOR_TOKEN, STATE_KEY},
    settings::Loaded,
    starting,
};

/// How every file of a database begins.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// The largest database that is opened in a copy, in bytes; of a larger one only the beginning is looked at.
const MAX_COPIED_BYTES: u64 = 256 << 20;
/// How often a copy is made: somebody may have written while it was.
const ATTEMPTS: usize = 3;
/// How long is waited between them.
const PAUSE: Duration = Duration::from_millis(100);

/// Whether the database can be opened, if there is one. It is opened in a copy, because to open it may change it.
pub(super) fn database(folder: &Path) -> Option<Finding> {
    const SUBJECT: &str = "database";
    let file = folder.join("toolgate.db");
    // A link that leads nowhere is there too.
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
        Ok(()) => Finding::ok(SUBJECT, format!("`{shown}` can be opened")),
        Err(error) => {
            let message = format!("cannot open the database `{shown}`: {error:#}");
            let hint = "put back a copy of the data folder, or move the file away to begin anew";
            Finding::problem(SUBJECT, message).hint(hint)
        }
    })
}

fn opened(file: &Path) -> anyhow::Result<()> {
    let mut begin = Vec::new();
    // A server writes to it, so it has to be one that can be written.
    let mut kept = OpenOptions::new().read(true).write(true).open(file)?;
    kept.by_ref().take(MAGIC.len() as u64).read_to_end(&mut begin)?;
    // An empty file is how a new one begins.
    if begin.is_empty() {
        return Ok(());
    }
    anyhow::ensure!(begin == MAGIC, "it is no database");
    if kept.metadata()?.len() > MAX_COPIED_BYTES {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("copy.db");
    copied(file, &copy)?;
    match copied(&beside(file), &beside(&copy)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    Sqlite::open(&copy, Durability::Process)?;
    Ok(())
}

/// The file of what is written and not yet in the database.
fn beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// The bytes of a file in a new one. The folder of copies is one that only this user may read.
fn copied(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = File::open(from)?;
    io::copy(&mut from, &mut File::create_new(to)?).map(|_| ())
}

/// Whether the secrets of the folder are some, where they are there.
pub(super) fn secrets(folder: &Path) -> Option<Finding> {
    const SUBJECT: &str = "secrets";
    let there = |name: &str| folder.join(name).exists();
    if !there(OPERATOR_TOKEN) && !there(STATE_KEY) {
        return None;
    }
    // What is wrong with the folder itself is told elsewhere.
    let data = DataFolder::open(folder).ok()?;
    let token = there(OPERATOR_TOKEN).then(|| data.token(OPERATOR_TOKEN).map(|_| ()));
    let key = there(STATE_KEY).then(|| data.key(STATE_KEY).map(|_| ()));
    Some(match token.unwrap_or(Ok(())).and(key.unwrap_or(Ok(()))) {
        Ok(()) => Finding::ok(SUBJECT, "those of the data folder can be used"),
        Err(error) => Finding::problem(SUBJECT, format!("{:#}", anyhow::Error::from(error))),
    })
}

/// Whether the journal can be written, where the settings say where it is or there is one. None is made.
pub(super) fn journal(loaded: &Loaded) -> Option<Finding> {
    const SUBJECT: &str = "journal";
    if let Some(obstacle) = starting::journal(loaded) {
        let finding = Finding::problem(SUBJECT, obstacle.message);
        return Some(match obstacle.hint {
            Some(hint) => finding.hint(hint),
            None => finding,
        });
    }
    let path = match &loaded.settings.journal.path {
        Some(path) => loaded.path(path),
        None => loaded.data_dir().join("journal.jsonl"),
    };
    let shown = path.display();
    let folder = path.parent().unwrap_or(Path::new("/"));
    let tried = if path.exists() {
        OpenOptions::new().read(true).append(true).open(&path).map(|_| ())
    } else if loaded.settings.journal.path.is_some() && folder.is_dir() {
        tempfile::tempfile_in(folder).map(|_| ())
    } else {
        // It will be made with the data folder, of which is told elsewhere.
        return None;
    };
    Some(match tried {
        Ok(()) => Finding::ok(SUBJECT, format!("`{shown}` can be written")),
        Err(error) => Finding::problem(SUBJECT, format!("cannot write `{shown}`: {error}"))
            .hint("choose another with `journal.path`, or give us the right to write"),
    })
}
