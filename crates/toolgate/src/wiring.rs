//! Makes a catalogue from the settings, and a gate from a catalogue.

pub mod ask;
pub mod overlays;
pub mod policy;
pub mod protected_paths;
pub mod sandboxes;
pub mod upstream_library;
pub mod upstream_targets;
pub mod upstreams;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use contract::{Contract, ContractStatus, Diagnostic, Document, lint, read};
use gate::{
    Catalogue, Gate, GateParts, Journal, Provider, SystemClock, Tool,
    quarantine::QuarantineSettings,
};
use guard::process::Spawner;
use store::{DataFolder, DataFolderLock, LocalBlobs, Sqlite};
use tools::command::CommandTool;

use crate::{
    files,
    server_settings::OPERATOR_TOKEN,
    settings::{
        LoadedSettings, SettingsError, StoreDurability, mlx_host,
        operator_paths::{PathRole, ProgramOwner},
    },
};

/// A contract and the provider that runs it.
pub struct BoundTool {
    pub contract: Contract,
    pub provider: Arc<dyn Provider>,
}

/// The contracts of the settings, with errors and warnings.
pub struct LoadedContracts {
    /// The contracts that can be served.
    pub bound: Vec<BoundTool>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// Loads the built-in and the user's contracts, and refuses settings that would give an agent our own files.
pub fn contracts(loaded: &LoadedSettings) -> anyhow::Result<LoadedContracts> {
    let contracts = gathered(loaded)?;
    protected_paths::check(&contracts.bound, loaded)?;
    Ok(contracts)
}

/// Loads the contracts without that check.
pub fn gathered(loaded: &LoadedSettings) -> anyhow::Result<LoadedContracts> {
    let mut bound = Vec::new();
    let mut diagnostics = Vec::new();
    let mut settings = loaded.tools();
    settings.mlx.sandbox = sandboxes::of(
        loaded,
        &ProgramOwner::ModelServers,
        &contract::SandboxSettings::default(),
        |path| loaded.path(path),
        true,
    );
    settings.repo.hidden = loaded.operator_paths().places(PathRole::Secret);
    let built_in = tools::built_in(&settings);
    let files = user_files(loaded)?;
    let mut documents: Vec<(Contract, Document)> = Vec::new();
    let spawner = Spawner::of_this_program();
    for file in &files {
        let name = file.display().to_string();
        let text = files::read_document_text(file)
            .with_context(|| format!("cannot read the contract `{name}`"))?;
        let (read, mut found) = read::contract(&name, &text);
        diagnostics.append(&mut found);
        let Some((contract, document)) = read else { continue };
        let folder = file.parent().unwrap_or(Path::new("."));
        let limits = &loaded.settings.process_limits;
        let place =
            |path: &str| folder.join(path.replace("{contract_dir}", &folder.to_string_lossy()));
        let owner = ProgramOwner::Tool(contract.name.clone());
        let sandbox = sandboxes::of(loaded, &owner, &contract.sandbox, place, false);
        match CommandTool::new(&contract, folder, limits, sandbox, spawner.clone()) {
            Some(command) => {
                let trouble = command.trouble();
                diagnostics.extend(trouble.map(|words| document.warning("/run/0", words)));
                bound.push(BoundTool { contract: contract.clone(), provider: Arc::new(command) });
            }
            None if contract.status == ContractStatus::Planned => {}
            None => diagnostics.push(
                document
                    .error("/name", "no command runs this tool")
                    .hint("add `run: [program, argument]` or `status: planned`"),
            ),
        }
        documents.push((contract, document));
    }
    diagnostics.extend(overlays::apply(&mut bound, loaded)?);
    for tool in built_in {
        let contract = read::trusted(tool.contract).map_err(anyhow::Error::msg)?;
        if !files.is_empty() {
            let name = format!("built-in contract {}", contract.name);
            if let Ok(document) = Document::parse(&name, tool.contract) {
                documents.insert(0, (contract.clone(), document));
            }
        }
        bound.push(BoundTool { contract, provider: tool.provider });
    }
    let together: Vec<_> =
        documents.iter().map(|(contract, document)| (contract, document)).collect();
    diagnostics.extend(lint::lint_together(&together));
    policy::apply(&mut bound, &loaded.settings)?;
    enable(&mut bound, loaded)?;
    ask::check_allowed(loaded, &bound)?;
    if !settings.mlx.is_local() {
        // The tools of the other machine have these names.
        bound.retain(|one| one.contract.toolset != mlx_host::MLXCTL || one.contract.run.is_some());
    }
    Ok(LoadedContracts { bound, diagnostics })
}

/// Keeps only the toolsets that the settings name.
fn enable(bound: &mut Vec<BoundTool>, loaded: &LoadedSettings) -> anyhow::Result<()> {
    let Some(enabled) = &loaded.settings.tools.enable else { return Ok(()) };
    for (index, toolset) in enabled.iter().enumerate() {
        let known = bound.iter().map(|one| one.contract.toolset.as_str());
        exists(format!("/tools/enable/{index}"), "toolset", toolset, known)?;
    }
    bound.retain(|one| enabled.contains(&one.contract.toolset));
    Ok(())
}

/// Refuses a name in the settings that nothing has.
pub fn exists<'a>(
    pointer: String,
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), SettingsError> {
    if known.clone().any(|one| one == name) {
        return Ok(());
    }
    let near = contract::did_you_mean(name, known);
    Err(SettingsError::new(pointer, format!("there is no {what} `{name}`{near}")))
}

