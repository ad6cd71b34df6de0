//! `tools/call`: through the gate and nothing else.

use std::{sync::Arc, time::Duration};

use contract::{Tasks, codes};
use gate::{
    ApprovalId, BoxFuture, Call, InputRequests, JobId, LiveJob, LogLevel, NotificationSender,
    Outcome, Recording, Tool, ToolNotification,
};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::{
    context::{Context, Reply, joined},
    params::{self, Meta, Params},
    questions, result,
    rounds::Rounds,
    rpc::{self, RpcError, shown},
    tasks,
};

/// How many notes of a tool may wait until they are sent.
const NOTE_ROOM: usize = 64;
/// How often to look whether a call that became a task is on record.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A call as it was asked for.
pub(crate) struct Asked {
    context: Context,
    tool: Option<Arc<Tool>>,
    name: Box<str>,
    /// Taken by the first round; a later one reads them again.
    arguments: Option<Map<String, Value>>,
    rounds: Rounds,
    progress_token: Option<Value>,
    approval: Option<ApprovalId>,
    /// What the client was last told of progress: it must grow.
    told: f64,
    /// The name that the call has if it becomes a task.
    task: Option<JobId>,
}

/// Reads a call; whatever it waits for comes later.
pub(crate) fn read(
    context: Context,
    params: &Params<'_>,
    meta: &Meta<'_>,
) -> Result<Asked, RpcError> {
    let name = params::required(params.name, "name")?;
    let arguments = params::object(params.arguments, "arguments")?;
    let rounds = Rounds::read(&context, params, "tools/call", &name)?;
    let progress_token = meta.progress_token()?;
    let approval = meta.approval()?;
    let tool = context.app.gate.catalogue().find_in(&name, context.scope.as_deref()).cloned();
    let arguments = Some(arguments);
    let told = f64::NEG_INFINITY;
    let task = None;
    Ok(Asked { context, tool, name, arguments, rounds, progress_token, approval, told, task })
}

/// The mirrored arguments of a tool and the arguments to hold them against.
pub(crate) fn mirrors(asked: &Asked) -> Option<(&Arc<Tool>, &Map<String, Value>)> {
    let tool = asked.tool.as_ref().filter(|tool| !tool.mirrors.is_empty())?;
    Some((tool, asked.arguments.as_ref()?))
}

impl Asked {
    /// Makes the call.
    pub(crate) async fn answer(mut self) -> Reply {
        self.rounds.open(&self.context)?;
        let policy = self.tool.as_ref().map_or(Tasks::Never, |tool| tool.contract.tasks);
        match (policy, self.context.client.tasks) {
            (Tasks::Required, false) => Err(self.needs_tasks()),
            (Tasks::Always | Tasks::Required, true) => self.queued().await,
            (Tasks::Auto, true) => self.or_task().await,
            _ => self.directly(Recording::WhenNeeded).await,
        }
    }

    fn needs_tasks(&self) -> RpcError {
        if self.context.client.is_modern() {
            return tasks::not_declared();
        }
        RpcError::new(-32601, 200, format!("`{}` can only be called as a task", self.name))
    }

