//! Tools that exist and are not served: what an operator can do about each.

use std::path::{Path, PathBuf};

use crate::{
    files,
    settings::{DEFAULT_FILE, LoadedSettings},
    wiring::{
        self,
        absent_tools::{AbsentTools, value_of},
    },
};

/// The folder in which contracts are looked for that the settings do not name.
pub const CONTRACTS_FOLDER: &str = "contracts";
/// The most files that are looked at.
const MAX_FILES: usize = 1_000;

/// What to do to have this tool served, if that is known.
pub fn hint(loaded: &LoadedSettings, absent: &AbsentTools, name: &str) -> Option<String> {
    let unwired = || unwired(loaded).find(|one| one.tool == name).map(|one| one.hint(loaded));
    absent.hint(name).or_else(unwired)
}

/// A contract file that the settings do not name.
pub struct UnwiredContract {
    file: PathBuf,
    /// The name of the tool.
    tool: String,
}

impl UnwiredContract {
    pub fn hint(&self, loaded: &LoadedSettings) -> String {
        let file = self.file.display();
        let folder = self.file.parent().unwrap_or(Path::new("."));
        format!("the settings do not name `{file}`: {}", line_to_add(loaded, folder))
    }
}

/// The contracts in the usual folder, beside the settings and where the person is.
pub fn unwired(loaded: &LoadedSettings) -> impl Iterator<Item = UnwiredContract> {
    let real = |file: &Path| file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let wired: Vec<_> =
        wiring::user_files(loaded).unwrap_or_default().iter().map(|file| real(file)).collect();
    let folders = [loaded.path(CONTRACTS_FOLDER), PathBuf::from(CONTRACTS_FOLDER)];
    let files =
        folders.into_iter().flat_map(|folder| files::contracts_in(&folder).unwrap_or_default());
    files.take(MAX_FILES).filter_map(move |file| {
        if wired.contains(&real(&file)) {
            return None;
        }
        let text = files::read_contract_text(&file).ok()?;
        let tool = value_of("name", &text).filter(|_| text.contains("input_schema"))?;
        Some(UnwiredContract { file, tool })
    })
}

/// The change of the settings that adds the contracts of a folder.
pub fn line_to_add(loaded: &LoadedSettings, folder: &Path) -> String {
    let file = loaded.file.as_deref().unwrap_or(Path::new(DEFAULT_FILE)).display();
    let entry = entry(loaded, folder);
    if loaded.settings.contracts.is_empty() {
        format!("add `contracts: [ {entry} ]` to {file}")
    } else {
        format!("add `{entry}` to `contracts` in {file}")
    }
}

/// A folder as the settings name it: from their own folder on, if it is inside.
pub fn entry(loaded: &LoadedSettings, folder: &Path) -> String {
    let real = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path));
    let (Ok(base), Ok(whole)) = (real(&loaded.path(".")), real(folder)) else {
        return folder.display().to_string();
    };
    match whole.strip_prefix(&base) {
        Ok(inside) => format!("./{}", inside.display()),
        Err(_) => whole.display().to_string(),
    }
}