/// The files that `contracts` names: each file, and every `.yaml`, `.yml` and `.json` of
/// each folder, sorted.
pub fn user_files(loaded: &LoadedSettings) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for (index, entry) in loaded.settings.contracts.iter().enumerate() {
        let path = loaded.path(entry);
        let unreadable = |error: std::io::Error| {
            let message = format!("cannot read `{}`: {error}", path.display());
            SettingsError::new(format!("/contracts/{index}"), message)
        };
        if path.is_dir() {
            files.append(&mut contract_files(&path).map_err(unreadable)?);
        } else {
            std::fs::metadata(&path).map_err(unreadable)?;
            files.push(path);
        }
    }
    Ok(files)
}

/// Every `.yaml`, `.yml` and `.json` of a folder, sorted.
pub fn contract_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut inside = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let file = entry?.path();
        let ending = file.extension().and_then(|ending| ending.to_str());
        if matches!(ending, Some("yaml" | "yml" | "json")) {
            inside.push(file);
        }
    }
    inside.sort();
    Ok(inside)
}

/// The tools of these contracts.
pub fn tools(bound: Vec<BoundTool>, loaded: &LoadedSettings) -> anyhow::Result<Vec<Arc<Tool>>> {
    let defaults = loaded.settings.limits.defaults();
    let tools = bound.into_iter().map(|BoundTool { contract, provider }| {
        let name = contract.name.clone();
        Tool::new(contract, provider, &defaults)
            .map(Arc::new)
            .map_err(|error| anyhow::anyhow!("the contract of `{name}`: {error}"))
    });
    tools.collect()
}

/// A catalogue of these contracts.
pub fn catalogue(bound: Vec<BoundTool>, loaded: &LoadedSettings) -> anyhow::Result<Catalogue> {
    Ok(Catalogue::of(tools(bound, loaded)?, HashMap::new()))
}

/// A gate and what it is opened on.
pub struct OpenGate {
    pub data: DataFolder,
    /// The artifacts.
    pub blobs: LocalBlobs,
    pub gate: Arc<Gate>,
}

/// A gate without tools, for commands that read records and decide about them. Contracts with errors do not matter.
pub fn records(loaded: &LoadedSettings) -> anyhow::Result<OpenGate> {
    gate(Catalogue::default(), loaded, DataFolder::open(&loaded.data_dir())?, None)
}

/// A gate on the data folder of the settings: a server's, if it holds the folder's lock.
pub fn gate(
    catalogue: Catalogue,
    loaded: &LoadedSettings,
    data: DataFolder,
    lock: Option<&DataFolderLock>,
) -> anyhow::Result<OpenGate> {
    let settings = &loaded.settings;
    // The token of a server that runs beside this process, or ran before.
    gate::secrets::hide(files::read_own(&data.path().join(OPERATOR_TOKEN)));
    let durability = match settings.store.durability {
        StoreDurability::Process => store::Durability::Process,
        StoreDurability::Power => store::Durability::Power,
    };
    let database = data.database();
    let opened = Sqlite::open(&database, durability).and_then(|sqlite| match lock {
        Some(lock) => sqlite.with_spool(&data.spool(), lock),
        None => Ok(sqlite.beside_others()),
    });
    let sqlite =
        opened.with_context(|| format!("cannot open the database `{}`", database.display()))?;
    let blobs = LocalBlobs::open(data.path(), &loaded.work_folders(), durability)
        .context("cannot open the folders of artifacts and calls (`data_dir`, `work_dir`)")?;
    let path = match &settings.journal.path {
        Some(path) => loaded.path(path),
        None => data.path().join("journal.jsonl"),
    };
    let journal = Journal::open(&path, settings.journal.max_bytes, settings.journal.max_files)
        .with_context(|| format!("cannot open the journal `{}`", path.display()))?;
    let gate = Gate::new(GateParts {
        catalogue,
        store: Arc::new(sqlite),
        blobs: Arc::new(blobs.clone()),
        journal,
        clock: Arc::new(SystemClock),
        max_concurrency: settings.server.max_concurrency,
        callers: settings.server.tokens.iter().map(|token| token.name.as_str().into()).collect(),
        ceilings: settings.limits.ceilings(),
        approvals: policy::approvals(&settings.policy),
        quarantine: QuarantineSettings {
            release_valid: Duration::from_millis(settings.quarantine.release_valid_ms),
        },
    });
    Ok(OpenGate { data, blobs, gate: Arc::new(gate) })
}
