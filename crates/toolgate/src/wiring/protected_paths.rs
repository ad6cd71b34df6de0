//! Files that an agent must not reach.
//!
//! A reader of the operator's credential can approve its own calls; a writer of settings, contracts, overlays, programs or
//! the journal decides what runs and what is recorded. So the folders of tools are checked against the paths of the
//! operator, in both directions, before anything is served. Hard links are not seen, nor a mount of a part of the folder
//! in another place.

use std::path::Path;

use anyhow::{Context, bail};
use guard::files::{Globs, PathLocation, SafePath};

use super::{BoundTool, sandboxes};
use crate::settings::{
    LoadedSettings, SettingsError,
    operator_paths::{OperatorPath, PathRole},
};

/// The one folder of the data folder that is for agents.
const AGENTS_FOLDER: &str = "files";
/// Files of the data folder that must not be read.
const PRIVATE_FILES: [&str; 4] = ["operator.token", "state.key", "toolgate.db", "journal.jsonl"];

/// Refuses settings that would give an agent our own files.
pub fn check(bound: &[BoundTool], loaded: &LoadedSettings) -> anyhow::Result<()> {
    sandboxes::check(loaded, bound)?;
    let tools = loaded.tools();
    let serves = |tool: &str| bound.iter().any(|one| one.contract.name == tool);
    let memory = serves("write_memory_entry").then_some(&tools.memory.dir);
    if let Some(root) = &tools.file_io.root
        && bound.iter().any(|one| one.contract.toolset == "file-io")
    {
        let root = WritableFolder::of("/tools/file_io/root", root, AGENTS_FOLDER)?;
        root.is_apart(loaded)?;
        root.is_apart_from_memory(&tools.memory.dir)?;
    }
    if let Some(folder) = memory {
        // It makes no files but its own two, which mean nothing to us: it may be anywhere in the data folder.
        WritableFolder::of("/tools/memory/dir", folder, "")?.is_apart(loaded)?;
    }
    if serves("read_repo_file") {
        is_a_folder("/tools/repo/root", &tools.repo.root)?;
        let data = PathLocation::of(&loaded.data_dir())?;
        repository(PathLocation::of(&tools.repo.root)?.end(), &tools.repo, data.end())?;
    }
    Ok(())
}

/// A folder that tools write to, so that agents decide what is in it.
struct WritableFolder {
    pointer: &'static str,
    location: PathLocation,
    /// The part of the data folder that it may be in.
    of_data: &'static str,
}

impl WritableFolder {
    fn of(pointer: &'static str, path: &Path, of_data: &'static str) -> anyhow::Result<Self> {
        is_a_folder(pointer, path)?;
        let location = PathLocation::of(path)
            .with_context(|| format!("cannot follow the path `{}`", path.display()))?;
        Ok(Self { pointer, location, of_data })
    }

    fn refused(&self, why: &str) -> anyhow::Error {
        let folder = self.location.end().display();
        SettingsError::new(self.pointer, format!("the folder `{folder}` {why}")).into()
    }

    /// It holds nothing by which the operator decides, and is not inside a folder that does.
    fn is_apart(&self, loaded: &LoadedSettings) -> anyhow::Result<()> {
        let data = PathLocation::of(&loaded.data_dir())?;
        for OperatorPath { what, role, location, named_for } in loaded.operator_paths().iter() {
            if location.is_within(&self.location) {
                let path = location.end().display();
                let data = named_for.as_ref().map(|owner| {
                    format!("if it is data and no code, name it in `sandbox.data` of {owner}, or ")
                });
                let data = data.unwrap_or_default();
                let why = format!("contains {what} (`{path}`); {data}choose another folder");
                bail!(self.refused(&why));
            }
            // A program may start above it: that decides nothing about what is in it.
            if *role == PathRole::Started || !self.location.is_within(location) {
                continue;
            }
            if location.end() != data.end() {
                let path = location.end().display();
                bail!(self.refused(&format!("is inside {what} (`{path}`); choose another folder")));
            }
            let files = PathLocation::of(&data.end().join(self.of_data))?;
            if !self.location.is_within(&files) {
                bail!(self.refused("is inside the data folder; only `files` in it is for agents"));
            }
        }
        let mut code = loaded.operator_paths().code_places();
        if let Some((owner, place)) = code.find(|(_, place)| self.location.end().starts_with(place))
        {
            let place = place.display();
            bail!(self.refused(&format!(
                "is inside a folder that {owner} is started with (`{place}`); if it is data and no code, name it in \
                 `sandbox.data` of {owner}, or choose another folder"
            )));
        }
        Ok(())
    }

    /// What is remembered only grows: no other tool changes it.
    fn is_apart_from_memory(&self, memory: &Path) -> anyhow::Result<()> {
        let memory = PathLocation::of(memory)?;
        if memory.is_within(&self.location) {
            let path = memory.end().display();
            bail!(
                self.refused(&format!(
                    "contains the memory folder (`{path}`); choose another folder"
                ))
            );
        }
        if self.location.is_within(&memory) {
            bail!(self.refused("is inside the memory folder (`tools.memory.dir`)"));
        }
        Ok(())
    }
}

/// A repository often holds the data folder; its lists must not let anybody read it.
fn repository(
    root: &Path,
    repo: &tools::settings::RepoSettings,
    data: &Path,
) -> Result<(), SettingsError> {
    let Ok(below) = data.strip_prefix(root) else { return Ok(()) };
    let Ok(globs) = Globs::new(&repo.allow, &repo.deny) else { return Ok(()) };
    for name in PRIVATE_FILES {
        let path = below.join(name);
        let path = path.to_str().and_then(|path| SafePath::parse(path).ok());
        if let Some(path) = path.filter(|path| globs.allow(path)) {
            let message = format!(
                "`allow` and `deny` let an agent read `{path}` of the data folder; add `{}/**` to \
                 `deny`",
                below.display()
            );
            return Err(SettingsError::new("/tools/repo", message));
        }
    }
    Ok(())
}

/// Finds a mistaken path now and not at the first call.
fn is_a_folder(pointer: &str, path: &Path) -> Result<(), SettingsError> {
    let shown = path.display();
    let message = if path.as_os_str().is_empty() {
        "the path is empty".to_owned()
    } else if path.components().any(|part| part.as_os_str() == "~") {
        format!("`~` in `{shown}` is not expanded; write the whole path")
    } else if path.exists() && !path.is_dir() {
        format!("`{shown}` is not a folder")
    } else {
        return Ok(());
    };
    Err(SettingsError::new(pointer, message))
}
