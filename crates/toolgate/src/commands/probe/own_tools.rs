//! Probes our own tools through every door.
//!
//! The doors are the real ones, on a temporary data folder. The providers of the tools can be swapped: tools that only
//! read run for real, on the files of their contracts' examples; then every tool is made to return outputs that its
//! contract forbids, which must not pass the gate.

mod doors;
mod marks;
mod open_doors;
mod rules;
mod stdio_client;
mod swappable_provider;
mod tool_checks;

use std::time::Instant;

use anyhow::{Context, bail};
use contract::ContractStatus;
use probe::{ProbeOptions, ProbeReport};

use self::{open_doors::OpenDoors, tool_checks::ToolCheck};
use crate::{
    commands,
    settings::{Flags, Loaded},
    wiring::BoundTool,
};

/// Probes our own tools.
pub fn run(flags: &Flags, options: &ProbeOptions) -> anyhow::Result<ProbeReport> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    // The operator's data and journal are not touched.
    let flags = Flags { data_dir: Some(folder.path().join("data")), ..flags.clone() };
    let (mut loaded, mut bound) = commands::ready(&flags)?;
    loaded.settings.journal.path = None;
    bound.retain(|one| one.contract.status == ContractStatus::Active);
    choose(&mut bound, &options.tools)?;
    let trials = folder.path().join("trials");
    let probing = super::until_stopped(async |stop| {
        let doors = OpenDoors::open(bound, &loaded, options.call_timeout).await?;
        let mut report = blank(options);
        let began = Instant::now();
        for actor in doors.tools() {
            let trial =
                ToolCheck { doors: &doors, actor, options, loaded: &loaded, folder: &trials };
            let over = || {
                if stop.is_cancelled() {
                    return Some("stopped".to_owned());
                }
                let limit = options.total_timeout;
                (began.elapsed() > limit)
                    .then(|| format!("not done within {} ms (total_timeout_ms)", limit.as_millis()))
            };
            let (suite, cut) = trial.run(&over).await?;
            report.suites.push(suite);
            report.cut = report.cut.or(cut);
        }
        doors.close().await;
        anyhow::Ok(report)
    });
    commands::runtime()?.block_on(probing)
}

fn blank(options: &ProbeOptions) -> ProbeReport {
    ProbeReport {
        server: format!("toolgate {}", env!("CARGO_PKG_VERSION")),
        protocol: "every door".to_owned(),
        seed: options.seed,
        suites: Vec::new(),
        cut: None,
    }
}

/// Keeps only the selected tools.
fn choose(bound: &mut Vec<BoundTool>, names: &[String]) -> anyhow::Result<()> {
    for name in names {
        let known = || bound.iter().map(|one| one.contract.name.as_str());
        if !known().any(|known| known == name) {
            match contract::nearest(name, known()) {
                Some(near) => bail!("there is no tool `{name}`; did you mean `{near}`?"),
                None => bail!("there is no tool `{name}`"),
            }
        }
    }
    bound.retain(|one| names.is_empty() || names.contains(&one.contract.name));
    Ok(())
}

/// A built-in tool that works in this folder; none if there is no such tool.
fn built_in(
    name: &str,
    loaded: &Loaded,
    folder: &std::path::Path,
) -> Option<std::sync::Arc<dyn gate::Provider>> {
    let tools = tools::built_in(&loaded.tools().within(folder));
    let named = |tool: &tools::BuiltIn| {
        contract::read::trusted(tool.contract).is_ok_and(|contract| contract.name == name)
    };
    tools.into_iter().find(named).map(|tool| tool.provider)
}
