//! `toolgate eval`: how well a model plans and quotes with these tools.

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
};

use ask::{
    Request,
    eval::{self, Case, Cases, Report, Score},
};
use clap::Args;
use contract::Document;
use gate::{Caller, Catalogue, Gate, Recording, RequestId};
use serde_json::Map;
use store::DataFolder;
use tokio_util::sync::CancellationToken;

use crate::{
    Answer, commands, files,
    printer::Printer,
    settings::Flags,
    wiring::{
        self, asking,
        upstreams::{self, Which},
    },
};

/// Measure how well the model answers questions with these tools
///
/// Asks every question of the file and compares what came of it with what should have: the tool, its arguments, what
/// must be refused, the quotes. Exits with 1 if a call was made that should not have been, a quote is not in
/// its result, or the right tool was chosen too seldom.
#[derive(Args)]
pub struct Eval {
    /// The cases, as YAML or JSON
    file: PathBuf,
    /// Only cases whose names begin like this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// How often the right tool must be chosen, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 80, value_parser = clap::value_parser!(u8).range(0..=100))]
    at_least: u8,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

impl Eval {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Answer> {
        let (loaded, bound) = match commands::ready(flags, printer)? {
            Ok(ready) => ready,
            Err(answer) => return Ok(answer),
        };
        let Some(cases) = self.cases(printer)? else { return Ok(Answer::CouldNotTell) };
        let fixed = wiring::tools(bound, &loaded)?;
        let plan = upstreams::plan_to_look(&loaded, Which::All, &fixed)?;
        let data = DataFolder::open(&loaded.data_dir())?;
        let _visit = data.visit()?;
        let catalogue = Catalogue::of(fixed.clone(), HashMap::new());
        let kept = wiring::gate(catalogue, &loaded, data, None)?;
        let ask = asking::ask(&loaded, &kept.gate)?;
        let report = commands::runtime()?.block_on(async {
            let host = upstreams::start(&kept.gate, plan, fixed).await;
            let report = measure(&ask, &kept.gate, &cases, printer).await;
            host.stop().await;
            report
        })?;
        if self.json {
            printer.json(&report);
        } else {
            show(&report, printer);
        }
        Ok(if report.holds(usize::from(self.at_least)) { Answer::Yes } else { Answer::No })
    }

