//! The environment of a model server.

use std::path::{Path, PathBuf};

use crate::settings::MlxSettings;

/// The variables of ours that it gets: what programs need to run, and where models are kept.
const PASSED_ON: [&str; 12] = [
    "HF_ENDPOINT",
    "HF_HOME",
    "HF_HUB_CACHE",
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "TMPDIR",
    "USER",
    "VIRTUAL_ENV",
    "XDG_CACHE_HOME",
];
const CACHE: &str = "HF_HUB_CACHE";

/// The whole environment of a model server.
pub(super) fn of(settings: &MlxSettings) -> Vec<(String, String)> {
    let ours =
        PASSED_ON.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    let mut all: Vec<(String, String)> = ours.collect();
    // Its log is read while it starts.
    all.push(("PYTHONUNBUFFERED".into(), "1".into()));
    if !settings.downloads {
        all.push(("HF_HUB_OFFLINE".into(), "1".into()));
    }
    for (name, value) in &settings.env {
        all.retain(|(other, _)| other != name);
        all.push((name.clone(), value.clone()));
    }
    if settings.downloads { all } else { with_cache(all, &settings.dir) }
}

/// A server of mlx-lm cannot list its models where there is no folder of downloads.
fn with_cache(mut all: Vec<(String, String)>, dir: &Path) -> Vec<(String, String)> {
    let value = |name: &str| all.iter().find(|(other, _)| other == name).map(|(_, value)| value);
    let cache = value(CACHE).map(PathBuf::from).or_else(|| {
        let home = value("HF_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(Path::new(value("XDG_CACHE_HOME")?).join("huggingface")));
        let home = home.or_else(|| Some(Path::new(value("HOME")?).join(".cache/huggingface")));
        Some(home?.join("hub"))
    });
    if cache.is_none_or(|cache| !cache.is_dir()) {
        let own = dir.join("hub");
        if let (Ok(()), Some(own)) = (std::fs::create_dir_all(&own), own.to_str()) {
            all.retain(|(name, _)| name != CACHE);
            all.push((CACHE.into(), own.to_owned()));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operator_has_the_last_word_and_downloads_are_off() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = MlxSettings { dir: folder.path().to_owned(), ..MlxSettings::default() };
        settings.env.insert("PATH".into(), "/opt/bin".into());
        settings.env.insert("HF_HOME".into(), "/no/such/folder".into());
        let all = of(&settings);
        let value = |name: &str| {
            all.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
        };
        assert_eq!(value("PATH"), Some("/opt/bin"));
        assert_eq!(value("HF_HUB_OFFLINE"), Some("1"));
        assert_eq!(value(CACHE), folder.path().join("hub").to_str());
        settings.downloads = true;
        assert!(!of(&settings).iter().any(|(name, _)| name == "HF_HUB_OFFLINE"));
    }
}
