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

use anyhow::Context;
use probe::{ProbeOptions, ProbeReport};
use tokio_util::sync::CancellationToken;

use self::{open_doors::OpenDoors, tool_checks::ToolCheck};
use crate::{
    commands, interrupts,
    printer::{Printer, progress::ProgressLine},
    settings::Flags,
};

/// Probes our own tools.
pub fn run(
    flags: &Flags,
    options: &ProbeOptions,
    printer: &Printer,
) -> anyhow::Result<ProbeReport> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    // The operator's data and journal are not touched.
    let flags = Flags { data_dir: Some(folder.path().join("data")), ..flags.clone() };
    let (mut loaded, mut contracts) = commands::ready(&flags, printer)?;
    loaded.settings.journal.path = None;
    commands::retain_tools(&mut contracts, &options.tools, &loaded)?;
    let work_folder = folder.path().join("work");
    let stop = CancellationToken::new();
    let probing = async {
        let doors = OpenDoors::open(contracts.bound, &loaded, options.call_timeout).await?;
        let mut report = ProbeReport {
            server: format!("toolgate {}", env!("CARGO_PKG_VERSION")),
            protocol: "every door".to_owned(),
            seed: options.seed,
            suites: Vec::new(),
            cut: None,
        };
        let began = Instant::now();
        let limit = options.total_timeout;
        let ends_early = || {
            if stop.is_cancelled() {
                return Some("stopped".to_owned());
            }
            (began.elapsed() > limit)
                .then(|| format!("not done within {} ms (total_timeout_ms)", limit.as_millis()))
        };
        let progress = ProgressLine::begin("probing our own tools");
        for tool in doors.tools() {
            progress.set(format!("probing our own tools: {}", tool.contract.name));
            let check =
                ToolCheck { doors: &doors, tool, options, loaded: &loaded, folder: &work_folder };
            let (suite, cut) = check.run(&ends_early).await?;
            report.suites.push(suite);
            report.cut = report.cut.or(cut);
        }
        doors.close().await;
        anyhow::Ok(report)
    };
    commands::runtime()?.block_on(interrupts::stopping(&stop, probing))
}
