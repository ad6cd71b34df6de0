//! Which model servers may be started, and how.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The model servers that agents may start and stop.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mlx {
    /// The program that serves a model, and its arguments; no shell reads them. `{model}` stands for the path or
    /// repository id, `{port}` for the port. A path of a program starts at the folder of this file. It stays in the foreground and listens on this machine.
    #[schemars(length(min = 1, max = 1_000))]
    pub launch: Vec<String>,
    /// Where models are served: `local` is here. Anything else is where `ssh` goes to: then the tools are those of the
    /// Toolgate over there.
    #[schemars(length(min = 1, max = 255))]
    pub host: String,
    /// The program that runs there, if `host` is not `local`.
    #[schemars(length(min = 1))]
    pub host_command: Vec<String>,
    /// Short names of models, each with a path (`/…`, `./…`, `~/…`) or a repository id.
    pub models: BTreeMap<String, String>,
    /// Globs of what else may be loaded by its path or repository id. `*` stays within a name: `*/*` are all
    /// repositories, and no path.
    #[schemars(length(max = 1_000))]
    pub allow: Vec<String>,
    /// Whether a model that is not on this machine may be downloaded.
    pub downloads: bool,
    /// The environment of model servers, beside the few variables that every program needs.
    pub env: BTreeMap<String, String>,
    /// How long a model may take until it answers, in milliseconds.
    #[schemars(range(min = 100, max = 3_600_000))]
    pub ready_timeout_ms: u64,
    /// How long a server has to end by itself before it is killed, in milliseconds.
    #[schemars(range(max = 60_000))]
    pub stop_patience_ms: u64,
    /// How much of what a server prints is kept, in bytes: the latest.
    #[schemars(range(min = 4_096, max = 1_073_741_824_u64))]
    pub max_log_bytes: u64,
    /// Where the state of model servers is kept. Not set by hand: it lies in the data folder.
    #[serde(skip)]
    pub dir: PathBuf,
    /// Nothing is really started: for trying the tools out.
    #[serde(skip)]
    pub stand_in: bool,
}

impl Default for Mlx {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            launch: words(&[
                "mlx_lm.server",
                "--model",
                "{model}",
                "--host",
                "127.0.0.1",
                "--port",
                "{port}",
            ]),
            host: "local".into(),
            host_command: words(&["toolgate", "mcp", "--toolset", "mlxctl"]),
            models: BTreeMap::new(),
            allow: words(&["*/*"]),
            downloads: false,
            env: BTreeMap::new(),
            ready_timeout_ms: 300_000,
            stop_patience_ms: 5_000,
            max_log_bytes: 1_048_576,
            dir: PathBuf::from("data/mlx"),
            stand_in: false,
        }
    }
}

impl Mlx {
    /// Whether models are served on this machine.
    pub fn is_local(&self) -> bool {
        self.host == "local"
    }

    /// What means nothing: the key and the place in it, and what is wrong.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let mut mistakes = Vec::new();
        for (index, glob) in self.allow.iter().enumerate() {
            if let Err(error) = guard::files::check_glob(glob) {
                mistakes.push((format!("allow/{index}"), error.to_string()));
            }
        }
        if !self.launch.iter().any(|word| word.contains("{port}")) {
            mistakes.push((
                "launch".into(),
                "nothing says `{port}`: every server would be the same".into(),
            ));
        }
        for (name, target) in &self.models {
            if target.is_empty() || target.starts_with('-') || target.contains(char::is_control) {
                let words = "must be a path (`/…`, `./…`, `~/…`) or a repository id";
                mistakes.push((format!("models/{name}"), words.into()));
            }
        }
        // `ssh` would read it as an option, and some of those start programs.
        if self.host.starts_with('-') || self.host.contains(char::is_whitespace) {
            mistakes.push(("host".into(), "must be `local` or where `ssh` goes to".into()));
        }
        mistakes
    }

    /// Relative paths of models start at `base`, and `~` is the home folder.
    pub(super) fn place(&mut self, base: &Path, data: &Path) {
        self.dir = data.join("mlx");
        if let Some(program) = self.launch.first_mut().filter(|program| program.contains('/')) {
            let whole = base.join(&*program).components().collect::<PathBuf>();
            *program = whole.to_string_lossy().into_owned();
        }
        for target in self.models.values_mut() {
            let whole = if let Some(rest) = target.strip_prefix("~/") {
                std::env::home_dir().map(|home| home.join(rest))
            } else if target.starts_with("./") || target.starts_with("../") {
                Some(base.join(&*target).components().collect())
            } else {
                None
            };
            if let Some(whole) = whole.and_then(|path| path.into_os_string().into_string().ok()) {
                *target = whole;
            }
        }
    }
}