    /// Hands out a task at once; a worker makes the call.
    async fn queued(mut self) -> Reply {
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
    async fn or_task(mut self) -> Reply {
        let context = self.context.clone();
        let id = JobId::new(context.app.gate.clock().now());
        self.task = Some(id.clone());
        let mut call = tokio::spawn(self.directly(Recording::As(id.clone())));
        let patience = context.app.settings.mcp.task_after;
        // Until it is handed out, a client that goes away ends the call.
        let gone = context.stop.clone().drop_guard();
        if let Ok(reply) = tokio::time::timeout(patience, &mut call).await {
            return joined(reply);
        }
        // It is not handed out before it is on record.
        let live = loop {
            if let Some(live) = context.app.gate.live(&id) {
                break live;
            }
            tokio::select! {
                reply = &mut call => return joined(reply),
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
        };
        // One that has ended with its questions has its own answer.
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

    /// Makes the call, as often as there are answers to wait for.
    async fn directly(mut self, recording: Recording) -> Reply {
        let mut given_up = None;
        loop {
            let (notes, heard) = self.listen();
            let mut call = self.call(recording.clone(), notes);
            call.channel.given_up = given_up.take();
            let call = self.context.app.gate.call(call);
            let outcome = self.hear(call, heard).await;
            if let Err(failure) = &outcome.result {
                self.rounds.turned_away(&self.context, failure);
            }
            let Some(open) = open_questions(&outcome) else { return self.render(&outcome) };
            if let Some(live) = self.handed_out() {
                let jobs = self.context.app.jobs.clone();
                match jobs.answers(&live).await {
                    Ok(replies) => {
                        self.rounds.add(replies);
                        jobs.go_on(&live).await;
                    }
                    Err(failure) => given_up = Some(failure),
                }
                continue;
            }
            if self.context.client.is_modern() {
                return self.rounds.ask_again(&self.context, &open);
            }
            match questions::ask(&self.context, &open).await {
                Ok(replies) => self.rounds.add(replies),
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

    fn call(&mut self, recording: Recording, notes: Option<NotificationSender>) -> Call {
        let arguments = self.arguments.take().unwrap_or_else(|| self.rounds.arguments());
        let context = &self.context;
        let (caller, request_id) = (context.caller.clone(), context.request_id.clone());
        Call::new(&*self.name, Value::Object(arguments), context.door, caller, request_id)
            .toolset(context.scope.clone())
            .recording(recording)
            .approval(self.approval.clone())
            .channel(self.rounds.channel(context, notes))
            .stop(context.stop.clone())
    }

    /// A place for notes, if the client wants any of them.
    fn listen(&self) -> (Option<NotificationSender>, Option<mpsc::Receiver<ToolNotification>>) {
        let wanted = self.progress_token.is_some() || self.context.client.log_level.is_some();
        if !wanted || self.context.outbox.is_none() {
            return (None, None);
        }
        let (notes, heard) = NotificationSender::channel(NOTE_ROOM);
        (Some(notes), Some(heard))
    }

    /// Waits for the call and passes on what the tool says meanwhile, in order and before
    /// the answer.
    async fn hear(
        &mut self,
        mut call: BoxFuture<'static, Outcome>,
        heard: Option<mpsc::Receiver<ToolNotification>>,
    ) -> Outcome {
        let Some(mut heard) = heard else { return call.await };
        let outcome = loop {
            tokio::select! {
                biased;
                Some(note) = heard.recv() => self.pass_on(note),
                outcome = &mut call => break outcome,
            }
        };
        while let Ok(note) = heard.try_recv() {
            self.pass_on(note);
        }
        outcome
    }

    fn pass_on(&mut self, note: ToolNotification) {
        // A task is asked for, and tells nothing by itself.
        if self.handed_out().is_some() {
            return;
        }
        let Some(outbox) = &self.context.outbox else { return };
        let message = match (note, &self.progress_token) {
            (ToolNotification::Progress { fraction, message }, Some(token)) => {
                self.told = further(self.told, fraction);
                progress(token, self.told, fraction.is_some(), &message)
            }
            (ToolNotification::Log { level, data }, _) if self.wants(level) => {
                let params = json!({ "level": level.word(), "logger": self.name, "data": data });
                rpc::notification("notifications/message", &params)
            }
            _ => return,
        };
        outbox.offer(message);
    }

    fn wants(&self, level: LogLevel) -> bool {
        self.context.client.log_level.is_some_and(|least| level >= least)
    }

    fn render(&self, outcome: &Outcome) -> Reply {
        let contract = self.tool.as_ref().map(|tool| &*tool.contract);
        match &outcome.result {
            Err(failure) if failure.code == codes::UNKNOWN_TOOL.code => {
                let mut error = RpcError::unknown(format!("Unknown tool: {}", shown(&self.name)));
                error.data.clone_from(&failure.details);
                Err(error)
            }
            _ => Ok(result::of_call(&self.context, contract, outcome)),
        }
    }
}

fn open_questions(outcome: &Outcome) -> Option<Arc<InputRequests>> {
    outcome.result.as_ref().err()?.questions.clone()
}

/// How far a call has come, in percent where that is known and otherwise in steps; always
/// further than before.
fn further(told: f64, fraction: Option<f64>) -> f64 {
    match fraction {
        Some(fraction) => {
            let percent = (fraction.clamp(0.0, 1.0) * 10_000.0).round() / 100.0;
            if percent > told { percent } else { told + 0.01 }
        }
        None => (told + 1.0).max(0.0),
    }
}

fn progress(token: &Value, told: f64, in_percent: bool, message: &str) -> Vec<u8> {
    let mut params = json!({ "progressToken": token, "progress": told });
    if in_percent {
        params["total"] = json!(100);
    }
    if !message.is_empty() {
        params["message"] = json!(message);
    }
    rpc::notification("notifications/progress", &params)
}
