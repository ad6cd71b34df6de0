//! `toolgate eval`: measures how well a model plans and quotes with these tools.

use std::{path::PathBuf, sync::Arc};

use ask::{
    AskRequest,
    eval::{self, CaseScore, EvalCase, EvalCases, EvalReport},
};
use clap::Args;
use contract::Document;
use gate::{Caller, Gate, Recording, RequestId, Tool};
use serde_json::Map;
use tokio_util::sync::CancellationToken;

use crate::{
    Exit,
    commands::{self, LocalGate},
    files, interrupts,
    printer::{
        Printer,
        progress::{self, ProgressLine},
    },
    settings::Flags,
    wiring::{ask as wired_ask, upstreams::UpstreamFilter},
};

/// Measure how well the model answers questions with these tools
///
/// Asks every question of the file, and compares the response with the expected one: tool, arguments, refusal, quotes.
/// Exit code 1 if a call was made that must not be made, a quote is not in its result, or less than --at-least was
/// right; 2 if a run failed.
#[derive(Args)]
pub struct EvalCommand {
    /// The cases, as YAML or JSON
    file: PathBuf,
    /// Only cases whose ids begin with this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// The least share of right tools, arguments, refusals and quotes, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 80, value_parser = clap::value_parser!(u8).range(0..=100))]
    at_least: u8,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

impl EvalCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let Some(cases) = self.cases(printer)? else { return Ok(Exit::Unknown) };
        let local = LocalGate::open(flags, UpstreamFilter::All, printer)?;
        let ask = wired_ask::ask(&local.loaded, &local.opened.gate)?;
        if !ask.has_model() {
            anyhow::bail!("no language model is configured: set llm.base_url");
        }
        progress::switch_off_if(self.json);
        let report = commands::runtime()?.block_on(local.with_upstreams(async |_, opened| {
            warn_of_unknown_tools(&opened.gate, &cases, printer);
            Ok(self.measure(&ask, &opened.gate, &cases, printer).await)
        }))?;
        if self.json {
            printer.json(&report);
        } else {
            show(&report, printer);
        }
        Ok(if interrupts::check().is_err() {
            Exit::Interrupted
        } else if report.failed > 0 {
            Exit::Unknown
        } else if report.holds(usize::from(self.at_least)) {
            Exit::Ok
        } else {
            Exit::Failed
        })
    }

    /// The selected cases; none if the file has errors, which are printed.
    fn cases(&self, printer: &Printer) -> anyhow::Result<Option<Vec<EvalCase>>> {
        let text = files::read(&self.file)?;
        let name = self.file.display().to_string();
        let document = match Document::parse(&name, &text) {
            Ok(document) => document,
            Err(diagnostic) => {
                printer.diagnostics(&[*diagnostic]);
                return Ok(None);
            }
        };
        let cases: EvalCases = match document.check() {
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
            |case: &EvalCase| self.only.as_ref().is_none_or(|begin| case.id.starts_with(begin));
        let cases: Vec<_> = cases.cases.into_iter().filter(is_meant).collect();
        if cases.is_empty() {
            anyhow::bail!("no case begins with `{}`", self.only.as_deref().unwrap_or_default());
        }
        Ok(Some(cases))
    }

    /// Asks one question after the other, until it is stopped.
    async fn measure(
        &self,
        ask: &ask::Ask,
        gate: &Gate,
        cases: &[EvalCase],
        printer: &Printer,
    ) -> EvalReport {
        let mut scores: Vec<CaseScore> = Vec::new();
        let mut model = None;
        let progress = ProgressLine::begin("asking");
        for (number, case) in (1..).zip(cases) {
            let place = format!("{number} of {}: {}", cases.len(), case.id);
            progress.set(&place);
            let before = CallCounts::of(gate);
            let stop = CancellationToken::new();
            let request = AskRequest {
                question: case.question.clone(),
                tool: None,
                args: Map::new(),
                summarize: case.summarize,
                plan_only: false,
                caller: Caller::named("cli"),
                request_id: RequestId::new(gate.clock().now()),
                recording: Recording::WhenNeeded,
                stop: stop.clone(),
            };
            let score = match super::ask::run(ask, request, &()).await {
                Ok(outcome) => {
                    model = outcome.trace.meta["model"].as_str().map(str::to_owned).or(model);
                    eval::score(case, &outcome, &before.since(gate))
                }
                Err(why) => CaseScore::failed(case, why.to_string()),
            };
            if !self.json {
                printer.say(format!("{place} ({} s)", score.duration_ms / 1_000));
            }
            scores.push(score);
            if stop.is_cancelled() {
                printer.say(format!("stopped after {number} of {} cases", cases.len()));
                break;
            }
        }
        EvalReport::new(model, scores)
    }
}

