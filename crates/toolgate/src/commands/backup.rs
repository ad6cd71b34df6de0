//! `toolgate backup`: copies what the data folder keeps into one file, while a server runs.

use std::{
    fs::File,
    io::{self, ErrorKind},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use clap::Args;
use gate::{Artifact, Clock, JobId, SystemClock};
use guard::files::Folder;
use serde_json::json;
use store::{DatabaseCopy, RecordCounts};
use tempfile::NamedTempFile;

use crate::{
    Exit,
    archive::{ARTIFACTS, BackupInfo, DATABASE, INFO, JOURNAL, writer::ArchiveWriter},
    commands, files, interrupts,
    printer::{
        Printer, counted,
        progress::{self, ProgressLine},
        size,
    },
    server_settings::{OPERATOR_TOKEN, STATE_KEY},
    settings::{Flags, LoadedSettings},
};

/// What no backup has: it belongs to the settings, not to the data.
pub const NOT_IN_IT: &str = "not in it: settings, `toolgate.env`, contracts, overlays, the lock, and `files/` of the data folder";

/// Back up the data folder to one file
///
/// A gzipped tar file with the database, the artifacts, the journal, the operator's token and the state key, as they are
/// at one moment; a server may go on running. Only you can read it (mode 0600), and programs that run as you: with it
/// they can approve calls. The settings, contracts, overlays, the lock and `files/` are not in it.
#[derive(Args)]
pub struct BackupCommand {
    /// The file to write, such as `toolgate-backup.tar.gz`
    file: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What a backup holds.
#[derive(Default)]
struct BackupCounts {
    artifacts: u64,
    /// Artifacts that were removed while it was made.
    left_out: u64,
    /// Parts of the journal.
    journals: u32,
    bytes: u64,
}

impl BackupCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        progress::switch_off_if(self.json);
        let loaded = flags.load()?;
        commands::require_used_data_dir(&loaded)?;
        let data = loaded.data_dir();
        if !loaded.has_data() {
            bail!("the data folder `{}` has no database yet: nothing to back up", data.display());
        }
        self.check_target()?;
        let shown = self.file.display();
        let folder = files::folder_of(&self.file)
            .map_err(files::without_path)
            .with_context(|| format!("cannot write `{shown}`"))?;
        // Everything that is made on the way lies in it, and goes with it.
        let staging = tempfile::Builder::new()
            .prefix(".toolgate-backup-")
            .tempdir_in(folder)
            .map_err(files::without_path)
            .with_context(|| format!("cannot write `{shown}`"))?;
        let info = BackupInfo::new(SystemClock.now());
        let (archive, records, counts) =
            write(&loaded, &info, staging.path()).with_context(|| format!("`{shown}`"))?;
        let bytes = archive.as_file().metadata().map_or(0, |metadata| metadata.len());
        self.place(archive)?;
        drop(staging);
        if self.json {
            printer.json(&json!({
                "file": self.file, "bytes": bytes, "created_at": info.created_at, "toolgate": info.toolgate,
                "schema": info.schema, "records": records, "artifacts": counts.artifacts,
                "left_out": counts.left_out, "journals": counts.journals, "data_bytes": counts.bytes,
            }));
            return Ok(Exit::Ok);
        }
        printer.data(format!(
            "backed up {} and {} to {shown} ({})",
            counted(records.jobs, "job"),
            counted(counts.artifacts, "artifact"),
            size(bytes),
        ));
        if counts.left_out > 0 {
            printer.say(format!(
                "{} left out: removed before or while the backup was made",
                counted(counts.left_out, "artifact")
            ));
        }
        if counts.journals == 0 {
            let journal = loaded.journal();
            printer.say(format!("no journal is in it: `{}` is not a file", journal.display()));
        }
        printer.say(NOT_IN_IT);
        printer.say(
            "keep it as safe as the data folder: whoever can read it, programs of upstreams too, can approve calls",
        );
        Ok(Exit::Ok)
    }

    /// Refuses a file that exists, or cannot be replaced.
    fn check_target(&self) -> anyhow::Result<()> {
        let shown = self.file.display();
        match self.file.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error).with_context(|| format!("cannot write `{shown}`")),
            Ok(found) if !found.is_file() => bail!("`{shown}` exists, and is not a regular file"),
            Ok(_) if !self.force => bail!("`{shown}` already exists; --force replaces it"),
            Ok(_) => Ok(()),
        }
    }

    /// Gives the finished backup its name.
    fn place(&self, archive: NamedTempFile) -> anyhow::Result<()> {
        interrupts::check()?;
        let placed = if self.force {
            self.check_target()?;
            archive.persist(&self.file)
        } else {
            archive.persist_noclobber(&self.file)
        };
        let synced = placed
            .map_err(|error| error.error)
            .and_then(|_| File::open(files::folder_of(&self.file)?)?.sync_all());
        synced
            .map_err(files::without_path)
            .with_context(|| format!("cannot write `{}`", self.file.display()))
    }
}

