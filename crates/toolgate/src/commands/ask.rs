//! `toolgate ask`: one question, at most one call, a response with quotes.

mod progress;
mod show;

use std::path::PathBuf;

use anyhow::{Context, bail};
use ask::{Ask, AskOutcome, AskRequest, AskResponse, TraceWatcher};
use clap::Args;
use gate::{Caller, Gate, Recording, RequestId};
use serde_json::Map;
use tokio_util::sync::CancellationToken;

use crate::{
    Exit, arguments,
    commands::{self, LocalGate},
    files, interrupts,
    printer::{self, Printer},
    settings::Flags,
    wiring::{
        ask::{self as wired_ask, TracedResponse},
        upstreams::UpstreamFilter,
    },
};

/// Ask a question that one tool can answer
///
/// A language model (`llm.base_url`) chooses one call among the tools that have no effects; its plan is checked
/// against the contract and the question, and the call takes the usual path. With --summarize, the model also picks
/// lines of the result, which are quoted with their places. Exits with 0 if there is a result, 1 if there is none, and 2
/// if the model failed.
#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct AskCommand {
    /// The question, or - for one on stdin
    question: String,
    /// With --tool: name=text, name:=json, name=@file
    arguments: Vec<String>,
    /// Call this tool with these arguments, without a plan of the model
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Quote the most important lines of the result
    #[arg(long, overrides_with = "no_summarize")]
    summarize: bool,
    /// Quote nothing, whatever the question and the settings say
    #[arg(long)]
    no_summarize: bool,
    /// Print the call that would be made, and do not make it
    #[arg(long)]
    plan_only: bool,
    /// Write the trace of the run to this file or folder
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Print the whole response as JSON
    #[arg(long)]
    json: bool,
}

/// The largest question that is read from stdin, in bytes.
const MAX_STDIN_BYTES: u64 = 1 << 20;

impl AskCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        printer::progress::switch_off_if(self.json);
        // A call is not made for a trace that cannot be written.
        if let Some(file) = &self.trace {
            files::can_be_written(file).context("--trace")?;
        }
        let local = LocalGate::open(flags, UpstreamFilter::All, printer)?;
        let ask = wired_ask::ask(&local.loaded, &local.opened.gate)?;
        let request = self.request(&local.opened.gate)?;
        let watch = progress::AskProgress::new(printer);
        let outcome = commands::runtime()?.block_on(async {
            // What the policy refuses starts nothing.
            if ask.refuses(&request) {
                return run(&ask, request, &watch).await;
            }
            let run = local.with_upstreams(async |host, _| {
                commands::warn_of_unreachable(host, printer);
                run(&ask, request, &watch).await
            });
            Box::pin(run).await
        });
        drop(watch);
        let outcome = outcome?;
        let trace = self.trace.as_ref().map(|file| write_trace(file, &outcome.trace)).transpose();
        let path = trace.as_ref().ok().cloned().flatten();
        if self.json {
            printer.json(&TracedResponse::new(&outcome, path));
        } else {
            show::response(&outcome.response, printer);
        }
        // An error of the trace comes last: the response is there.
        if let Some(path) = trace? {
            printer.say(format!("trace: {path}"));
        }
        Ok(exit(&outcome.response))
    }

    fn request(&self, gate: &Gate) -> anyhow::Result<AskRequest> {
        let question = match self.question.as_str() {
            "-" => {
                let name = "the question on stdin";
                let bytes = files::read_stdin(name, MAX_STDIN_BYTES)?;
                String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8 text"))?
            }
            question => question.to_owned(),
        };
        if self.tool.is_none() && !self.arguments.is_empty() {
            bail!("put the question in quotation marks; further arguments are for --tool");
        }
        let args =
            if self.arguments.is_empty() { Map::new() } else { arguments::parse(&self.arguments)? };
        let summarize = match (self.summarize, self.no_summarize) {
            (_, true) => Some(false),
            (true, _) => Some(true),
            _ => None,
        };
        Ok(AskRequest {
            question,
            tool: self.tool.clone(),
            args,
            summarize,
            plan_only: self.plan_only,
            caller: Caller::named("cli"),
            request_id: RequestId::new(gate.clock().now()),
            recording: Recording::Always,
            stop: CancellationToken::new(),
        })
    }
}

/// Asks; an interrupt cancels the run.
pub(super) async fn run(
    ask: &Ask,
    request: AskRequest,
    watch: &dyn TraceWatcher,
) -> anyhow::Result<AskOutcome> {
    let stop = request.stop.clone();
    Ok(interrupts::stopping(&stop, ask.run(request, watch)).await?)
}

/// Writes a trace to a file, or to a file of its own in a folder.
fn write_trace(file: &std::path::Path, trace: &ask::Trace) -> anyhow::Result<String> {
    let file = if file.is_dir() { file.join(trace.file_name()) } else { file.to_owned() };
    let mut text = serde_json::to_string_pretty(trace)?;
    text.push('\n');
    files::create_private(&file);
    files::replace(&file, &text).context("--trace")?;
    Ok(file.display().to_string())
}

fn exit(response: &AskResponse) -> Exit {
    match response {
        AskResponse::Blocked(_) if interrupts::check().is_err() => Exit::Interrupted,
        AskResponse::Blocked(blocked) if blocked.code.is_failure() => Exit::Unknown,
        AskResponse::Blocked(_)
        | AskResponse::FinalAnswer { .. }
        | AskResponse::ToolResult { typed: None, .. } => Exit::Failed,
        _ => Exit::Ok,
    }
}
