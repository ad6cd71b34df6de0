//! `tools/call`: read, made through the gate and nothing else, and its outcome rendered.

use std::sync::Arc;

use contract::{Contract, Presentation, TaskSupport, codes, render::mcp::is_object};
use gate::{
    ApprovalId, BoxFuture, Call, Failure, InputRequests, JobId, LiveJob, LogLevel,
    NotificationSender, Outcome, OutputJson, Recording, Tool, ToolNotification,
};
use mcp::{
    LogMessage, Progress, RpcError, append_field, append_json, append_string, header,
    params::{self, Params, RequestMeta, SERVER_INFO},
};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};
use tokio::sync::mpsc;

use super::{
    context::{McpContext, RpcResult},
    dispatch, input_requests,
    input_rounds::InputRounds,
    resources, tasks,
};

/// The number of notifications of a tool that may wait to be sent.
const MAX_NOTIFICATIONS: usize = 64;
/// The keys of `_meta` under which a result names its request, its job and its error.
const REQUEST_ID: &str = "toolgate/request_id";
const JOB_ID: &str = "toolgate/job_id";
const ERROR: &str = "toolgate/error";
/// The keys of anything out of the ordinary about a result.
const SPILLED: &str = "toolgate/spilled";
pub(crate) const RELEASED: &str = "toolgate/released";
const QUARANTINE_ID: &str = "toolgate/quarantine_id";
const WARNINGS: &str = "toolgate/contract_warnings";

/// Handles one `tools/call` request.
struct CallHandler {
    context: McpContext,
    tool: Option<Arc<Tool>>,
    name: Box<str>,
    /// Taken by the first round; a later one reads them again.
    arguments: Option<Map<String, Value>>,
    rounds: InputRounds,
    progress_token: Option<Value>,
    approval: Option<ApprovalId>,
    /// The progress that the client was last sent: it must grow.
    last_progress: f64,
    /// The name that the call has if it becomes a task.
    task: Option<JobId>,
}

/// Reads a call, and begins it. Nothing is waited for here.
pub(crate) fn begin(
    mut context: McpContext,
    params: &Params<'_>,
    meta: &RequestMeta<'_>,
) -> Result<BoxFuture<'static, RpcResult>, RpcError> {
    let name = params::required(params.name, "name")?;
    let arguments = dispatch::object(params.arguments, "arguments")?;
    let rounds = InputRounds::read(&context, params, "tools/call", &name)?;
    let progress_token = meta.progress_token()?;
    let approval = meta.approval.map(approval_id).transpose()?;
    let tool = context.app.gate.catalogue().find_spelled(&name, context.scope.as_deref()).cloned();
    if let (Some(headers), Some(tool)) = (context.headers.take(), &tool) {
        for mirror in &tool.parameter_headers {
            header::check_argument(&headers, &mirror.header, mirror.value(&arguments))?;
        }
    }
    let handler = CallHandler {
        context,
        tool,
        name,
        arguments: Some(arguments),
        rounds,
        progress_token,
        approval,
        last_progress: f64::NEG_INFINITY,
        task: None,
    };
    Ok(Box::pin(handler.answer()))
}

/// The approval that the client has for this call.
pub(crate) fn approval_id(raw: &RawValue) -> Result<ApprovalId, RpcError> {
    let id = params::string(raw, "toolgate/approval")?;
    ApprovalId::parse(&id).ok_or_else(|| {
        RpcError::invalid_params("`toolgate/approval` must be the id of an approval")
    })
}

impl CallHandler {
    /// Makes the call.
    async fn answer(mut self) -> RpcResult {
        self.rounds.open(&self.context)?;
        let policy = self.tool.as_ref().map_or(TaskSupport::Never, |tool| tool.contract.tasks);
        match (policy, self.context.client.tasks) {
            (TaskSupport::Required, false) => Err(tasks::required(&self.context, &self.name)),
            (TaskSupport::Always | TaskSupport::Required, true) => self.queued().await,
            (TaskSupport::Auto, true) => self.or_task().await,
            _ => self.directly(Recording::WhenNeeded).await,
        }
    }

