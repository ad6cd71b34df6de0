//! `toolgate restore`: makes a data folder of a backup.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::ErrorKind,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::json;
use store::{DataFolder, DatabaseCopy, RecordCounts};

use super::backup::NOT_IN_IT;
use crate::{
    Exit,
    archive::{ARTIFACTS, BackupInfo, DATABASE, JOURNAL, reader::ArchiveReader},
    files, interrupts,
    printer::{
        Printer, counted,
        progress::{self, ProgressLine},
        size,
    },
    settings::{Flags, LoadedSettings},
};

/// Restore a backup into a new data folder
///
/// Into the data folder of the settings, or that of `--data-dir`, which must be empty or not exist. Everything in the backup is
/// checked before the folder gets its name: either all of it is restored, or nothing.
#[derive(Args)]
pub struct RestoreCommand {
    /// A file that `toolgate backup` wrote
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was restored.
#[derive(Default)]
struct RestoredFiles {
    artifacts: u64,
    bytes: u64,
}

impl RestoreCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        progress::switch_off_if(self.json);
        let loaded = flags.load()?;
        let target = target(&loaded)?;
        let shown = self.file.display();
        if self.file.metadata().is_ok_and(|found| !found.is_file()) {
            bail!("`{shown}` is not a regular file");
        }
        let file = File::open(&self.file).with_context(|| format!("cannot read `{shown}`"))?;
        let staging = tempfile::Builder::new()
            .prefix(".toolgate-restore-")
            .tempdir_in(files::folder_of(&target)?)
            .map_err(files::without_path)
            .with_context(|| format!("cannot make `{}`", target.display()))?;
        let restored = unpack(file, staging.path());
        let (info, records, files) = restored.with_context(|| format!("`{shown}`"))?;
        place(staging, &target)?;
        if self.json {
            printer.json(&json!({
                "data_dir": target, "created_at": info.created_at, "toolgate": info.toolgate, "schema": info.schema,
                "records": records, "artifacts": files.artifacts, "data_bytes": files.bytes,
            }));
            return Ok(Exit::Ok);
        }
        printer.data(format!(
            "restored {} and {} of {} into {} ({})",
            counted(records.jobs, "job"),
            counted(files.artifacts, "artifact"),
            info.created_at,
            target.display(),
            size(files.bytes),
        ));
        printer.say(NOT_IN_IT);
        if loaded.journal() != loaded.data_dir().join(JOURNAL) {
            let (own, path) = (target.join(JOURNAL), loaded.journal());
            printer.say(format!(
                "the journal is in `{}`, and `journal.path` is `{}`",
                own.display(),
                path.display()
            ));
        }
        printer.say("next: toolgate serve; jobs that waited when the backup was made run then");
        Ok(Exit::Ok)
    }
}

/// The data folder: none yet, or an empty one.
fn target(loaded: &LoadedSettings) -> anyhow::Result<PathBuf> {
    let named = loaded.data_dir();
    let shown = named.display().to_string();
    if let Some(process) = DataFolder::server_on(&named) {
        bail!(
            "a server (process {process}) uses the data folder `{shown}`; stop it, or name another folder with --data-dir"
        );
    }
    match std::fs::read_dir(&named) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                bail!(
                    "the data folder `{shown}` is not empty; name an empty or a new one with --data-dir"
                );
            }
            // A link to it stays.
            named.canonicalize().with_context(|| format!("cannot open `{shown}`"))
        }
        Err(error) if error.kind() == ErrorKind::NotFound && !named.is_symlink() => {
            let above = files::folder_of(&named);
            above.with_context(|| format!("the folder above `{shown}` cannot be used"))?;
            Ok(named)
        }
        Err(error) => Err(error).with_context(|| format!("cannot restore into `{shown}`")),
    }
}

/// Writes the files of a backup into a folder of its own, and checks all of it.
fn unpack(file: File, folder: &Path) -> anyhow::Result<(BackupInfo, RecordCounts, RestoredFiles)> {
    let progress = ProgressLine::begin("reading the backup");
    let (mut archive, info) = ArchiveReader::open(file)?;
    if info.is_newer() {
        bail!(
            "it was made by Toolgate {}, which is newer than this one ({}); restore it with that version",
            info.toolgate,
            env!("CARGO_PKG_VERSION")
        );
    }
    let mut restored = RestoredFiles::default();
    while let Some((name, bytes)) = archive.next()? {
        let path = folder.join(&name);
        if name.starts_with(ARTIFACTS) {
            let above = path.parent().unwrap_or(folder);
            let made = DirBuilder::new().recursive(true).mode(0o700).create(above);
            made.with_context(|| format!("cannot write `{name}`"))?;
            restored.artifacts += 1;
        }
        let mut file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)
        {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                bail!("it has two files `{name}`")
            }
            file => file.with_context(|| format!("cannot write `{name}`"))?,
        };
        archive.copy(&name, bytes, &mut file)?;
        file.sync_all().with_context(|| format!("cannot write `{name}`"))?;
        restored.bytes += bytes;
        progress.set(format!(
            "restoring: {} ({})",
            counted(restored.artifacts, "artifact"),
            size(restored.bytes)
        ));
    }
    let database = folder.join(DATABASE);
    if !database.exists() {
        bail!("it has no `{DATABASE}`");
    }
    let records = DatabaseCopy::open(&database).and_then(|database| database.counts());
    Ok((info, records.with_context(|| format!("cannot open `{DATABASE}` in it"))?, restored))
}

/// Gives the finished folder its name. An empty folder that has it is replaced; one in which somebody has made something
/// meanwhile is not.
fn place(staging: tempfile::TempDir, target: &Path) -> anyhow::Result<()> {
    interrupts::check()?;
    let shown = target.display();
    match std::fs::rename(staging.path(), target) {
        Ok(()) => {
            // It is not there any more under its first name.
            let _ = staging.keep();
            let above = files::folder_of(target).and_then(|above| File::open(above)?.sync_all());
            above.with_context(|| format!("cannot write `{shown}`"))
        }
        Err(error) => {
            let hint = match error.kind() {
                ErrorKind::ResourceBusy | ErrorKind::CrossesDevices => {
                    "; a mounted folder cannot be replaced: restore into a new folder below it"
                }
                _ => "",
            };
            Err(error).with_context(|| format!("cannot restore into `{shown}`{hint}"))
        }
    }
}
