//! Resolves the name of a model and checks that it may be loaded.

use std::path::{Component, Path};

use gate::ToolError;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::failure;
use crate::settings::{MlxSettings, is_repository};

/// The longest name or path of a model, in bytes.
const MAX_NAME_BYTES: usize = 1_024;
/// The most names of models that a message mentions.
const MAX_NAMED: usize = 10;

/// A model that may be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoadableModel {
    /// The caller's name for it.
    pub(super) name: String,
    /// The name for the server: an absolute path or a repository id.
    pub(super) target: String,
}

impl LoadableModel {
    /// The model that the caller means.
    pub(super) fn find(settings: &MlxSettings, name: &str) -> Result<LoadableModel, ToolError> {
        let target = match settings.models.get(name) {
            Some(target) => target.as_str(),
            None if name.len() <= MAX_NAME_BYTES && is_allowed(settings, name) => name,
            None => return Err(failure::not_found(unknown(settings, name))),
        };
        let model = LoadableModel { name: name.to_owned(), target: target.to_owned() };
        match model.path() {
            Some(path) if !path.exists() => {
                Err(failure::not_found(format!("the path of `{name}` does not exist")))
            }
            _ => Ok(model),
        }
    }

    /// Its path on this machine, if it was given by its path.
    pub(super) fn path(&self) -> Option<&Path> {
        Some(Path::new(&self.target)).filter(|path| path.is_absolute())
    }

    /// Its name without where it comes from.
    pub(super) fn short_name(&self) -> &str {
        self.name.trim_end_matches('/').rsplit('/').next().unwrap_or(&self.name)
    }
}

/// True if a path or repository id may be loaded although the operator has no name for it.
fn is_allowed(settings: &MlxSettings, name: &str) -> bool {
    let is_plain_path = || {
        Path::new(name)
            .components()
            .all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
    };
    (is_repository(name)
        || (name.starts_with('/') && is_plain_path() && !name.contains(char::is_control)))
        && globs(&settings.allow, name.starts_with('/')).is_match(name)
}

/// The globs that are for paths, or those that are for repositories.
fn globs(patterns: &[String], of_paths: bool) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    // What is no glob was told when the settings were read, and allows nothing.
    for pattern in patterns.iter().filter(|pattern| pattern.starts_with('/') == of_paths) {
        if let Ok(glob) = GlobBuilder::new(pattern).literal_separator(true).build() {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}

fn unknown(settings: &MlxSettings, name: &str) -> String {
    let shown: String = name.chars().take(200).collect();
    let mut known: Vec<String> =
        settings.models.keys().take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
    if settings.models.len() > MAX_NAMED {
        known.push("…".into());
    }
    if known.is_empty() {
        format!(
            "`{shown}` is not a model that may be loaded (`tools.mlx.models`, `tools.mlx.allow`)"
        )
    } else {
        format!("`{shown}` is not a model that may be loaded; known models: {}", known.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str) -> Result<String, String> {
        let mut settings =
            MlxSettings { allow: vec!["*/*".into(), "/tmp/*".into()], ..MlxSettings::default() };
        settings.models.insert("small".into(), "/usr".into());
        settings.models.insert("gone".into(), "/no/such/model".into());
        settings.models.insert("hub".into(), "org/large-4bit".into());
        let found = LoadableModel::find(&settings, name);
        found.map(|model| model.target).map_err(|error| error.code)
    }

    #[test]
    fn names_of_the_operator_and_allowed_repositories_are_found() {
        assert_eq!(check("small"), Ok("/usr".into()));
        assert_eq!(check("hub"), Ok("org/large-4bit".into()));
        assert_eq!(check("org/new-model"), Ok("org/new-model".into()));
        assert_eq!(check("gone"), Err("model_not_found".into()));
    }

    #[test]
    fn everything_else_is_not() {
        for name in [
            "unknown",
            "/etc",
            "/etc/passwd",
            "/tmp/../etc",
            "../tmp",
            "./tmp",
            "--help",
            "-m/x",
            "org/-x",
            "org/../etc",
            "org/a/b",
            "a b/c",
            "org/x\n",
            "",
            "/tmp/no-such-folder-here",
            "~/x",
        ] {
            assert_eq!(check(name), Err("model_not_found".into()), "{name}");
        }
    }

    #[test]
    fn messages_say_what_there_is() {
        let mut settings = MlxSettings::default();
        let message =
            |settings: &MlxSettings| LoadableModel::find(settings, "x").unwrap_err().message;
        assert!(message(&settings).contains("tools.mlx.models"));
        settings.models.insert("small".into(), "org/small".into());
        assert!(message(&settings).ends_with("known models: `small`"));
    }
}