    /// Hands out a task at once; a worker makes the call.
    async fn queued(mut self) -> RpcResult {
        let context = self.context.clone();
        let call = self.call(Recording::WhenNeeded, None);
        match context.app.jobs.submit(call).await {
            Ok((id, _)) => tasks::created(&context, &id).await,
            Err(failure) => {
                let name = &*self.name;
                let outcome = Outcome::refused(name, context.request_id.clone(), *failure);
                self.result(&outcome)
            }
        }
    }

    /// Makes the call, and hands out a task for it where it takes long.
    async fn or_task(mut self) -> RpcResult {
        let context = self.context.clone();
        let id = JobId::new(context.app.gate.clock().now());
        self.task = Some(id.clone());
        tasks::hand_out_if_slow(context, &id, self.directly(Recording::As(id.clone()))).await
    }

    /// The job that this call has become, once its client knows it by name.
    fn handed_out(&self) -> Option<Arc<LiveJob>> {
        let live = self.context.app.gate.live(self.task.as_ref()?)?;
        live.is_handed_out().then_some(live)
    }

    /// Makes the call, once more after each input response.
    async fn directly(mut self, recording: Recording) -> RpcResult {
        let mut input_failure = None;
        loop {
            let (sender, notifications) = self.notifications();
            let mut call = self.call(recording.clone(), sender);
            call.channel.input_failure = input_failure.take();
            let call = self.context.app.gate.call(call);
            let outcome = self.wait(call, notifications).await;
            if let Err(failure) = &outcome.result {
                self.rounds.refused(&self.context, failure);
            }
            let Some(open) = open_input_requests(&outcome) else { return self.result(&outcome) };
            if let Some(live) = self.handed_out() {
                let jobs = self.context.app.jobs.clone();
                match jobs.answers(&live, self.context.caller.name()).await {
                    Ok(responses) => {
                        self.rounds.add(responses);
                        jobs.go_on(&live).await;
                    }
                    Err(failure) => input_failure = Some(failure),
                }
                continue;
            }
            if self.context.client.is_modern() {
                return self.rounds.ask_again(&self.context, &open);
            }
            match input_requests::ask(&self.context, &open).await {
                Ok(responses) => self.rounds.add(responses),
                Err(reason) => {
                    let mut outcome = outcome;
                    if let Err(failure) = &mut outcome.result {
                        failure.message = format!("{}; {reason}", failure.message);
                    }
                    return self.result(&outcome);
                }
            }
        }
    }

    fn call(&mut self, recording: Recording, notifications: Option<NotificationSender>) -> Call {
        let arguments = self.arguments.take().unwrap_or_else(|| self.rounds.arguments());
        let context = &self.context;
        let (caller, request_id) = (context.caller.clone(), context.request_id.clone());
        Call::new(&*self.name, Value::Object(arguments), context.door, caller, request_id)
            .toolset(context.scope.clone())
            .recording(recording)
            .approval(self.approval.clone())
            .channel(self.rounds.channel(context, notifications))
            .stop(context.stop.clone())
    }

    /// A channel for notifications of the tool, if the client wants any.
    fn notifications(
        &self,
    ) -> (Option<NotificationSender>, Option<mpsc::Receiver<ToolNotification>>) {
        let wanted = self.progress_token.is_some() || self.context.client.log_level.is_some();
        if !wanted || self.context.messages.is_none() {
            return (None, None);
        }
        let (sender, receiver) = NotificationSender::channel(MAX_NOTIFICATIONS);
        (Some(sender), Some(receiver))
    }

    /// Waits for the call and forwards the notifications of the tool, in order and before the
    /// response.
    async fn wait(
        &mut self,
        mut call: BoxFuture<'static, Outcome>,
        notifications: Option<mpsc::Receiver<ToolNotification>>,
    ) -> Outcome {
        let Some(mut notifications) = notifications else { return call.await };
        let outcome = loop {
            tokio::select! {
                biased;
                Some(notification) = notifications.recv() => self.forward(notification),
                outcome = &mut call => break outcome,
            }
        };
        while let Ok(notification) = notifications.try_recv() {
            self.forward(notification);
        }
        outcome
    }

