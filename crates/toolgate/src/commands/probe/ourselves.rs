//! Our own tools, through every door.
//!
//! The doors are the real ones, on a data folder that is thrown away. What runs the tools can be
//! exchanged: tools that only read run for real, on the files of their contracts' examples; and every
//! tool is made to answer what its contract forbids, which must not get past the gate.

mod door;
mod leak;
mod pipe;
mod rules;
mod stage;
mod switch;
mod trial;

use std::time::Instant;

use anyhow::{Context, bail};
use contract::ContractStatus;
use probe::{Options, Report};

use self::{stage::Stage, trial::Trial};
use crate::{
    commands,
    settings::{Flags, Loaded},
    wiring::BoundTool,
};

/// Probes our own tools.
pub fn run(flags: &Flags, options: &Options) -> anyhow::Result<Report> {
    let folder = tempfile::tempdir().context("cannot make a folder to work in")?;
    // Nothing of the operator's is touched: not the data, not the journal.
    let flags = Flags { data_dir: Some(folder.path().join("data")), ..flags.clone() };
    let (mut loaded, mut bound) = commands::ready(&flags)?;
    loaded.settings.journal.path = None;
    bound.retain(|one| one.contract.status == ContractStatus::Active);
    choose(&mut bound, &options.tools)?;
    let trials = folder.path().join("trials");
    let probing = super::until_stopped(async |stop| {
        let stage = Stage::set(bound, &loaded, options.call_timeout).await?;
        let mut report = blank(options);
        let began = Instant::now();
        for actor in stage.actors() {
            let trial = Trial { stage: &stage, actor, options, loaded: &loaded, folder: &trials };
            let over = || {
                if stop.is_cancelled() {
                    return Some("it was stopped".to_owned());
                }
                let limit = options.total_timeout;
                (began.elapsed() > limit).then(|| {
                    format!("it was not done within {} ms (total_timeout_ms)", limit.as_millis())
                })
            };
            let (suite, cut) = trial.run(&over).await?;
            report.suites.push(suite);
            report.cut = report.cut.or(cut);
        }
        stage.strike().await;
        anyhow::Ok(report)
    });
    commands::runtime()?.block_on(probing)
}

fn blank(options: &Options) -> Report {
    Report {
        server: format!("toolgate {}", env!("CARGO_PKG_VERSION")),
        protocol: "through every door".to_owned(),
        seed: options.seed,
        suites: Vec::new(),
        cut: None,
    }
}

/// Leaves only the tools that are meant.
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

/// A tool of the binary at work in this folder; nothing where it is no tool of the binary.
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
