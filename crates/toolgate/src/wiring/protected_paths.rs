//! Files that an agent must not reach.
//!
//! A reader of the operator's credential can approve its own calls; a writer of settings, contracts, the journal or the
//! memory decides what runs and what is remembered. So the folders of tools are checked against these, before anything
//! is served.

use std::path::{Component, Path, PathBuf};

use anyhow::bail;
use guard::files::{Globs, SafePath};

use super::BoundTool;
use crate::settings::{LoadedSettings, SettingsError};

/// Files of the data folder that must not be read.
const PRIVATE_FILES: [&str; 4] = ["operator.token", "state.key", "toolgate.db", "journal.jsonl"];

/// Refuses settings that would give an agent our own files.
pub fn check(bound: &[BoundTool], loaded: &LoadedSettings) -> anyhow::Result<()> {
    let tools = loaded.tools();
    let serves = |tool: &str| bound.iter().any(|one| one.contract.name == tool);
    let data = resolved(&loaded.data_dir())?;
    if let Some(root) = &tools.file_io.root
        && bound.iter().any(|one| one.contract.toolset == "file-io")
    {
        is_a_folder("/tools/file_io/root", root)?;
        agents_folder(&resolved(root)?, &data, loaded)?;
    }
    if serves("read_repo_file") {
        is_a_folder("/tools/repo/root", &tools.repo.root)?;
        repository(&resolved(&tools.repo.root)?, &tools.repo, &data)?;
    }
    if serves("write_memory_entry") {
        is_a_folder("/tools/memory/dir", &tools.memory.dir)?;
    }
    Ok(())
}

/// The folder that an agent may write to holds no protected path, and is not inside one.
fn agents_folder(root: &Path, data: &Path, loaded: &LoadedSettings) -> anyhow::Result<()> {
    let refused = |why: String| {
        SettingsError::new("/tools/file_io/root", format!("the folder `{}` {why}", root.display()))
    };
    for (what, path) in protected(loaded)? {
        if path.starts_with(root) {
            let path = path.display();
            bail!(refused(format!("contains {what} (`{path}`); choose another folder")));
        }
    }
    if root.starts_with(resolved(&loaded.tools().memory.dir)?) {
        bail!(refused("is inside the memory folder (`tools.memory.dir`)".into()));
    }
    if root.starts_with(data) && !root.starts_with(data.join("files")) {
        bail!(refused("is inside the data folder; only `files` in it is for agents".into()));
    }
    Ok(())
}

/// The paths that only the operator may change.
fn protected(loaded: &LoadedSettings) -> anyhow::Result<Vec<(&'static str, PathBuf)>> {
    let mut all = vec![
        ("the data folder", resolved(&loaded.data_dir())?),
        ("the memory folder", resolved(&loaded.tools().memory.dir)?),
    ];
    if let Some(file) = &loaded.file {
        all.push(("the settings file", resolved(file)?));
    }
    if let Some(journal) = &loaded.settings.journal.path {
        all.push(("the journal", resolved(&loaded.path(journal))?));
    }
    for contracts in &loaded.settings.contracts {
        all.push(("contracts", resolved(&loaded.path(contracts))?));
    }
    Ok(all)
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

/// The absolute path, with symbolic links resolved as far as it exists.
fn resolved(path: &Path) -> anyhow::Result<PathBuf> {
    let mut resolved = PathBuf::new();
    for part in std::path::absolute(path)?.components() {
        match part {
            Component::ParentDir => {
                resolved.pop();
            }
            part => resolved.push(part),
        }
        if let Ok(real) = resolved.canonicalize() {
            resolved = real;
        }
    }
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_whole_whatever_is_missing_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        std::fs::create_dir(base.join("real")).unwrap();
        std::os::unix::fs::symlink("real", base.join("link")).unwrap();
        for (path, expected) in [
            ("real", "real"),
            ("link", "real"),
            ("link/new/newer", "real/new/newer"),
            ("nope/..", ""),
            ("nope/../link/x", "real/x"),
            ("./real/../new", "new"),
        ] {
            let expected: PathBuf = base.join(expected).components().collect();
            assert_eq!(resolved(&base.join(path)).unwrap(), expected, "{path}");
        }
        assert!(resolved(Path::new("relative")).unwrap().is_absolute());
    }
}
