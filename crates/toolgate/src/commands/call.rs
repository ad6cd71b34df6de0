//! `toolgate call`: calls a tool from a terminal.

use clap::Args;
use gate::{
    ApprovalId, Caller, Door, Failure, Gate, NotificationSender, Outcome, Recording, RequestId,
    ToolNotification,
};
use serde_json::{Value, json};
use tokio::sync::mpsc::Receiver;
use upstream::{Host, UpstreamState};

use crate::{
    Exit, arguments,
    commands::{self, LocalGate},
    interrupts,
    printer::{
        Printer,
        progress::{self, ProgressLine},
    },
    settings::Flags,
    wiring::{self, upstreams::UpstreamFilter},
};

/// The most reports of progress that wait to be shown; more are lost.
const MAX_WAITING_NOTIFICATIONS: usize = 64;

/// Call a tool
///
/// The call takes the same path as one over HTTP, is recorded as a job, and its artifacts
/// are kept in the data folder. No server is needed.
#[derive(Args)]
pub struct CallCommand {
    /// Name of the tool
    tool: String,
    /// name=text, name:=json, name=@file, or - for a JSON object on stdin
    arguments: Vec<String>,
    /// Print the full result as JSON, with metrics and artifacts
    #[arg(long)]
    json: bool,
    /// Timeout of the call, in milliseconds
    #[arg(long, value_name = "MS")]
    timeout_ms: Option<u64>,
    /// Id of the approval for this call, or 4 characters or more of its end
    #[arg(long, value_name = "ID")]
    approval: Option<String>,
}

