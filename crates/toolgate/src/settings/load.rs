//! Loads the settings from the file, the environment and the flags.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use anyhow::{Context, bail};
use clap::Args;
use contract::{Diagnostic, Document, Violation, document::edit};
use guard::files::PathLocation;
use serde_json::{Value, json};

use super::{
    FileErrors, SettingsError, SourceFiles, ToolgateSettings, compatibility, env_file, mcp_servers,
    mlx_host, operator_paths::OperatorPaths,
};
use crate::files;

/// The file that is read if no other is named.
pub const DEFAULT_FILE: &str = "toolgate.yaml";
/// The file that every used data folder has.
const DATABASE: &str = "toolgate.db";
/// The prefix of environment variables that set one setting each:
/// `TOOLGATE_SERVER__MAX_BODY_BYTES=1000` is `server.max_body_bytes: 1000`.
pub(super) const PREFIX: &str = "TOOLGATE_";

/// The options of every command.
#[derive(Debug, Clone, Default, Args)]
pub struct Flags {
    /// Settings file [default: ./toolgate.yaml, if it exists]
    #[arg(long, global = true, value_name = "FILE", env = "TOOLGATE_CONFIG")]
    pub config: Option<PathBuf>,
    /// Read no settings file: neither ./toolgate.yaml nor the one in `TOOLGATE_CONFIG`
    #[arg(long, global = true)]
    pub no_config: bool,
    /// Address and port to listen on, or a port of this machine alone, instead of `server.listen`
    #[arg(long, global = true, value_name = "ADDRESS", env = "TOOLGATE_LISTEN")]
    pub listen: Option<String>,
    /// Data folder, instead of `data_dir`
    #[arg(long, global = true, value_name = "FOLDER", env = "TOOLGATE_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// The files of a certificate and its key, instead of `server.tls`
    #[arg(skip)]
    pub tls: Option<(PathBuf, PathBuf)>,
}

/// The settings, and where they came from.
pub struct LoadedSettings {
    pub settings: ToolgateSettings,
    /// Warnings about parts of the file that are ignored.
    pub remarks: Vec<Diagnostic>,
    /// The file that they were read from, if there is one.
    pub file: Option<PathBuf>,
    /// The files that these settings and what belongs to them were read from.
    pub sources: Arc<SourceFiles>,
    /// The file as it was read, to show places in it.
    document: Document,
    /// The file as text.
    text: String,
    /// The folder that relative paths in the settings start at.
    base: PathBuf,
    /// The data folder from the flags, which starts where the person is.
    data_dir: Option<PathBuf>,
    /// Made when first asked for.
    operator_paths: OnceLock<OperatorPaths>,
}

impl LoadedSettings {
    /// A path in the settings, resolved from the folder of the file.
    pub fn path(&self, path: &str) -> PathBuf {
        // Without the `./` that it may begin with.
        self.base.join(path).components().collect()
    }

    /// A warning at a place in the file.
    pub fn warning(&self, pointer: &str, message: impl Into<String>) -> Diagnostic {
        self.document.warning(pointer, message)
    }

    /// An error at a place in the file.
    pub fn error(&self, pointer: &str, message: impl Into<String>) -> Diagnostic {
        self.document.error(pointer, message)
    }

    /// The same errors at their places: in another file, or in this one at its setting if it is a `SettingsError`.
    pub fn placed(&self, error: anyhow::Error) -> Vec<Diagnostic> {
        error.downcast().map_or_else(
            |error: anyhow::Error| {
                let pointer = error.downcast_ref().map_or("", SettingsError::pointer);
                vec![self.error(pointer, format!("{error:#}"))]
            },
            |FileErrors(found)| found,
        )
    }

    /// True if the file contains this text anywhere.
    pub fn mentions(&self, word: &str) -> bool {
        self.text.contains(word)
    }

    /// The data folder that was named on the command line or in the environment, if it was never used.
    pub fn unused_data_dir(&self) -> Option<&Path> {
        self.data_dir.as_deref().filter(|_| !self.has_data())
    }

    /// True if the data folder was ever used.
    pub fn has_data(&self) -> bool {
        self.data_dir().join(DATABASE).exists()
    }

    /// The data folder.
    pub fn data_dir(&self) -> PathBuf {
        self.data_dir.clone().unwrap_or_else(|| self.path(&self.settings.data_dir))
    }