/// Writes the archive into a folder for temporary files.
fn write(
    loaded: &LoadedSettings,
    info: &BackupInfo,
    staging: &Path,
) -> anyhow::Result<(NamedTempFile, RecordCounts, BackupCounts)> {
    let data = loaded.data_dir();
    let progress = ProgressLine::begin("copying the database");
    let copy = staging.join(DATABASE);
    let stop = interrupts::token();
    // First: what it lists and what happened before it is read after it.
    let made = DatabaseCopy::make(&data.join(DATABASE), &data.join("spool"), &copy, move || {
        stop.is_cancelled()
    });
    interrupts::check()?;
    let database = made.context("cannot copy the database")?;
    let records = database.counts()?;

    let archive = NamedTempFile::new_in(staging).context("cannot write the backup")?;
    let sums = tempfile::tempfile_in(staging).context("cannot write the backup")?;
    let file = archive.as_file().try_clone().context("cannot write the backup")?;
    let seconds = SystemClock.now().0.max(0).unsigned_abs() / 1_000;
    let mut writer = ArchiveWriter::new(file, sums, seconds);
    let text = format!("{}\n", serde_json::to_string_pretty(info)?);
    writer.add(INFO, text.len() as u64, &mut text.as_bytes())?;
    let mut counts = BackupCounts::default();
    progress.set(format!("writing the database ({})", counted(records.jobs, "job")));
    add_file(&mut writer, DATABASE, &copy)?;
    for name in [OPERATOR_TOKEN, STATE_KEY] {
        match add_file(&mut writer, name, &data.join(name)) {
            // Made at the first start of a server.
            Err(error) if is_missing(&error) => {}
            added => added?,
        }
    }
    progress.set("writing the journal");
    for (name, mut journal, bytes) in journals(loaded)? {
        writer.add(&name, bytes, &mut journal)?;
        counts.journals += 1;
    }
    add_artifacts(&mut writer, &database, &data, &mut counts, &progress)?;
    progress.set("finishing the backup");
    counts.bytes = writer.finish()?;
    Ok((archive, records, counts))
}

fn add_file(writer: &mut ArchiveWriter, name: &str, path: &Path) -> anyhow::Result<()> {
    let mut file = File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let bytes = file.metadata().with_context(|| format!("cannot read `{name}`"))?.len();
    writer.add(name, bytes, &mut file)
}

fn is_missing(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == ErrorKind::NotFound)
}

/// The parts of the journal, opened before any is read: a rotation in between renames them. A pipe or a device is none.
fn journals(loaded: &LoadedSettings) -> anyhow::Result<Vec<(String, File, u64)>> {
    let path = loaded.journal();
    let numbers = (1..=loaded.settings.journal.max_files).map(|number| format!(".{number}"));
    let mut found: Vec<(String, File, u64)> = Vec::new();
    let mut seen = Vec::new();
    for ending in std::iter::once(String::new()).chain(numbers) {
        let mut part = path.clone().into_os_string();
        part.push(&ending);
        let part = PathBuf::from(part);
        if !part.is_file() {
            continue;
        }
        let opened = File::open(&part).and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, file) =
            opened.with_context(|| format!("cannot read `{}`", part.display()))?;
        // Rotated since the part before was opened.
        let identity = (metadata.dev(), metadata.ino());
        if seen.contains(&identity) {
            continue;
        }
        seen.push(identity);
        let name = match found.len() {
            0 => JOURNAL.to_owned(),
            number => format!("{JOURNAL}.{number}"),
        };
        found.push((name, file, metadata.len()));
    }
    Ok(found)
}

/// Adds the artifacts that the copied database lists. One that is gone is counted.
fn add_artifacts(
    writer: &mut ArchiveWriter,
    database: &DatabaseCopy,
    data: &Path,
    counts: &mut BackupCounts,
    progress: &ProgressLine,
) -> anyhow::Result<()> {
    let path = data.join(ARTIFACTS);
    let folder = path.is_dir().then(|| Folder::open_or_create(&path)).transpose()?;
    let open = |job: &JobId, artifact: &Artifact| -> io::Result<File> {
        let folder = folder.as_ref().ok_or(ErrorKind::NotFound)?;
        folder.open_dir(job.as_str())?.open_regular(&artifact.name)
    };
    database.each_artifact(|job, artifact| {
        let name = format!("{ARTIFACTS}/{job}/{}", artifact.name);
        let mut file = match open(job, artifact) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                counts.left_out += 1;
                return Ok(());
            }
            file => file.with_context(|| format!("cannot read `{name}`"))?,
        };
        let bytes = file.metadata().with_context(|| format!("cannot read `{name}`"))?.len();
        writer.add(&name, bytes, &mut file)?;
        counts.artifacts += 1;
        let written = size(writer.bytes);
        progress.set(format!("writing artifacts: {} ({written})", counts.artifacts));
        Ok(())
    })
}
