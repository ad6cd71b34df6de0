//! Makes a catalogue from the settings, and a gate from a catalogue.

pub mod absent_tools;
pub mod ask;
pub mod overlays;
mod own_contracts;
pub mod policy;
pub mod protected_paths;
pub mod sandboxes;
pub mod upstream_library;
pub mod upstream_targets;
pub mod upstreams;

use std::{collections::HashSet, path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context;
use contract::{Contract, Diagnostic, read};
use gate::{
    Catalogue, Gate, GateParts, GateSettings, Journal, Provider, SystemClock, Tool,
    quarantine::QuarantineSettings,
};
use store::{DataFolder, DataFolderLock, LocalBlobs, Sqlite};

use absent_tools::{AbsentTools, SwitchedOffTool};

use crate::{
    files,
    server_settings::OPERATOR_TOKEN,
    settings::{
        LoadedSettings, SettingsError, StoreDurability, ToolgateSettings, mlx_host,
        operator_paths::{PathRole, ProgramOwner},
    },
};

/// A contract and the provider that runs it.
pub struct BoundTool {
    pub contract: Contract,
    pub provider: Arc<dyn Provider>,
}

impl BoundTool {
    /// True for a tool of the user's own: a command.
    pub fn is_own(&self) -> bool {
        self.contract.run.is_some()
    }
}

/// The contracts of the settings.
#[derive(Default)]
pub struct LoadedContracts {
    /// The contracts that can be served.
    pub bound: Vec<BoundTool>,
    /// The user's own that are not, and why.
    pub absent: AbsentTools,
    /// Errors and warnings about everything else. With an error nothing can be served.
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
    let mut own = own_contracts::read(loaded)?;
    let mut diagnostics = std::mem::take(&mut own.warnings);
    diagnostics.extend(overlays::apply(&mut own.bound, loaded)?);
    let built_in: Vec<(Contract, tools::BuiltIn)> = built_in
        .into_iter()
        .map(|tool| Ok((read::trusted(tool.contract)?, tool)))
        .collect::<Result<_, String>>()
        .map_err(anyhow::Error::msg)?;
    if !own.documents.is_empty() || !own.left_out.is_empty() {
        own.leave_out_conflicts(&built_in, loaded);
    }
    let mut bound = own.bound;
    let mut absent = AbsentTools { left_out: own.left_out, switched_off: Vec::new() };
    for (contract, tool) in built_in {
        // The name is that of the contract which is left out.
        if !absent.left_out.iter().any(|one| one.is_named && one.name == contract.name) {
            bound.push(BoundTool { contract, provider: tool.provider });
        }
    }
    policy::apply(&mut bound, &loaded.settings, &absent)?;
    absent.switched_off = enable(&mut bound, loaded, &absent)?;
    ask::check_allowed(loaded, &bound, &absent)?;
    if !settings.mlx.is_local() {
        // The tools of the other machine have these names.
        bound.retain(|one| one.contract.toolset != mlx_host::MLXCTL || one.is_own());
    }
    Ok(LoadedContracts { bound, absent, diagnostics })
}

/// Keeps only the toolsets that the settings name: `tools.enable` of the built-in ones, `contracts_enable` of the user's own.
/// Returns the tools that are left.
fn enable(
    bound: &mut Vec<BoundTool>,
    loaded: &LoadedSettings,
    absent: &AbsentTools,
) -> anyhow::Result<Vec<SwitchedOffTool>> {
    let (built_in, own) = (&loaded.settings.tools.enable, &loaded.settings.contracts_enable);
    let mut switched_off = Vec::new();
    for (enabled, setting, are_own) in
        [(built_in, "tools.enable", false), (own, "contracts_enable", true)]
    {
        let Some(enabled) = enabled else { continue };
        let toolsets = |own: bool| {
            let some = bound.iter().filter(move |one| one.is_own() == own);
            some.map(|one| one.contract.toolset.as_str())
        };
        for (index, toolset) in enabled.iter().enumerate() {
            let pointer = format!("/{}/{index}", setting.replace('.', "/"));
            if toolsets(are_own).any(|known| known == toolset) {
                continue;
            }
            let is_of_other = toolsets(!are_own).any(|known| known == toolset);
            let message = match are_own {
                false if is_of_other || absent.has_toolset(toolset) => {
                    "is a toolset of your own contracts, which are served without being named here; \
                     `contracts_enable` chooses among them"
                }
                true if is_of_other => "is a built-in toolset; `tools.enable` chooses among those",
                // It may be in a contract that cannot be read. Nothing more is served for it.
                true if !absent.left_out.is_empty() => continue,
                _ => {
                    exists(pointer, "toolset", toolset, toolsets(are_own))?;
                    continue;
                }
            };
            return Err(SettingsError::new(pointer, format!("`{toolset}` {message}")).into());
        }
        bound.retain(|one| {
            let stays = one.is_own() != are_own || enabled.contains(&one.contract.toolset);
            if !stays {
                let Contract { name, toolset, .. } = &one.contract;
                let (name, toolset) = (name.clone(), toolset.clone());
                switched_off.push(SwitchedOffTool { name, toolset, setting });
            }
            stays
        });
    }
    Ok(switched_off)
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
            files.append(&mut loaded.sources.contract_files(&path).map_err(unreadable)?);
        } else {
            std::fs::metadata(&path).map_err(unreadable)?;
            files.push(path);
        }
    }
    Ok(files)
}

