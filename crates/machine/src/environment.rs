//! Where facts are looked for.

use std::path::{Path, PathBuf};

/// Where facts are looked for: this machine, or a tree that looks like one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineEnvironment {
    /// The folder that stands for `/`.
    pub root: PathBuf,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// The folders of programs, in the order in which they are searched.
    pub path: Vec<PathBuf>,
    /// The virtual environment of Python that is active (`VIRTUAL_ENV`).
    pub virtual_env: Option<PathBuf>,
    /// The version that pyenv is told to use (`PYENV_VERSION`).
    pub pyenv_version: Option<String>,
    /// Where Homebrew lives (`HOMEBREW_PREFIX`), beside its usual machine.
    pub homebrew: Option<PathBuf>,
    /// The word of the environment about a container (`container`).
    pub container: Option<String>,
    /// True if the environment says that this is a pod (`KUBERNETES_SERVICE_HOST`).
    pub kubernetes: bool,
    /// True if this is the machine that the code runs on, so that its drivers may be asked.
    pub is_here: bool,
}

/// The number of folders of programs that are searched.
const MAX_PATH_FOLDERS: usize = 256;

impl MachineEnvironment {
    /// This machine, as the environment of this process shows it.
    pub fn here() -> Self {
        let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self {
            root: PathBuf::from("/"),
            home: folder("HOME"),
            path: std::env::split_paths(&path)
                .filter(|folder| folder.is_absolute())
                .take(MAX_PATH_FOLDERS)
                .collect(),
            virtual_env: folder("VIRTUAL_ENV"),
            pyenv_version: std::env::var("PYENV_VERSION").ok(),
            homebrew: folder("HOMEBREW_PREFIX"),
            container: std::env::var("container").ok(),
            kubernetes: std::env::var_os("KUBERNETES_SERVICE_HOST").is_some(),
            is_here: true,
        }
    }

    /// A tree that looks like a machine, with the usual folders of programs and no environment.
    pub fn under(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            home: None,
            path: ["usr/local/bin", "usr/bin", "bin"].map(|folder| root.join(folder)).into(),
            virtual_env: None,
            pyenv_version: None,
            homebrew: None,
            container: None,
            kubernetes: false,
            is_here: false,
        }
    }

    /// A path of the machine, given without its leading slash.
    pub(crate) fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }
}
