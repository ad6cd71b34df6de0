//! `toolgate ask`: one question, at most one call, an answer with quotes.

mod progress;
mod show;

use std::{collections::HashMap, io::Read, path::PathBuf, sync::Arc};

use anyhow::{Context, bail};
use ask::{Ask, Request};
use clap::Args;
use gate::{Caller, Catalogue, Gate, Recording, RequestId, Tool};
use serde_json::Map;
use store::{DataFolder, DataFolderVisit};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use upstream::{Host, UpstreamState};

use crate::{
    Exit, arguments, commands, files,
    printer::Printer,
    settings::Flags,
    wiring::{
        self, OpenGate,
        asking::{self, Told},
        upstreams::{self, UpstreamFilter},
    },
};

/// Ask a question that one tool can answer
///
/// A language model (`llm.base_url`) chooses one call among the tools that have no effects; its plan is checked
/// against the contract and the question, and the call takes the usual path. With --summarize, what the result says,
/// each claim with its quote. Exits with 0 if there is a result, 1 if there is none, and 2 if the model failed.
#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct AskCommand {
    /// The question, or - for one on stdin
    question: String,
    /// With --tool: name=text, name:=json, name=@file
    arguments: Vec<String>,
    /// Call this tool, and ask no planner
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Say what the result says, with quotes
    #[arg(long, overrides_with = "no_summarize")]
    summarize: bool,
    /// Say nothing of it, whatever the question and the settings say
    #[arg(long)]
    no_summarize: bool,
    /// Show what would be called, and end
    #[arg(long)]
    plan_only: bool,
    /// Write down step by step what happened, into this file or folder
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Print the whole answer as JSON
    #[arg(long)]
    json: bool,
}

/// The largest question that is read from stdin, in bytes.
const MAX_STDIN_BYTES: u64 = 1 << 20;

impl AskCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        // A call is not made for a trace that cannot be written.
        if let Some(file) = &self.trace {
            files::can_be_written(file).context("--trace")?;
        }
        let Prepared { ask, kept, host_config, fixed, visit: _visit } = Prepared::new(flags)?;
        let request = self.request(&kept.gate)?;
        let watch = progress::Progress::new();
        let answered = commands::runtime()?.block_on(async {
            // What the policy refuses starts nothing.
            let host = if ask.refuses(&request) {
                None
            } else {
                let host = upstreams::start(&kept.gate, host_config, fixed).await;
                tell_who_is_down(&host, printer);
                Some(host)
            };
            let answered = until_stopped(&ask, request, &watch).await;
            if let Some(host) = host {
                host.stop().await;
            }
            answered
        });
        watch.end();
        let answered = answered?;
        let trace = self.trace.as_ref().map(|file| write_trace(file, &answered.trace)).transpose();
        let path = trace.as_ref().ok().cloned().flatten();
        if self.json {
            printer.json(&Told::new(&answered, path));
        } else {
            show::answer(&answered.answer, printer);
        }
        // What could not be written is told last: the answer is there.
        if let Some(path) = trace? {
            printer.say(format!("trace: {path}"));
        }
        Ok(exit(&answered.answer))
    }

    fn request(&self, gate: &Gate) -> anyhow::Result<Request> {
        let question = match self.question.as_str() {
            "-" => from_stdin()?,
            question => question.to_owned(),
        };
        if self.tool.is_none() && !self.arguments.is_empty() {
            bail!(
                "a question is one argument, in quotation marks; what follows it are the arguments of --tool"
            );
        }
        let args =
            if self.arguments.is_empty() { Map::new() } else { arguments::parse(&self.arguments)? };
        let summarize = match (self.summarize, self.no_summarize) {
            (_, true) => Some(false),
            (true, _) => Some(true),
            _ => None,
        };
        Ok(Request {
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

/// All that a question needs: a gate, whoever answers, and upstreams that are yet to be reached.
pub(super) struct Prepared {
    pub ask: Ask,
    pub kept: OpenGate,
    pub host_config: upstream::HostConfig,
    pub fixed: Vec<Arc<Tool>>,
    /// Says that somebody uses the data folder.
    pub visit: DataFolderVisit,
}

impl Prepared {
    pub fn new(flags: &Flags) -> anyhow::Result<Self> {
        let (loaded, bound) = commands::ready(flags)?;
        let fixed = wiring::tools(bound, &loaded)?;
        let host_config = upstreams::eager_host_config(&loaded, UpstreamFilter::All, &fixed)?;
        let data = DataFolder::open(&loaded.data_dir())?;
        let visit = data.visit()?;
        let catalogue = Catalogue::of(fixed.clone(), HashMap::new());
        let kept = wiring::gate(catalogue, &loaded, data, None)?;
        let ask = asking::ask(&loaded, &kept.gate, &kept.data)?;
        Ok(Self { ask, kept, host_config, fixed, visit })
    }
}

fn from_stdin() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().take(MAX_STDIN_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_STDIN_BYTES {
        bail!("the question on stdin is larger than {MAX_STDIN_BYTES} bytes");
    }
    String::from_utf8(bytes)
        .map_err(|_| anyhow::anyhow!("the question on stdin is no text (UTF-8)"))
}

/// What an upstream that cannot be reached would have offered is missing, and whoever asks should know.
fn tell_who_is_down(host: &Host, printer: &Printer) {
    for upstream in host.upstreams() {
        if let UpstreamState::Down { error } = upstream.state() {
            printer.say(format!("the upstream `{}` cannot be reached: {error}", upstream.id));
        }
    }
}

/// Runs it, and ends it at Ctrl-C and when it is told to stop.
pub(super) async fn until_stopped(
    ask: &Ask,
    request: Request,
    watch: &dyn ask::Watch,
) -> anyhow::Result<ask::Answered> {
    let stop = request.stop.clone();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut run = std::pin::pin!(ask.run(request, watch));
    let interrupted = async {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
    };
    let answered = tokio::select! {
        answered = &mut run => answered,
        () = interrupted => {
            stop.cancel();
            run.await
        }
    };
    Ok(answered?)
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

fn exit(answer: &ask::Answer) -> Exit {
    match answer {
        ask::Answer::Blocked { code, .. } if code.is_failure() => Exit::Unknown,
        ask::Answer::Blocked { .. }
        | ask::Answer::FinalAnswer { .. }
        | ask::Answer::ToolResult { typed: None, .. } => Exit::Failed,
        _ => Exit::Ok,
    }
}