    /// The cases that are meant; nothing where the file has mistakes, which are shown.
    fn cases(&self, printer: &Printer) -> anyhow::Result<Option<Vec<Case>>> {
        let text = files::read(&self.file)?;
        let name = self.file.display().to_string();
        let document = match Document::parse(&name, &text) {
            Ok(document) => document,
            Err(diagnostic) => {
                printer.diagnostics(&[*diagnostic]);
                return Ok(None);
            }
        };
        let cases: Cases = match document.check() {
            Ok(cases) => cases,
            Err(diagnostics) => {
                printer.diagnostics(&diagnostics);
                return Ok(None);
            }
        };
        let mistakes: Vec<_> = cases
            .mistakes()
            .into_iter()
            .map(|(place, words)| document.error(&place, words))
            .collect();
        if printer.diagnostics(&mistakes) {
            return Ok(None);
        }
        let is_meant =
            |case: &Case| self.only.as_ref().is_none_or(|begin| case.id.starts_with(begin));
        let cases: Vec<_> = cases.cases.into_iter().filter(is_meant).collect();
        if cases.is_empty() {
            anyhow::bail!("no case begins with `{}`", self.only.as_deref().unwrap_or_default());
        }
        Ok(Some(cases))
    }
}

/// Asks one question after the other.
async fn measure(
    ask: &ask::Ask,
    gate: &Gate,
    cases: &[Case],
    printer: &Printer,
) -> anyhow::Result<Report> {
    let mut scores: Vec<Score> = Vec::new();
    let mut model = None;
    for (number, case) in cases.iter().enumerate() {
        let before = calls(gate);
        let request = Request {
            question: case.question.clone(),
            tool: None,
            args: Map::new(),
            summarize: case.summarize,
            plan_only: false,
            caller: Caller::named("cli"),
            request_id: RequestId::new(gate.clock().now()),
            recording: Recording::WhenNeeded,
            stop: CancellationToken::new(),
        };
        let answered = super::ask::until_stopped(ask, request, &()).await?;
        if let ask::Answer::Blocked { code, reason, .. } = &answered.answer
            && code.is_failure()
        {
            anyhow::bail!("{}: {reason}", case.id);
        }
        let made = made(gate, &before);
        let score = eval::score(case, &answered, &made);
        model = answered.trace.meta["model"].as_str().map(str::to_owned).or(model);
        let seconds = score.duration_ms / 1_000;
        printer.say(format!("{} of {}: {} ({seconds} s)", number + 1, cases.len(), case.id));
        scores.push(score);
    }
    Ok(Report::new(model, scores))
}

/// How often each tool was called until now.
fn calls(gate: &Gate) -> BTreeMap<String, u64> {
    gate.catalogue().tools().map(|tool| (tool.contract.name.clone(), tool.calls())).collect()
}

/// The calls since then, as the gate has counted them: the tool, and whether it has effects.
fn made(gate: &Gate, before: &BTreeMap<String, u64>) -> Vec<(String, bool)> {
    let mut made = Vec::new();
    for tool in gate.catalogue().tools() {
        let contract = &tool.contract;
        let since = tool.calls()
            - before.get(&contract.name).copied().unwrap_or_default().min(tool.calls());
        let name = format!(
            "{}.{}",
            contract.toolset,
            ask::candidates::local_name(&contract.toolset, &contract.name)
        );
        for _ in 0..since {
            made.push((name.clone(), contract.effects.changes_the_world()));
        }
    }
    made
}

fn show(report: &Report, printer: &Printer) {
    let mark = |right: Option<bool>| match right {
        None => String::new(),
        Some(true) => "yes".to_owned(),
        Some(false) => "NO".to_owned(),
    };
    let rows: Vec<_> = report
        .scores
        .iter()
        .map(|score| {
            let bullets = match (score.bullets, score.dropped) {
                (0, 0) => String::new(),
                (kept, 0) => kept.to_string(),
                (kept, dropped) => format!("{kept} of {}", kept + dropped),
            };
            vec![
                score.id.clone(),
                mark(score.right_tool),
                mark(score.right_args),
                mark(score.right_tool.is_none().then_some(score.as_expected)),
                mark(score.right_quotes),
                score.calls.len().to_string(),
                score.disallowed.to_string(),
                bullets,
                score.duration_ms.to_string(),
                score.got.to_owned(),
                score.reason.clone().or(score.planned.clone()).unwrap_or_default(),
            ]
        })
        .collect();
    let header = [
        "CASE", "TOOL", "ARGS", "REFUSED", "QUOTES", "CALLS", "BAD", "BULLETS", "MS", "RESULT",
        "WHAT",
    ];
    printer.table(&header, &rows);
    printer.data("");
    for (words, share) in [
        ("right tool", report.right_tool),
        ("right arguments", report.right_args),
        ("refused as expected", report.blocked),
        ("required quotes", report.right_quotes),
    ] {
        if share.of > 0 {
            printer.data(format!(
                "{words:<20}  {} of {} ({} %)",
                share.right,
                share.of,
                share.percent()
            ));
        }
    }
    printer.data(format!("{:<20}  {}", "disallowed calls", report.disallowed_calls));
    printer.data(format!(
        "{:<20}  {} delivered, {} dropped, {} not in their result",
        "bullets", report.bullets, report.dropped_bullets, report.ungrounded_bullets
    ));
    printer.data(format!(
        "{:<20}  {} ms in the middle, {} ms at most",
        "time", report.median_ms, report.slowest_ms
    ));
    if let Some(model) = &report.model {
        printer.data(format!("{:<20}  {model}", "model"));
    }
}