impl CallCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        progress::switch_off_if(self.json);
        let input = Value::Object(arguments::parse(&self.arguments)?);
        let local = LocalGate::open(flags, UpstreamFilter::OwnerOf(&self.tool), printer)?;
        let absent = local.fixed.absent.clone();
        let gate = local.opened.gate.clone();
        let runtime = commands::runtime()?;
        let limits = match self.timeout_ms {
            None => contract::LimitOverrides::default(),
            Some(milliseconds) => contract::LimitOverrides::from_request(
                &json!({ "timeout_ms": milliseconds }),
                &gate.ceilings(),
            )
            .map_err(|violations| anyhow::anyhow!(contract::Violation::list(&violations)))?,
        };
        let approval = match &self.approval {
            Some(id) => Some(runtime.block_on(self.approval_of(&gate, id))?),
            None => None,
        };
        let (call, heard) = self.call(&gate, input, limits, approval);
        runtime.block_on(local.with_upstreams(async |host, opened| {
            if let Some((id, error)) = unreachable_upstream(host, &gate, &self.tool) {
                printer.error(&anyhow::Error::msg(error));
                printer.say(format!("hint: `toolgate upstream show {id}` shows more"));
                return Ok(Exit::Unknown);
            }
            let stop = call.stop.clone();
            let outcome = interrupts::stopping(&stop, self.shown(gate.call(call), heard)).await;
            let exit = self.print(&outcome, opened, printer);
            if let Err(failure) = &outcome.result {
                for hint in self.hints(failure, host) {
                    printer.say(format!("hint: {hint}"));
                }
                // Read again: the gate has what was read before.
                if matches!(&*failure.code, "unknown_tool" | "unavailable")
                    && let Ok(loaded) = flags.load()
                    && let Some(hint) = commands::unserved::hint(&loaded, &absent, &self.tool)
                {
                    printer.say(format!("hint: {hint}"));
                }
            }
            Ok(match exit {
                Exit::Failed if interrupts::check().is_err() => Exit::Interrupted,
                exit => exit,
            })
        }))
    }

    /// The approval that a person means.
    async fn approval_of(&self, gate: &Gate, id: &str) -> anyhow::Result<ApprovalId> {
        let found = commands::approvals::find(gate, id).await?;
        found.ok_or_else(|| anyhow::anyhow!("there is no approval {id}"))
    }

    fn call(
        &self,
        gate: &Gate,
        input: Value,
        limits: contract::LimitOverrides,
        approval: Option<ApprovalId>,
    ) -> (gate::Call, Receiver<ToolNotification>) {
        let request_id = RequestId::new(gate.clock().now());
        let mut call =
            gate::Call::new(&self.tool, input, Door::Cli, Caller::named("cli"), request_id)
                .limits(limits)
                .recording(Recording::Always)
                .approval(approval);
        let (sender, heard) = NotificationSender::channel(MAX_WAITING_NOTIFICATIONS);
        if progress::is_on() {
            call.channel.notifications = Some(sender);
        }
        (call, heard)
    }

    /// Runs the call, and shows the progress that the tool reports.
    async fn shown(
        &self,
        call: impl Future<Output = Outcome>,
        mut heard: Receiver<ToolNotification>,
    ) -> Outcome {
        let shown = ProgressLine::begin(format!("calling {}", self.tool));
        let mut call = std::pin::pin!(call);
        loop {
            tokio::select! {
                biased;
                outcome = &mut call => return outcome,
                Some(notification) = heard.recv() => {
                    if let ToolNotification::Progress { fraction, message } = notification {
                        shown.set(self.progress_words(fraction, &message));
                    }
                }
            }
        }
    }

    fn progress_words(&self, fraction: Option<f64>, message: &str) -> String {
        let percent = fraction.map(|part| format!(" {:.0} %", part.clamp(0.0, 1.0) * 100.0));
        let message = if message.is_empty() { String::new() } else { format!(": {message}") };
        format!("calling {}{}{message}", self.tool, percent.unwrap_or_default())
    }

    fn print(&self, outcome: &Outcome, opened: &wiring::OpenGate, printer: &Printer) -> Exit {
        if self.json {
            let whole: Value =
                serde_json::from_str(outcome.tool_result().get()).unwrap_or_default();
            printer.json(&whole);
        }
        match &outcome.result {
            Ok(output) => {
                if !self.json {
                    let value: Value = serde_json::from_str(output.json.get()).unwrap_or_default();
                    printer.json(&value);
                    self.name_artifacts(outcome, opened, printer);
                }
                if let Some(id) = &outcome.flags.released {
                    printer.say(format!("warning: this result broke the contract of {} and was released from quarantine ({id})", self.tool));
                }
                Exit::Ok
            }
            Err(failure) => {
                let stderr = outcome.stderr.trim_end();
                let is_said_again = failure.message.starts_with(stderr.trim_end_matches('.'));
                if !self.json && !is_said_again {
                    printer.say(stderr);
                }
                printer.say(format!("{}: {}", failure.code, failure.message));
                // Who has the command line is the operator, who has to fix an internal error.
                if let Some(words) = failure
                    .operator
                    .as_ref()
                    .filter(|_| failure.code == contract::codes::INTERNAL.code)
                {
                    printer.say(words);
                }
                Exit::Failed
            }
        }
    }

    fn name_artifacts(&self, outcome: &Outcome, opened: &wiring::OpenGate, printer: &Printer) {
        let Some(job) = &outcome.job_id else { return };
        for artifact in &outcome.artifacts {
            let path = opened.data.path().join("artifacts").join(job.as_str()).join(&artifact.name);
            printer.say(format!("artifact {} ({} bytes)", path.display(), artifact.bytes));
        }
        for (count, why) in outcome.files_not_kept() {
            let files = if count == 1 { "file was" } else { "files were" };
            printer.say(format!("{count} {files} not kept: {why}"));
        }
    }

    /// The next steps after a failure.
    fn hints(&self, failure: &Failure, host: &Host) -> Vec<String> {
        let mut hints = self.typed_values(failure);
        if let Some(id) = failure.approval.as_ref() {
            hints.push(format!(
                "run `toolgate approvals approve {id}`, then repeat the call with --approval {id}"
            ));
        }
        let detail = |key: &str| failure.details.as_ref().and_then(|details| details[key].as_str());
        if let Some(id) = detail("quarantine_id") {
            hints.push(format!("`toolgate quarantine show {id}` shows the result"));
        }
        if detail("reason") == Some("private_addr") {
            hints.push(
                "if it is yours, add its `HOST:PORT` to `tools.web_fetch.allow_private_hosts`"
                    .into(),
            );
        }
        if let Some(near) = detail("did_you_mean") {
            hints.push(format!("did you mean `{near}`?"));
        }
        for upstream in host.upstreams().iter() {
            let rejected = upstream.rejected().into_iter();
            hints.extend(rejected.filter(|one| one.served_as == self.tool).map(|one| one.fix));
            if let UpstreamState::Down { error, .. } = upstream.state() {
                let id = &upstream.id;
                hints.push(format!("`toolgate upstream show {id}` shows more: {error}"));
            }
        }
        hints
    }

    /// `n:=2` where `n=2` was typed for a number.
    fn typed_values(&self, failure: &Failure) -> Vec<String> {
        let violations =
            failure.details.as_ref().and_then(|details| details["violations"].as_array());
        violations
            .into_iter()
            .flatten()
            .filter(|violation| violation["keyword"] == "type")
            .filter_map(|violation| violation["pointer"].as_str()?.strip_prefix('/'))
            .filter_map(|name| {
                let text = self
                    .arguments
                    .iter()
                    .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?;
                Some(format!("write {name}:={text} for a value that is not text"))
            })
            .collect()
    }
}

/// The upstream of the tool and the error, if it cannot be reached, so that nothing is known of the tool.
fn unreachable_upstream(host: &Host, gate: &Gate, tool: &str) -> Option<(String, String)> {
    if gate.catalogue().find(tool).is_some() {
        return None;
    }
    let upstreams = host.upstreams();
    let mut unknown = upstreams.iter().filter(|one| one.own_listings().is_none());
    unknown.find_map(|one| Some((one.id.clone(), commands::unreachable(one)?)))
}
