//! `toolgate doctor`: checks whether a server can run here, without changing anything.

mod data;
mod llm;
mod machine;
mod mlx;
mod network;
mod search;
mod upstreams;

use std::fmt;

use clap::Args;
use contract::Severity;
use serde::Serialize;
use serde_json::json;

use crate::{
    Exit, commands,
    printer::{Printer, counted, progress},
    settings::{self, FileErrors, Flags, LoadedSettings},
    wiring::{self, BoundTool, LoadedContracts, sandboxes},
};

/// Check whether a server can run here, and say what to fix
#[derive(Args)]
pub struct DoctorCommand {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// The state of one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingState {
    /// It works.
    Ok,
    /// Something does not work; the server starts.
    Warning,
    /// The server does not start, or not as it is set up.
    Problem,
}

impl fmt::Display for FindingState {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// The result of one check.
#[derive(Debug, Serialize)]
pub struct DoctorFinding {
    /// The thing that was checked.
    pub subject: &'static str,
    /// Its state.
    pub state: FindingState,
    /// The finding, in a sentence.
    pub message: String,
    /// The next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl DoctorFinding {
    fn new(subject: &'static str, state: FindingState, message: impl Into<String>) -> Self {
        // It may quote what a server said.
        let message = gate::secrets::redact(&message.into()).into_owned();
        Self { subject, state, message, hint: None }
    }

    fn ok(subject: &'static str, message: impl Into<String>) -> Self {
        Self::new(subject, FindingState::Ok, message)
    }

    fn warning(subject: &'static str, message: impl Into<String>) -> Self {
        Self::new(subject, FindingState::Warning, message)
    }

    fn problem(subject: &'static str, message: impl Into<String>) -> Self {
        Self::new(subject, FindingState::Problem, message)
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn hint_if(mut self, hint: Option<impl Into<String>>) -> Self {
        self.hint = hint.map(Into::into);
        self
    }
}

impl DoctorCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        progress::switch_off_if(self.json);
        let findings = examine(flags)?;
        let failed = findings.iter().any(|one| one.state == FindingState::Problem);
        if self.json {
            printer.json(&json!({ "ok": !failed, "findings": findings }));
        } else {
            show(&findings, printer);
        }
        Ok(if failed { Exit::Failed } else { Exit::Ok })
    }
}

fn show(findings: &[DoctorFinding], printer: &Printer) {
    for one in findings {
        printer.data(format!("{:8} {}: {}", one.state, one.subject, one.message));
        if let Some(hint) = &one.hint {
            printer.data(format!("{:8} {hint}", ""));
        }
    }
    let count = |state| findings.iter().filter(|one| one.state == state).count();
    match (count(FindingState::Problem), count(FindingState::Warning)) {
        (0, 0) => printer.say("no problems found"),
        (problems, warnings) => {
            let problems = counted(problems, "problem");
            printer.say(format!("{problems}, {}", counted(warnings, "warning")));
        }
    }
}

/// Runs all checks; without valid settings only those of the machine.
fn examine(flags: &Flags) -> anyhow::Result<Vec<DoctorFinding>> {
    let (first, loaded) = loaded(flags);
    let mut findings = vec![first];
    commands::block_on(async {
        if let Some(loaded) = &loaded {
            let (about_contracts, contracts) = contracts(loaded);
            findings.push(about_contracts);
            let bound = &contracts.bound;
            findings.push(data::data_folder(&loaded.data_dir()));
            findings.extend(data::work_folder(loaded));
            findings.extend(data::database(&loaded.data_dir()));
            findings.extend(data::secrets(&loaded.data_dir()));
            findings.extend(data::journal(loaded));
            findings.extend(environment(loaded, bound));
            findings.extend(network::tokens(loaded));
            findings.push(network::listen(&loaded.settings.server).await);
            findings.extend(network::certificate(loaded));
            findings.push(machine::supervisor().await);
            findings.push(machine::sandbox());
            findings.extend(exposed(loaded, bound));
            findings.push(machine::paths());
            findings.extend(search::service(bound, loaded).await);
            findings.extend(llm::endpoint(loaded).await);
            findings.extend(mlx::servers(bound, loaded));
            findings.extend(upstreams::servers(contracts, loaded).await);
        } else {
            findings.push(machine::supervisor().await);
            findings.push(machine::sandbox());
            findings.push(machine::paths());
        }
        anyhow::Ok(findings)
    })
}

