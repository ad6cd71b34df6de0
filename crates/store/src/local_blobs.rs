//! Artifacts on the local disk.
//!
//! In the work folder `<job>` is the folder of a call that runs, and `artifacts/<job>` is what it left. The
//! last step from one to the other is a rename, so an artifact is there whole or not at all,
//! and nothing else is ever kept beside artifacts that a name could collide with.

use std::{
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{Durability, work_folder};
use contract::Limits;
use gate::{
    Artifact, Blobs, BoxFuture, JobId,
    blobs::{BlobError, BlobReader, StoredArtifacts, artifact_path},
};
use guard::files::{FileKind, FileStatus, Folder, FolderEntry, plain_name};

/// Behind the name of a job: its artifacts on their way out of a folder that cannot be served as it is, or that is on
/// another file system.
const KEPT: &str = "-kept";

/// Artifacts under a data folder.
#[derive(Clone)]
pub struct LocalBlobs {
    folders: Arc<BlobFolders>,
}

struct BlobFolders {
    work: Folder,
    artifacts: Folder,
    durability: Durability,
}

impl LocalBlobs {
    /// Opens the folders, or makes them. Calls work in the first of `work` that can be used.
    pub fn open(data: &Path, work: &[PathBuf], durability: Durability) -> io::Result<Self> {
        let work = work_folder::open(work)?;
        let artifacts = Folder::open_or_create(&data.join("artifacts"))?;
        Ok(Self { folders: Arc::new(BlobFolders { work, artifacts, durability }) })
    }

    /// After a start: removes the folders of calls that the last process did not end. What has another
    /// name than we give is not ours to remove: somebody may have named us a folder of their own.
    pub fn clear_work(&self) -> io::Result<()> {
        let BlobFolders { work, artifacts, .. } = &*self.folders;
        for (folder, of_calls) in [(work, true), (artifacts, false)] {
            for name in names(folder)? {
                let on_the_way = name.strip_suffix(KEPT);
                let job = if of_calls { on_the_way.or(Some(&*name)) } else { on_the_way };
                if job.and_then(JobId::parse).is_some() {
                    folder.remove_tree(&name)?;
                }
            }
        }
        Ok(())
    }

    /// The jobs that have artifacts on the disk.
    pub fn jobs(&self) -> io::Result<Vec<JobId>> {
        Ok(names(&self.folders.artifacts)?.iter().filter_map(|name| JobId::parse(name)).collect())
    }

    /// The folder of the artifacts.
    pub fn artifact_folder(&self) -> &Path {
        self.folders.artifacts.path()
    }

    /// Does blocking work on a thread that may wait for the disk.
    fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&BlobFolders) -> io::Result<T> + Send + 'static,
    ) -> BoxFuture<'_, io::Result<T>> {
        let folders = self.folders.clone();
        Box::pin(async move {
            tokio::task::spawn_blocking(move || work(&folders)).await.map_err(io::Error::other)?
        })
    }
}

impl Blobs for LocalBlobs {
    fn begin(&self, job: &JobId) -> BoxFuture<'_, Result<PathBuf, BlobError>> {
        let job = job.clone();
        self.blocking(move |folders| Ok(folders.work.create_dir(job.as_str())?.path().to_owned()))
    }

    fn write(
        &self,
        job: &JobId,
        name: &str,
        bytes: Vec<u8>,
    ) -> BoxFuture<'_, Result<(), BlobError>> {
        let (job, name) = (job.clone(), name.to_owned());
        self.blocking(move |folders| folders.work.open_dir(job.as_str())?.write_new(&name, &bytes))
    }

    fn keep(
        &self,
        job: &JobId,
        limits: &Limits,
        first: Option<&str>,
    ) -> BoxFuture<'_, Result<StoredArtifacts, BlobError>> {
        let (job, limits, first) = (job.clone(), *limits, first.map(str::to_owned));
        self.blocking(move |folders| folders.keep(&job, &limits, first.as_deref()))
    }

    fn discard(&self, job: &JobId) {
        let (folders, job) = (self.folders.clone(), job.clone());
        let remove = move || {
            if let Err(error) = folders.work.remove_tree(job.as_str()) {
                tracing::warn!(%error, %job, "the folder of a call could not be removed");
            }
        };
        // Called while a future is dropped, perhaps with the runtime on its way down.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }

    fn read(
        &self,
        job: &JobId,
        name: &str,
        start: u64,
        length: u64,
    ) -> BoxFuture<'_, Result<Option<BlobReader>, BlobError>> {
        let (job, name) = (job.clone(), name.to_owned());
        self.blocking(move |folders| {
            if plain_name(&name).is_err() {
                return Ok(None);
            }
            let opened = folders
                .artifacts
                .open_dir(job.as_str())
                .and_then(|folder| folder.open_regular(&name));
            let mut file = match opened {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                result => result?,
            };
            file.seek(SeekFrom::Start(start))?;
            let part = tokio::io::AsyncReadExt::take(tokio::fs::File::from_std(file), length);
            Ok(Some(Box::new(part) as BlobReader))
        })
    }

    fn remove(&self, job: &JobId) -> BoxFuture<'_, Result<(), BlobError>> {
        let job = job.clone();
        self.blocking(move |folders| folders.artifacts.remove_tree(job.as_str()))
    }
}