/// The tools of contracts, built-in and own. Those of upstreams come and go beside them.
#[derive(Clone)]
pub struct FixedTools {
    pub tools: Vec<Arc<Tool>>,
    pub absent: AbsentTools,
}

impl FixedTools {
    /// The names that no other tool may have.
    pub fn taken(&self) -> HashSet<String> {
        let served = self.tools.iter().map(|tool| tool.contract.name.clone());
        served.chain(self.absent.left_out.iter().map(|one| one.name.clone())).collect()
    }

    /// A catalogue of these tools alone.
    pub fn catalogue(&self) -> Catalogue {
        Catalogue::of(self.tools.iter().cloned(), self.absent.withheld())
    }
}

/// The tools of these contracts.
pub fn tools(contracts: LoadedContracts, loaded: &LoadedSettings) -> anyhow::Result<FixedTools> {
    tools_after(contracts, loaded, &Catalogue::default())
}

/// The same; they count on where those of a catalogue have come to.
pub fn tools_after(
    contracts: LoadedContracts,
    loaded: &LoadedSettings,
    before: &Catalogue,
) -> anyhow::Result<FixedTools> {
    let defaults = loaded.settings.limits.defaults();
    let tools = contracts.bound.into_iter().map(|BoundTool { contract, provider }| {
        let name = contract.name.clone();
        let tool = Tool::new(contract, provider, &defaults)
            .map_err(|error| anyhow::anyhow!("the contract of `{name}`: {error}"))?;
        Ok(Arc::new(match before.find(&name) {
            Some(before) => tool.continuing(before),
            None => tool,
        }))
    });
    Ok(FixedTools { tools: tools.collect::<anyhow::Result<_>>()?, absent: contracts.absent })
}

/// A catalogue of these contracts.
pub fn catalogue(bound: Vec<BoundTool>, loaded: &LoadedSettings) -> anyhow::Result<Catalogue> {
    let contracts =
        LoadedContracts { bound, absent: AbsentTools::default(), diagnostics: Vec::new() };
    Ok(tools(contracts, loaded)?.catalogue())
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
        settings: gate_settings(settings),
    });
    Ok(OpenGate { data, blobs, gate: Arc::new(gate) })
}

/// The settings of the gate that a reload replaces.
pub fn gate_settings(settings: &ToolgateSettings) -> GateSettings {
    GateSettings {
        callers: settings.server.tokens.iter().map(|token| token.name.as_str().into()).collect(),
        ceilings: settings.limits.ceilings(),
        approvals: policy::approvals(&settings.policy),
        quarantine: QuarantineSettings {
            release_valid: Duration::from_millis(settings.quarantine.release_valid_ms),
        },
    }
}