fn loaded(flags: &Flags) -> (DoctorFinding, Option<LoadedSettings>) {
    const SUBJECT: &str = "settings";
    match flags.load() {
        Ok(loaded) => {
            let from = match &loaded.file {
                Some(file) => format!("read from `{}`", file.display()),
                None => "no settings file; the defaults apply".to_owned(),
            };
            let finding = match loaded.remarks.len() {
                0 => DoctorFinding::ok(SUBJECT, from),
                remarks => DoctorFinding::warning(
                    SUBJECT,
                    format!("{from}; {}", counted(remarks, "warning")),
                )
                .hint("`toolgate config check` shows them"),
            };
            (finding, Some(loaded))
        }
        Err(error) => {
            let finding = DoctorFinding::problem(SUBJECT, format!("{error:#}"));
            let hint = "`toolgate config check` shows every error in its place";
            (if error.is::<FileErrors>() { finding.hint(hint) } else { finding }, None)
        }
    }
}

/// Environment variables that look like settings and are not.
fn environment(loaded: &LoadedSettings, bound: &[BoundTool]) -> Option<DoctorFinding> {
    let unknown = settings::environment::unknown(loaded, bound);
    let first = unknown.first()?;
    let message = match unknown.len() {
        1 => first.message.clone(),
        several => format!("{}, and {} more", first.message, several - 1),
    };
    Some(DoctorFinding::warning("environment", message).hint_if(first.hint.clone()))
}

/// Upstreams that undo the sandbox of others.
fn exposed(loaded: &LoadedSettings, bound: &[BoundTool]) -> Vec<DoctorFinding> {
    let exposed = sandboxes::exposed(loaded, bound).into_iter();
    let finding = |one: sandboxes::ExposedUpstream| {
        DoctorFinding::warning("sandbox of upstreams", one.message()).hint(sandboxes::EXPOSED_HINT)
    };
    exposed.map(finding).collect()
}

fn contracts(loaded: &LoadedSettings) -> (DoctorFinding, LoadedContracts) {
    const SUBJECT: &str = "contracts";
    let contracts = match wiring::contracts(loaded) {
        Ok(contracts) => contracts,
        Err(error) => {
            let finding = DoctorFinding::problem(SUBJECT, format!("{error:#}"));
            return (finding, LoadedContracts::default());
        }
    };
    let errors = contracts.diagnostics.iter().filter(|one| one.severity == Severity::Error);
    let (errors, all) = (errors.count(), contracts.diagnostics.len());
    let count = contracts.bound.len();
    let hint = "`toolgate config check` shows them in their places";
    let finding = match (errors, all) {
        (0, 0) => DoctorFinding::ok(SUBJECT, counted(count, "tool")),
        (0, all) => {
            let first = contracts.diagnostics.first();
            let first = first.map(|one| format!("{}: {}", one.file, one.message));
            let first = first.unwrap_or_default();
            let message = format!(
                "{}, {}, the first: {first}",
                counted(count, "tool"),
                counted(all, "warning")
            );
            DoctorFinding::warning(SUBJECT, message).hint(hint)
        }
        (errors, _) => DoctorFinding::problem(SUBJECT, counted(errors, "error")).hint(hint),
    };
    let left_out = &contracts.absent.left_out;
    let Some(first) = left_out.first() else { return (finding, contracts) };
    let first = format!("`{}`: {}", first.file, first.reason());
    let message = match left_out.len() {
        1 => format!("1 contract has errors and is left out: {first}"),
        several => format!("{several} contracts have errors and are left out, the first: {first}"),
    };
    (DoctorFinding::problem(SUBJECT, message).hint(hint), contracts)
}
