//! Everything that a server needs of its files, read and checked.

use std::{path::Path, sync::Arc};

use anyhow::bail;
use contract::{Diagnostic, Severity};
use gate::Catalogue;
use upstream::HostConfig;

use crate::{
    commands,
    settings::{self, FileErrors, Flags, LoadedSettings, SourceFiles, environment},
    start_checks::{self, Certainty},
    wiring::{
        self, FixedTools, sandboxes,
        upstreams::{self, UpstreamFilter},
    },
};

pub struct PreparedServer {
    pub loaded: LoadedSettings,
    /// The tools that are not those of upstreams.
    pub fixed: FixedTools,
    pub host: HostConfig,
    /// Settings that differ from those that the running server is bound to.
    pub after_restart: Vec<String>,
    /// Warnings for the log.
    pub warnings: Vec<String>,
    /// Parts of the settings, and variables that look like settings, that are ignored.
    pub remarks: Vec<Diagnostic>,
}

/// Reads and checks everything. For a server that runs, with its settings and its catalogue, what it is bound to stays.
pub fn prepare(
    flags: &Flags,
    filter: UpstreamFilter<'_>,
    sources: Arc<SourceFiles>,
    running: Option<(&LoadedSettings, &Catalogue)>,
) -> anyhow::Result<PreparedServer> {
    if let Some(file) = flags.file().filter(|file| running.is_some() && is_special(file)) {
        // Whoever wrote to a pipe may be gone, and reading it would never end.
        bail!("`{}` is not a regular file: it cannot be read again", file.display());
    }
    let mut loaded = flags.load_from(sources)?;
    let mut after_restart = Vec::new();
    if let Some((running, _)) = running {
        // What takes effect later has to be right now: nobody looks when the server starts at night.
        let errors = start_checks::start_errors(&loaded).into_iter();
        let errors = errors.filter(|one| one.certainty != Certainty::Maybe).map(|one| {
            let mut error = one.diagnostic(&loaded);
            error.severity = Severity::Error;
            error
        });
        let errors: Vec<_> = errors.collect();
        if !errors.is_empty() {
            return Err(FileErrors(errors).into());
        }
        after_restart = settings::keep_bound(&mut loaded.settings, &running.settings);
    }
    let contracts = commands::servable(&loaded)?;
    if running.is_some() {
        // A start leaves such a contract out. A running server keeps serving what it served.
        contracts.absent.require_none_left_out()?;
    }
    let bound = &contracts.bound;
    let mut warnings: Vec<_> = sandboxes::missing(&loaded, bound).into_iter().collect();
    let exposed = sandboxes::exposed(&loaded, bound).into_iter();
    warnings.extend(exposed.map(|one| format!("{}; {}", one.message(), sandboxes::EXPOSED_HINT)));
    let mut remarks = loaded.remarks.clone();
    remarks.extend(environment::unknown(&loaded, bound));
    let fixed = match running {
        Some((_, catalogue)) => wiring::tools_after(contracts, &loaded, catalogue)?,
        None => wiring::tools(contracts, &loaded)?,
    };
    let host = upstreams::host_config(&loaded, filter, &fixed)?;
    Ok(PreparedServer { loaded, fixed, host, after_restart, warnings, remarks })
}

/// True for a file that is there and no regular one.
fn is_special(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| !metadata.is_file())
}