/// Warns of misspelt tools: they are never called, so their cases show nothing.
fn warn_of_unknown_tools(gate: &Gate, cases: &[EvalCase], printer: &Printer) {
    let catalogue = gate.catalogue();
    let withheld = catalogue.withheld().map(|(name, _)| name.replacen("__", ".", 1));
    let known: Vec<String> = catalogue.tools().map(|tool| spelled(tool)).chain(withheld).collect();
    for case in cases {
        for tool in case.tool.iter().chain(&case.must_not_call) {
            let tool = tool.replacen("__", ".", 1);
            if known.contains(&tool) {
                continue;
            }
            let near = contract::did_you_mean(&tool, known.iter().map(String::as_str));
            printer.say(format!("{}: there is no tool `{tool}` here{near}", case.id));
        }
    }
}

/// A tool as cases write it: `server.tool`.
fn spelled(tool: &Tool) -> String {
    let contract = &tool.contract;
    let local = ask::candidates::local_name(&contract.toolset, &contract.name);
    format!("{}.{local}", contract.toolset)
}

/// The number of calls of each tool.
struct CallCounts(Vec<(Arc<Tool>, u64)>);

impl CallCounts {
    fn of(gate: &Gate) -> Self {
        Self(gate.catalogue().tools().map(|tool| (tool.clone(), tool.calls())).collect())
    }

    /// The calls since then: the tool, and true if it has effects. A tool that was replaced in between counts from zero.
    fn since(&self, gate: &Gate) -> Vec<(String, bool)> {
        let is_known = |tool: &Arc<Tool>| self.0.iter().any(|(known, _)| Arc::ptr_eq(known, tool));
        let catalogue = gate.catalogue();
        let new = catalogue.tools().filter(|tool| !is_known(tool)).map(|tool| (tool, 0));
        let all = self.0.iter().map(|(tool, before)| (tool, *before)).chain(new);
        let made = all.flat_map(|(tool, before)| {
            let name = spelled(tool);
            let has_effects = tool.contract.effects.changes_the_world();
            (before..tool.calls()).map(move |_| (name.clone(), has_effects))
        });
        made.collect()
    }
}

fn show(report: &EvalReport, printer: &Printer) {
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
                mark(Some(score.is_right())),
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
        "CASE", "RIGHT", "TOOL", "ARGS", "REFUSED", "QUOTES", "CALLS", "BAD", "BULLETS", "MS",
        "RESULT", "WHAT",
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
    if report.failed > 0 {
        printer.data(format!("{:<20}  {}", "failed", report.failed));
    }
    printer.data(format!(
        "{:<20}  {} delivered, {} dropped, {} not in their result",
        "bullets", report.bullets, report.dropped_bullets, report.ungrounded_bullets
    ));
    if report.failed < report.cases {
        printer.data(format!(
            "{:<20}  {} ms in the middle, {} ms at most",
            "time", report.median_ms, report.slowest_ms
        ));
    }
    if let Some(model) = &report.model {
        printer.data(format!("{:<20}  {model}", "model"));
    }
}
