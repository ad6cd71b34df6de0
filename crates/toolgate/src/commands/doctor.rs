//! `toolgate doctor`: whether a server would run here, and what to mend if not.
//!
//! It looks at the things that make a start or a first call fail, and changes none of them.

mod kept;
mod llm;
mod machine;
mod mlx;
mod place;
mod search;
mod upstreams;

use clap::Args;
use contract::Severity;
use serde::Serialize;
use serde_json::json;

use crate::{
    Exit, commands,
    printer::Printer,
    settings::{self, FileErrors, Flags, Loaded},
    wiring::{self, Bound},
};

/// Look for what would keep a server from running
#[derive(Args)]
pub struct Doctor {
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
}

/// How it is with one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// Something will not work, or not as well; the rest does.
    Warning,
    /// A server does not start, or does not do what it is set to.
    Problem,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Problem => "problem",
        }
    }
}

/// What was found out about one thing.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// What was looked at.
    pub subject: &'static str,
    /// How it is.
    pub state: State,
    /// What was found, in a sentence.
    pub message: String,
    /// How to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Finding {
    fn new(subject: &'static str, state: State, message: impl Into<String>) -> Self {
        Self { subject, state, message: message.into(), hint: None }
    }

    fn ok(subject: &'static str, message: impl Into<String>) -> Self {
        Self::new(subject, State::Ok, message)
    }

    fn warning(subject: &'static str, message: impl Into<String>) -> Self {
        Self::new(subject, State::Warning, message)
    }

    fn problem(subject: &'static str, message: impl Into<String>) -> Self {
        Self::new(subject, State::Problem, message)
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Doctor {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let findings = examine(flags)?;
        let sick = findings.iter().any(|one| one.state == State::Problem);
        if self.json {
            printer.json(&json!({ "ok": !sick, "findings": findings }));
        } else {
            show(&findings, printer);
        }
        Ok(if sick { Exit::Failed } else { Exit::Ok })
    }
}

fn show(findings: &[Finding], printer: &Printer) {
    for one in findings {
        printer.data(format!("{:8} {}: {}", one.state.word(), one.subject, one.message));
        if let Some(hint) = &one.hint {
            printer.data(format!("{:8} {hint}", ""));
        }
    }
    let count = |state| findings.iter().filter(|one| one.state == state).count();
    match (count(State::Problem), count(State::Warning)) {
        (0, 0) => printer.say("all is well"),
        (problems, warnings) => printer.say(format!("{problems} to mend, {warnings} to know")),
    }
}

/// Looks at everything that can be looked at: without settings there is little.
fn examine(flags: &Flags) -> anyhow::Result<Vec<Finding>> {
    let (first, loaded) = loaded(flags);
    let mut findings = vec![first];
    let runtime = commands::runtime()?;
    runtime.block_on(async {
        if let Some(loaded) = &loaded {
            let (contracts, bound) = contracts(loaded);
            findings.push(contracts);
            findings.push(place::data_folder(&loaded.data_dir()));
            findings.extend(kept::database(&loaded.data_dir()));
            findings.extend(kept::secrets(&loaded.data_dir()));
            findings.extend(kept::journal(loaded));
            findings.extend(environment(loaded, &bound));
            findings.extend(place::tokens(&loaded.settings.server));
            findings.push(place::listen(&loaded.settings.server).await);
            findings.push(machine::supervisor().await);
            findings.push(machine::paths());
            findings.extend(search::service(&bound, loaded).await);
            findings.extend(llm::endpoint(loaded).await);
            findings.extend(mlx::servers(&bound, loaded));
            findings.extend(upstreams::servers(bound, loaded).await);
        } else {
            findings.push(machine::supervisor().await);
            findings.push(machine::paths());
        }
    });
    Ok(findings)
}

fn loaded(flags: &Flags) -> (Finding, Option<Loaded>) {
    const SUBJECT: &str = "settings";
    match flags.load() {
        Ok(loaded) => {
            let from = match &loaded.file {
                Some(file) => format!("read from `{}`", file.display()),
                None => "there is no file: these are the defaults".to_owned(),
            };
            let finding = match loaded.remarks.len() {
                0 => Finding::ok(SUBJECT, from),
                remarks => Finding::warning(SUBJECT, format!("{from}, with {remarks} remarks"))
                    .hint("`toolgate config check` shows them"),
            };
            (finding, Some(loaded))
        }
        Err(error) => {
            let finding = Finding::problem(SUBJECT, format!("{error:#}"));
            let hint = "`toolgate config check` shows all of them in their places";
            (if error.is::<FileErrors>() { finding.hint(hint) } else { finding }, None)
        }
    }
}

/// Variables that somebody set to set something, and that set nothing.
fn environment(loaded: &Loaded, bound: &[Bound]) -> Option<Finding> {
    let unknown = settings::environment::unknown(loaded, bound);
    let first = unknown.first()?;
    let message = match unknown.len() {
        1 => first.message.clone(),
        several => format!("{}, and {} more", first.message, several - 1),
    };
    let finding = Finding::warning("environment", message);
    Some(match &first.hint {
        Some(hint) => finding.hint(hint),
        None => finding,
    })
}

fn contracts(loaded: &Loaded) -> (Finding, Vec<Bound>) {
    const SUBJECT: &str = "contracts";
    let contracts = match wiring::contracts(loaded) {
        Ok(contracts) => contracts,
        Err(error) => return (Finding::problem(SUBJECT, format!("{error:#}")), Vec::new()),
    };
    let errors = contracts.diagnostics.iter().filter(|one| one.severity == Severity::Error);
    let (errors, all) = (errors.count(), contracts.diagnostics.len());
    let count = contracts.bound.len();
    let hint = "`toolgate config check` shows them in their places";
    let finding = match (errors, all) {
        (0, 0) => Finding::ok(SUBJECT, format!("{count} tools")),
        (0, all) => {
            let first = contracts.diagnostics.first();
            let first = first.map(|one| format!("{}: {}", one.file, one.message));
            let first = first.unwrap_or_default();
            let message = format!("{count} tools, {all} could be better, first: {first}");
            Finding::warning(SUBJECT, message).hint(hint)
        }
        (errors, _) => Finding::problem(SUBJECT, format!("{errors} to mend")).hint(hint),
    };
    (finding, contracts.bound)
}