    fn forward(&mut self, notification: ToolNotification) {
        // A task is polled, and sends nothing by itself.
        if self.handed_out().is_some() {
            return;
        }
        let Some(messages) = &self.context.messages else { return };
        let message = match (notification, &self.progress_token) {
            (ToolNotification::Progress { fraction, message }, Some(token)) => {
                self.last_progress = further(self.last_progress, fraction);
                let progress = Progress {
                    progress: self.last_progress,
                    total: fraction.map(|_| 100.0),
                    message: (!message.is_empty()).then_some(message),
                };
                progress.encode(token)
            }
            (ToolNotification::Log { level, data }, _) if self.wants(level) => {
                let level = level.word().to_owned();
                LogMessage { level, data }.encode(&self.name)
            }
            _ => return,
        };
        messages.offer(message);
    }

    fn wants(&self, level: LogLevel) -> bool {
        self.context.client.log_level.is_some_and(|least| level >= least)
    }

    fn result(&self, outcome: &Outcome) -> RpcResult {
        // A tool that was not known yet when the call came in is known now.
        let catalogue = self.context.app.gate.catalogue();
        let known = || catalogue.find_spelled(&self.name, self.context.scope.as_deref());
        let contract = self.tool.as_ref().or_else(known).map(|tool| &*tool.contract);
        match &outcome.result {
            Err(failure) if failure.code == codes::UNKNOWN_TOOL.code => {
                let mut error =
                    RpcError::not_found(format!("Unknown tool: {}", RpcError::excerpt(&self.name)));
                error.data.clone_from(&failure.details);
                Err(error)
            }
            Ok(output) => {
                let bytes = output.json.get().len();
                let text = || render(&self.context, contract, outcome);
                Ok(gate::beside_runtime(bytes, text).into())
            }
            Err(_) => Ok(render(&self.context, contract, outcome).into()),
        }
    }
}

pub(crate) fn open_input_requests(outcome: &Outcome) -> Option<Arc<InputRequests>> {
    outcome.result.as_ref().err()?.questions.clone()
}

/// The progress of a call, in percent where that is known and otherwise in steps; always
/// further than before.
fn further(last: f64, fraction: Option<f64>) -> f64 {
    match fraction {
        Some(fraction) => {
            let percent = (fraction.clamp(0.0, 1.0) * 10_000.0).round() / 100.0;
            if percent > last { percent } else { last + 0.01 }
        }
        None => (last + 1.0).max(0.0),
    }
}

/// The outcome as the result of `tools/call`, in the form that the client's protocol version wants.
pub(crate) fn render(
    context: &McpContext,
    contract: Option<&Contract>,
    outcome: &Outcome,
) -> Vec<u8> {
    let mut text = Vec::with_capacity(512);
    text.extend_from_slice(b"{\"content\":[");
    match &outcome.result {
        Ok(output) if outcome.flags.released.is_some() => released(&mut text, outcome, output),
        Ok(output) => succeeded(&mut text, context, contract, outcome, output),
        Err(failure) => failed(&mut text, failure),
    }
    if context.client.is_modern() {
        text.extend_from_slice(b",\"resultType\":\"complete\"");
    }
    meta(&mut text, context, outcome);
    text.push(b'}');
    text
}

fn succeeded(
    text: &mut Vec<u8>,
    context: &McpContext,
    contract: Option<&Contract>,
    outcome: &Outcome,
    output: &OutputJson,
) {
    let json = output.json.get();
    let presentation = contract.map(|contract| contract.presentation).unwrap_or_default();
    if presentation == Presentation::Content
        && let Some(blocks) = blocks(json)
    {
        text.extend_from_slice(blocks.as_bytes());
        links(text, context, outcome, blocks.is_empty());
        text.extend_from_slice(b"],\"isError\":false");
        return;
    }
    // Legacy clients take objects only.
    let wrap = !context.client.is_modern() && !contract.is_some_and(is_object);
    let wrapped;
    let json = if wrap {
        wrapped = format!("{{\"result\":{json}}}");
        &wrapped
    } else {
        json
    };
    // Once as it is, and once as a text in which quotes are escaped.
    text.reserve(json.len() * 2 + json.len() / 4);
    match plain_text(presentation, output.json.get()) {
        Some(plain) => block(text, &plain),
        None => block(text, json),
    }
    if outcome.own_summary {
        text.push(b',');
        block(text, &outcome.summary);
    }
    links(text, context, outcome, false);
    text.extend_from_slice(b"],\"isError\":false");
    if context.client.version.has_structured_content() {
        text.extend_from_slice(b",\"structuredContent\":");
        text.extend_from_slice(json.as_bytes());
    }
}

