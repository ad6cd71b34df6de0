//! The settings of `mlx.load` and `mlx.unload`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use guard::process::ProcessSandbox;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The model servers that agents may start and stop.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MlxSettings {
    /// The program that serves a model, and its arguments; no shell reads them. `{model}` stands for the path or
    /// repository id, `{port}` for the port. Words that begin with `./`, `../` or `~/` are paths and start at the folder of this file or of the user. It stays in the foreground and listens on this machine.
    #[schemars(length(min = 1, max = 1_000))]
    pub launch: Vec<String>,
    /// The machine that serves models. `local` is this one. Anything else is a destination for `ssh`: then the tools are those of the
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
    /// True if a model that is not on this machine may be downloaded.
    pub downloads: bool,
    /// The environment of model servers, beside the few variables that every program needs. `${NAME}` stands for a variable of
    /// our own.
    pub env: BTreeMap<String, String>,
    /// The time that a model may take until it answers, in milliseconds. The call itself has ten minutes.
    #[schemars(range(min = 100, max = 570_000))]
    pub ready_timeout_ms: u64,
    /// The time that a server has to end by itself before it is killed, in milliseconds.
    #[schemars(range(max = 60_000))]
    pub stop_patience_ms: u64,
    /// The size of a server's log, in bytes; the latest output is kept.
    #[schemars(range(min = 4_096, max = 1_073_741_824_u64))]
    pub max_log_bytes: u64,
    /// The folder for the state of model servers. Not set by hand: it lies in the data folder.
    #[serde(skip)]
    pub dir: PathBuf,
    /// What keeps model servers from the files of Toolgate. Not set by hand.
    #[serde(skip)]
    pub sandbox: Option<ProcessSandbox>,
    /// Nothing is really started: for trying the tools out.
    #[serde(skip)]
    pub stand_in: bool,
}

impl Default for MlxSettings {
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
            sandbox: None,
            stand_in: false,
        }
    }
}

impl MlxSettings {
    /// True if models are served on this machine.
    pub fn is_local(&self) -> bool {
        self.host == "local"
    }

    /// The mistakes that the schema cannot see: the setting of each, and a message.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let mut mistakes = Vec::new();
        let mut say = |place: String, words: &str| mistakes.push((place, words.to_owned()));
        for (index, glob) in self.allow.iter().enumerate() {
            if let Err(error) = guard::files::check_glob(glob) {
                say(format!("allow/{index}"), &error.to_string());
            }
        }
        if self.launch.first().is_none_or(String::is_empty) {
            say("launch".into(), "the first word must be the program, and it is empty");
        }
        if !self.launch.iter().any(|word| word.contains("{port}")) {
            say("launch".into(), "`{port}` is missing: every server would use the same port");
        }
        for (name, target) in &self.models {
            let is_path = ["/", "./", "../", "~/"].iter().any(|start| target.starts_with(start));
            if target.contains(char::is_control) || !(is_path || is_repository(target)) {
                let words = "must be a path (`/…`, `./…`, `~/…`) or a repository id (`owner/name`)";
                say(format!("models/{name}"), words);
            }
        }
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                say(
                    format!("env/{name}"),
                    "an environment cannot hold that: empty, or with `=` or NUL",
                );
            }
        }
        // `ssh` would read it as an option, and some of those start programs.
        let is_no_host = |host: &str| {
            host.starts_with('-') || host.contains(char::is_whitespace) || host.contains("${")
        };
        if is_no_host(&self.host) {
            say("host".into(), "must be `local` or an ssh destination like `user@host`");
        }
        if self.host_command.iter().any(|word| word.contains("${")) {
            say("host_command".into(), "nothing is filled in for `${` here");
        }
        mistakes
    }

    /// Relative paths start at `base`, and `~` is the home folder.
    pub(super) fn place(&mut self, base: &Path, data: &Path) {
        self.dir = data.join("mlx");
        for word in self.launch.iter_mut().chain(self.models.values_mut()).chain(&mut self.allow) {
            let path = if let Some(rest) = word.strip_prefix("~/") {
                std::env::home_dir().map(|home| home.join(rest))
            } else if word.starts_with("./") || word.starts_with("../") {
                Some(base.join(&*word).components().collect())
            } else {
                None
            };
            if let Some(path) = path.and_then(|path| path.into_os_string().into_string().ok()) {
                *word = path;
            }
        }
    }
}

/// `owner/name`, as the hub has it: letters, digits and `-_.`, and no option of a program.
pub(crate) fn is_repository(name: &str) -> bool {
    let fits = |part: &str| {
        let first = part.chars().next();
        first.is_some_and(|first| first.is_ascii_alphanumeric() || first == '_')
            && part.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '-' | '_' | '.'))
    };
    name.split_once('/').is_some_and(|(owner, name)| fits(owner) && fits(name))
}
