//! `tools/call`: through the gate and nothing else.

use std::{sync::Arc, time::Duration};

use contract::{TaskSupport, codes};
use gate::{
    ApprovalId, BoxFuture, Call, InputRequests, JobId, LiveJob, LogLevel, NotificationSender,
    Outcome, Recording, Tool, ToolNotification,
};
use mcp::{
    LogMessage, Progress, RpcError, code,
    params::{self, Params, RequestMeta},
};
use serde_json::{Map, Value, value::RawValue};
use tokio::sync::mpsc;

use super::{
    context::{McpContext, RpcResult, joined},
    dispatch, input_requests,
    input_rounds::InputRounds,
    result, tasks,
};

/// How many notifications of a tool may wait until they are sent.
const MAX_NOTIFICATIONS: usize = 64;
/// How often to look whether a call that became a task is on record.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A `tools/call` request.
pub(crate) struct ToolCall {
    context: McpContext,
    tool: Option<Arc<Tool>>,
    name: Box<str>,
    /// Taken by the first round; a later one reads them again.
    arguments: Option<Map<String, Value>>,
    rounds: InputRounds,
    progress_token: Option<Value>,
    approval: Option<ApprovalId>,
    /// The progress that the client was last told: it must grow.
    last_progress: f64,
    /// The name that the call has if it becomes a task.
    task: Option<JobId>,
}

/// Reads a call. Nothing is waited for here.
pub(crate) fn read(
    context: McpContext,
    params: &Params<'_>,
    meta: &RequestMeta<'_>,
) -> Result<ToolCall, RpcError> {
    let name = params::required(params.name, "name")?;
    let arguments = dispatch::object(params.arguments, "arguments")?;
    let rounds = InputRounds::read(&context, params, "tools/call", &name)?;
    let progress_token = meta.progress_token()?;
    let approval = meta.approval.map(approval_id).transpose()?;
    let tool = context.app.gate.catalogue().find_in(&name, context.scope.as_deref()).cloned();
    let arguments = Some(arguments);
    Ok(ToolCall {
        context,
        tool,
        name,
        arguments,
        rounds,
        progress_token,
        approval,
        last_progress: f64::NEG_INFINITY,
        task: None,
    })
}

/// The approval that the client has for this call.
fn approval_id(raw: &RawValue) -> Result<ApprovalId, RpcError> {
    let id = params::string(raw, "toolgate/approval")?;
    ApprovalId::parse(&id).ok_or_else(|| {
        RpcError::invalid_params("`toolgate/approval` must be the id of an approval")
    })
}

impl ToolCall {
    /// A tool that mirrors arguments into headers, and the arguments.
    pub(crate) fn mirrored(&self) -> Option<(&Arc<Tool>, &Map<String, Value>)> {
        let tool = self.tool.as_ref().filter(|tool| !tool.parameter_headers.is_empty())?;
        Some((tool, self.arguments.as_ref()?))
    }

    /// Makes the call.
    pub(crate) async fn answer(mut self) -> RpcResult {
        self.rounds.open(&self.context)?;
        let policy = self.tool.as_ref().map_or(TaskSupport::Never, |tool| tool.contract.tasks);
        match (policy, self.context.client.tasks) {
            (TaskSupport::Required, false) => Err(self.needs_tasks()),
            (TaskSupport::Always | TaskSupport::Required, true) => self.queued().await,
            (TaskSupport::Auto, true) => self.or_task().await,
            _ => self.directly(Recording::WhenNeeded).await,
        }
    }

    fn needs_tasks(&self) -> RpcError {
        if self.context.client.is_modern() {
            return tasks::not_declared();
        }
        RpcError::new(
            code::METHOD_NOT_FOUND,
            200,
            format!("`{}` can only be called as a task", self.name),
        )
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
                self.render(&outcome)
            }
        }
    }

    /// Makes the call, and hands out a task for it where it takes long.
    async fn or_task(mut self) -> RpcResult {
        let context = self.context.clone();
        let id = JobId::new(context.app.gate.clock().now());
        self.task = Some(id.clone());
        let mut call = tokio::spawn(self.directly(Recording::As(id.clone())));
        let task_after = context.app.settings.mcp.task_after;
        // Until it is handed out, a client that goes away ends the call.
        let gone = context.stop.clone().drop_guard();
        if let Ok(outcome) = tokio::time::timeout(task_after, &mut call).await {
            return joined(outcome);
        }
        // It is not handed out before it is on record.
        let live = loop {
            if let Some(live) = context.app.gate.live(&id) {
                break live;
            }
            tokio::select! {
                outcome = &mut call => return joined(outcome),
                () = tokio::time::sleep(POLL_INTERVAL) => {}
            }
        };
        // One that has ended with input requests has its own result.
        if !live.hand_out() {
            return joined(call.await);
        }
        let task = tasks::created(&context, &id).await;
        if task.is_ok() {
            gone.disarm();
        }
        task
    }

    /// The job that this call has become, once its client knows it by name.
    fn handed_out(&self) -> Option<Arc<LiveJob>> {
        let live = self.context.app.gate.live(self.task.as_ref()?)?;
        live.is_handed_out().then_some(live)
    }

    /// Makes the call, once more after each input response.
    async fn directly(mut self, recording: Recording) -> RpcResult {
        let mut given_up = None;
        loop {
            let (sender, notifications) = self.notifications();
            let mut call = self.call(recording.clone(), sender);
            call.channel.given_up = given_up.take();
            let call = self.context.app.gate.call(call);
            let outcome = self.wait(call, notifications).await;
            if let Err(failure) = &outcome.result {
                self.rounds.refused(&self.context, failure);
            }
            let Some(open) = open_input_requests(&outcome) else { return self.render(&outcome) };
            if let Some(live) = self.handed_out() {
                let jobs = self.context.app.jobs.clone();
                match jobs.answers(&live).await {
                    Ok(responses) => {
                        self.rounds.add(responses);
                        jobs.go_on(&live).await;
                    }
                    Err(failure) => given_up = Some(failure),
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
                    return self.render(&outcome);
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

    fn render(&self, outcome: &Outcome) -> RpcResult {
        let contract = self.tool.as_ref().map(|tool| &*tool.contract);
        match &outcome.result {
            Err(failure) if failure.code == codes::UNKNOWN_TOOL.code => {
                let mut error =
                    RpcError::not_found(format!("Unknown tool: {}", RpcError::excerpt(&self.name)));
                error.data.clone_from(&failure.details);
                Err(error)
            }
            _ => Ok(result::of_call(&self.context, contract, outcome).into()),
        }
    }
}

fn open_input_requests(outcome: &Outcome) -> Option<Arc<InputRequests>> {
    outcome.result.as_ref().err()?.questions.clone()
}

/// How far a call has come, in percent where that is known and otherwise in steps; always
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