impl BlobFolders {
    fn keep(
        &self,
        job: &JobId,
        limits: &Limits,
        first: Option<&str>,
    ) -> io::Result<StoredArtifacts> {
        let folder = self.work.open_dir(job.as_str())?;
        let mut kept = StoredArtifacts::default();
        let mut all_removed = true;
        let mut entries = folder.entries()?;
        if first.is_some() {
            entries.sort_by_key(|entry| entry.name.to_str() != first);
        }
        for entry in entries {
            match may_stay(&entry, limits) {
                ArtifactFate::Yes(name, bytes)
                    if (kept.artifacts.len() as u64) < limits.max_artifacts =>
                {
                    // Whatever the command made of it, we have to be able to serve it.
                    folder.make_readable(name)?;
                    kept.artifacts.push(Artifact {
                        path: artifact_path(job, name),
                        mime_type: mime_type(name, &folder),
                        name: name.to_owned(),
                        bytes,
                    });
                    continue;
                }
                ArtifactFate::Yes(..) => kept.removed_count_cap += 1,
                ArtifactFate::TooLarge => kept.removed_oversize += 1,
                ArtifactFate::No => kept.ignored += 1,
            }
            all_removed &= remove(&folder, &entry)?;
        }
        kept.artifacts.sort_by(|one, other| one.name.cmp(&other.name));
        if self.durability == Durability::Power {
            for artifact in &kept.artifacts {
                folder.open_regular(&artifact.name)?.sync_all()?;
            }
            folder.sync()?;
        }
        if kept.artifacts.is_empty() {
            self.work.remove_tree(job.as_str())?;
        } else if !(all_removed && self.move_whole(job)?) {
            self.move_out(job, &folder, &kept.artifacts)?;
        }
        if self.durability == Durability::Power {
            self.artifacts.sync()?;
        }
        Ok(kept)
    }

    /// Serves the folder of a call as it is. False if it is on another file system.
    fn move_whole(&self, job: &JobId) -> io::Result<bool> {
        match self.work.rename_into(job.as_str(), &self.artifacts, job.as_str()) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => Ok(false),
            moved => moved.map(|()| true),
        }
    }

    /// Serves the artifacts without what lies beside them under names that cannot be spelt, or from another file
    /// system.
    fn move_out(&self, job: &JobId, folder: &Folder, artifacts: &[Artifact]) -> io::Result<()> {
        let clean = format!("{job}{KEPT}");
        let moved = self
            .move_to(&clean, folder, artifacts)
            .and_then(|()| self.artifacts.rename_into(&clean, &self.artifacts, job.as_str()));
        if moved.is_err() {
            let _ = self.artifacts.remove_tree(&clean);
        }
        moved?;
        self.work.remove_tree(job.as_str())
    }

    fn move_to(&self, clean: &str, folder: &Folder, artifacts: &[Artifact]) -> io::Result<()> {
        let target = self.artifacts.create_dir(clean)?;
        for artifact in artifacts {
            folder.move_file_into(&artifact.name, &target)?;
            if self.durability == Durability::Power {
                target.open_regular(&artifact.name)?.sync_all()?;
            }
        }
        if self.durability == Durability::Power { target.sync() } else { Ok(()) }
    }
}

/// The names in a folder of ours, however many there are.
fn names(folder: &Folder) -> io::Result<Vec<String>> {
    let name = |entry: io::Result<std::fs::DirEntry>| match entry {
        Ok(entry) => entry.file_name().into_string().ok().map(Ok),
        Err(error) => Some(Err(error)),
    };
    std::fs::read_dir(folder.path())?.filter_map(name).collect()
}

enum ArtifactFate<'a> {
    Yes(&'a str, u64),
    TooLarge,
    No,
}

/// Only plain files stay that are nobody else's too: a link could lead anywhere.
fn may_stay<'a>(entry: &'a FolderEntry, limits: &Limits) -> ArtifactFate<'a> {
    let FileStatus { kind: FileKind::File, bytes, links: 1, .. } = entry.status else {
        return ArtifactFate::No;
    };
    match entry.name.to_str().filter(|name| plain_name(name).is_ok()) {
        Some(_) if bytes > limits.max_artifact_bytes => ArtifactFate::TooLarge,
        Some(name) => ArtifactFate::Yes(name, bytes),
        None => ArtifactFate::No,
    }
}

/// False: its name is none that a folder takes, so that it can only go with the whole folder.
fn remove(folder: &Folder, entry: &FolderEntry) -> io::Result<bool> {
    match entry.name.to_str() {
        Some(name) if plain_name(name).is_ok() => folder.remove_tree(name).map(|()| true),
        _ => Ok(false),
    }
}

/// The type by the ending of the name; a text without a known ending by its content.
fn mime_type(name: &str, folder: &Folder) -> String {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str()).unwrap_or("");
    let guess = match ending.to_ascii_lowercase().as_str() {
        "txt" | "log" | "cir" | "mesh" => "text/plain",
        "md" => "text/markdown",
        "jsonl" => "application/jsonl",
        "vtk" => "application/octet-stream",
        _ => match mime_guess::from_path(name).first_raw() {
            Some(guess) => guess,
            None if starts_with_text(name, folder) => "text/plain",
            None => "application/octet-stream",
        },
    };
    if guess.starts_with("text/") { format!("{guess}; charset=utf-8") } else { guess.to_owned() }
}

fn starts_with_text(name: &str, folder: &Folder) -> bool {
    let mut start = Vec::new();
    let read = folder.open_regular(name).and_then(|file| file.take(512).read_to_end(&mut start));
    // Where the cut falls into a character, what comes before it decides.
    let is_text = match std::str::from_utf8(&start) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    read.is_ok() && !start.contains(&0) && is_text
}