    /// The folders that may be the one in which calls get a folder to work in, the first that can be used.
    pub fn work_folders(&self) -> Vec<PathBuf> {
        let data = self.data_dir();
        let data = PathLocation::of(&data).map_or(data, |location| location.end().to_owned());
        let chosen = self.settings.work_dir.as_ref().map(|folder| self.path(folder));
        store::work_folders(&data, chosen.as_deref())
    }

    pub fn journal(&self) -> PathBuf {
        let path = self.settings.journal.path.as_ref();
        path.map_or_else(|| self.data_dir().join("journal.jsonl"), |path| self.path(path))
    }

    /// The paths by which the operator decides.
    pub fn operator_paths(&self) -> &OperatorPaths {
        self.operator_paths.get_or_init(|| OperatorPaths::of(self))
    }

    /// The settings of the built-in tools.
    pub fn tools(&self) -> tools::ToolSettings {
        let tools = &self.settings.tools;
        tools::ToolSettings {
            search: tools.search.clone(),
            file_io: tools.file_io.clone(),
            repo: tools.repo.clone(),
            memory: tools.memory.clone(),
            sys_audit: tools.sys_audit.clone(),
            mlx: mlx_host::expanded(&tools.mlx),
            transcript: tools.transcript.clone(),
            llm: self.settings.llm.clone(),
            web_fetch: tools.web_fetch.clone(),
        }
        .placed(&self.base, &self.data_dir())
    }
}

impl Flags {
    /// The file that the settings are read from, if there is one.
    pub fn file(&self) -> Option<PathBuf> {
        match &self.config {
            _ if self.no_config => None,
            Some(file) => Some(file.clone()),
            None => Some(PathBuf::from(DEFAULT_FILE)).filter(|file| file.exists()),
        }
    }

    /// Reads the settings. Mistakes in the file are one `FileErrors`.
    pub fn load(&self) -> anyhow::Result<LoadedSettings> {
        self.load_from(Arc::default())
    }

    /// The same, and notes every file that is read, also if there is a mistake.
    pub fn load_from(&self, sources: Arc<SourceFiles>) -> anyhow::Result<LoadedSettings> {
        let file = self.file();
        let text = match &file {
            Some(file) => {
                sources.note(file);
                read(file)?
            }
            None => String::new(),
        };
        self.load_noted(file, text, sources)
    }

    /// Reads the settings from a text that is, or will be, in this file.
    pub fn load_text(&self, file: Option<PathBuf>, text: String) -> anyhow::Result<LoadedSettings> {
        self.load_noted(file, text, Arc::default())
    }

    /// The flags of a running server: the file that it was started with, or none.
    pub fn of_running(&self) -> Self {
        let config = self.file();
        Self { no_config: config.is_none(), config, ..self.clone() }
    }

    fn load_noted(
        &self,
        file: Option<PathBuf>,
        text: String,
        sources: Arc<SourceFiles>,
    ) -> anyhow::Result<LoadedSettings> {
        let name = file.as_ref().map_or("defaults".to_owned(), |file| file.display().to_string());
        // A file of comments alone means the defaults.
        let text = if edit::is_blank(&text) { "{}".to_owned() } else { text };
        let mut document =
            Document::parse(&name, &text).map_err(|diagnostic| FileErrors(vec![*diagnostic]))?;
        let mut remarks = compatibility::apply(&mut document).map_err(FileErrors)?;
        let (left_out, mut refused) = mcp_servers::apply(&mut document);
        remarks.extend(left_out);
        refused.extend(mistakes(&mut document));
        if !refused.is_empty() {
            refused.sort_by_key(|one| (one.line, one.column));
            return Err(FileErrors(refused).into());
        }
        let mut settings = self.override_with_environment(&mut document)?;
        if let Err(error) = mlx_host::add(&mut settings) {
            let error = document.error("/tools/mlx/host", format!("{error:#}"));
            return Err(FileErrors(vec![error]).into());
        }
        let base = file
            .as_deref()
            .and_then(Path::parent)
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let base = base
            .canonicalize()
            .with_context(|| format!("cannot open the folder `{}`", base.display()))?;
        if file.is_some() {
            let variables = base.join(env_file::NAME);
            sources.note(&variables);
            guard::variables::set_of_file(env_file::read(&variables)?);
        }
        let server = &settings.server;
        let names = server.tokens.iter().map(|token| &token.token_env);
        let names = names.chain(&settings.llm.api_key_env);
        let names = names.chain(&settings.tools.search.api_key_env);
        gate::secrets::hide(names.filter_map(|name| guard::variables::get(name)));
        Ok(LoadedSettings {
            settings,
            remarks,
            file,
            sources,
            document,
            text,
            base,
            data_dir: self.data_dir.clone(),
            operator_paths: OnceLock::new(),
        })
    }