/// A failure: in words, and with its code and details as JSON. Not as structured content: some
/// clients hold that against the schema of the result, and then show their own complaint in
/// place of ours.
fn failed(text: &mut Vec<u8>, failure: &Failure) {
    block(text, &failure.message);
    text.push(b',');
    block(text, &error_object(failure).to_string());
    text.extend_from_slice(b"],\"isError\":true");
}

/// An output that a person has released: in words, and as it is. As an error, because clients hold any
/// other result against the schema that it breaks, and the caller would get nothing of it.
fn released(text: &mut Vec<u8>, outcome: &Outcome, output: &OutputJson) {
    block(text, &outcome.summary);
    text.push(b',');
    block(text, output.json.get());
    text.extend_from_slice(b"],\"isError\":true");
}

fn error_object(failure: &Failure) -> serde_json::Value {
    let mut error = json!({ "code": failure.code, "message": failure.message });
    if let Some(details) = &failure.details {
        error["details"] = details.clone();
    }
    error
}

fn meta(text: &mut Vec<u8>, context: &McpContext, outcome: &Outcome) {
    text.extend_from_slice(b",\"_meta\":{");
    append_json(text, REQUEST_ID);
    text.push(b':');
    append_json(text, outcome.request_id.for_caller());
    if let Some(job) = &outcome.job_id {
        append_field(text, JOB_ID, job);
    }
    let flags = &outcome.flags;
    if flags.spilled {
        append_field(text, SPILLED, &true);
    }
    if let Some(id) = &flags.released {
        append_field(text, RELEASED, &true);
        append_field(text, QUARANTINE_ID, id);
    }
    if !flags.warnings.is_empty() {
        append_field(text, WARNINGS, &flags.warnings);
    }
    if let Err(failure) = &outcome.result {
        append_field(text, ERROR, &error_object(failure));
    }
    if context.client.is_modern() {
        text.extend_from_slice(format!(",\"{SERVER_INFO}\":{}", context.server_info()).as_bytes());
    }
    text.push(b'}');
}

fn block(text: &mut Vec<u8>, words: &str) {
    text.extend_from_slice(b"{\"type\":\"text\",\"text\":");
    append_string(text, words);
    text.push(b'}');
}

/// The text that a result is, where its contract says that it is one.
fn plain_text(presentation: Presentation, json: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct TextField {
        text: String,
    }
    if presentation != Presentation::Text {
        return None;
    }
    serde_json::from_str::<TextField>(json).ok().map(|field| field.text)
}

/// The content blocks that a result consists of, without their brackets.
fn blocks(json: &str) -> Option<&str> {
    #[derive(Deserialize)]
    struct ContentFields<'a> {
        #[serde(borrow)]
        content: &'a RawValue,
    }
    let fields: ContentFields<'_> = serde_json::from_str(json).ok()?;
    fields.content.get().strip_prefix('[')?.strip_suffix(']').map(str::trim)
}

/// A link to each artifact, for clients that know links.
fn links(text: &mut Vec<u8>, context: &McpContext, outcome: &Outcome, mut first: bool) {
    let Some(job) = &outcome.job_id else { return };
    if !context.client.version.has_structured_content() {
        return;
    }
    for artifact in &outcome.artifacts {
        if !first {
            text.push(b',');
        }
        first = false;
        let link = json!({
            "type": "resource_link",
            "uri": resources::artifact_uri(job, &artifact.name),
            "name": artifact.name,
            "mimeType": artifact.mime_type,
            "size": artifact.bytes,
        });
        append_json(text, &link);
    }
}