    fn override_with_environment(
        &self,
        document: &mut Document,
    ) -> anyhow::Result<ToolgateSettings> {
        let mut names = Vec::new();
        let variables = std::env::vars_os()
            .filter_map(|(name, text)| Some((name.into_string().ok()?, text.into_string().ok()?)));
        for (name, text) in variables {
            let Some(path) = name.strip_prefix(PREFIX).filter(|path| path.contains("__")) else {
                continue;
            };
            let path = path.to_lowercase();
            let value = Document::parse(&name, &text)
                .map_or(Value::String(text), |document| document.value().clone());
            document.set(&path.split("__").collect::<Vec<_>>(), value);
            names.push(name);
        }
        if let Some(listen) = &self.listen {
            document.set(&["server", "listen"], Value::String(listen.clone()));
        }
        if let Some((cert, key)) = &self.tls {
            // They start where the person is.
            let [cert, key] =
                [cert, key].map(|path| std::path::absolute(path).unwrap_or(path.clone()));
            document.set(&["server", "tls"], json!({ "cert": cert, "key": key }));
        }
        // The file itself is valid, so an error from here on is an error of these variables.
        let schema = contract::Schema::compile(&schema()).context("the schema of the settings")?;
        let violations = schema.violations(document.value());
        if !violations.is_empty() {
            let pointers: Vec<&str> = violations.iter().map(|one| one.pointer.as_str()).collect();
            bail!("{}: {}", responsible(&names, &pointers), Violation::list(&violations));
        }
        let settings: ToolgateSettings =
            serde_json::from_value(document.value().clone()).context("the settings")?;
        if let Some(mistake) = settings.mistakes().first() {
            bail!("{}: {}", responsible(&names, &[mistake.pointer()]), mistake.message());
        }
        Ok(settings)
    }
}

/// The environment variables that set the values at these pointers; all of them if none is found.
fn responsible(names: &[String], pointers: &[&str]) -> String {
    let set = |name: &&String| {
        let path = name.trim_start_matches(PREFIX).to_lowercase().replace("__", "/");
        let below = |pointer: &&str| {
            let rest = pointer.strip_prefix('/').and_then(|pointer| pointer.strip_prefix(&path));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        pointers.iter().any(below)
    };
    let found: Vec<&str> = names.iter().filter(set).map(String::as_str).collect();
    if found.is_empty() { names.join(", ") } else { found.join(", ") }
}

/// Reads a settings file.
pub fn read(file: &Path) -> anyhow::Result<String> {
    files::read_document_text(file)
        .with_context(|| format!("cannot read the settings file `{}`", file.display()))
}

/// All errors of the file, in one run.
fn mistakes(document: &mut Document) -> Vec<Diagnostic> {
    let mut refused = Vec::new();
    if document.value().get("allowlist").is_some_and(Value::is_null) {
        // Left out it would allow everything, which is the opposite of what an empty one looks like.
        let found = document.key_error("/allowlist", "`allowlist` has no value");
        let hint =
            "`allowlist: {}` allows no tools; without the key all admitted tools are allowed";
        refused.push(found.hint(hint));
        document.remove(&["allowlist"]);
    }
    let (settings, places) = match document.check::<ToolgateSettings>() {
        Ok(settings) => (settings, Vec::new()),
        Err(found) => {
            refused.extend(found);
            match document.without_refused() {
                Some(rest) => rest,
                None => return refused,
            }
        }
    };
    // In a section with an error, the rest may only look wrong.
    let section = |place: &str| place.split('/').take(3).collect::<Vec<_>>().join("/");
    let sections: Vec<String> = places.iter().map(|place| section(place)).collect();
    let upstream_is_gone = places.iter().any(|place| section(place) == **place);
    let certain = settings.mistakes().into_iter().filter(|mistake| {
        let follows = mistake.pointer().starts_with("/allowlist") && upstream_is_gone;
        !sections.contains(&section(mistake.pointer())) && !follows
    });
    refused.extend(certain.map(|mistake| document.error(mistake.pointer(), mistake.to_string())));
    refused
}

/// The JSON Schema of the settings file.
pub fn schema() -> Value {
    contract::document::schema_of::<ToolgateSettings>()
}
