//! A run: the gates, in their order.

mod call;
mod plan;
mod summarize;

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use arc_swap::ArcSwapOption;
use gate::Gate;
use llm::Model;
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{
    Answer, Answered, Code, Request, Settings, Timing, Watch,
    asking::Way,
    candidates::Candidates,
    permit::Permit,
    policy::Policy,
    request::NoQuestion,
    trace::{Recorder, Secrets},
};

/// Answers questions.
pub struct Ask {
    gate: Arc<Gate>,
    model: Option<Model>,
    /// The name of the model, as the settings have it.
    model_name: Option<String>,
    /// Made when it is first wanted: its rules take a while to compile.
    policy: OnceLock<Policy>,
    settings: Settings,
    secrets: Secrets,
    runs: Semaphore,
    way: Way,
    candidates: ArcSwapOption<Candidates>,
}

/// Why a question was not even looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAsked {
    /// It is none.
    #[error(transparent)]
    NoQuestion(#[from] NoQuestion),
    /// There are enough of them.
    #[error("{limit} questions are being answered already (ask.max_runs); retry shortly")]
    Busy {
        /// How many there may be.
        limit: usize,
    },
}

/// What a run has with it on its way.
struct Run<'a> {
    request: Request,
    question: String,
    recorder: Recorder<'a>,
    timing: Timing,
    /// Fires when the run has to end.
    stop: CancellationToken,
    deadline: Instant,
    /// The model that answered.
    model: Option<String>,
}

/// A step goes on, or ends the run with an answer.
type Step<T> = Result<T, Box<Answer>>;

impl Ask {
    /// Answers by this gate and this model. The settings have no mistakes.
    pub fn new(
        gate: Arc<Gate>,
        model: Option<Model>,
        llm: &llm::Settings,
        settings: Settings,
    ) -> Self {
        let key = llm.api_key_env.as_ref().and_then(|name| std::env::var(name).ok());
        Self {
            gate,
            model,
            model_name: llm.model.clone(),
            policy: OnceLock::new(),
            secrets: Secrets::new(key),
            runs: Semaphore::new(settings.max_runs),
            way: Way::default(),
            candidates: ArcSwapOption::empty(),
            settings,
        }
    }

    fn policy(&self) -> &Policy {
        self.policy.get_or_init(|| {
            Policy::new(&self.settings.policy).expect("`Settings::mistakes` has found none")
        })
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether a question ends at the policy, or is none. For whoever would otherwise start something for it.
    pub fn refuses(&self, request: &Request) -> bool {
        let question = request.question(&self.settings);
        question.map_or(true, |question| self.policy().check(question).is_err())
    }

    /// Takes a question through all gates. Dropping the future ends the run and cancels the call.
    pub async fn run(&self, request: Request, watch: &dyn Watch) -> Result<Answered, NotAsked> {
        let begin = Instant::now();
        let question = request.question(&self.settings)?.to_owned();
        let busy = NotAsked::Busy { limit: self.settings.max_runs };
        let _place = self.runs.try_acquire().map_err(|_| busy)?;
        let max = self.settings.max_payload_characters;
        let stop = request.stop.child_token();
        let patience = Duration::from_millis(self.settings.timeout_ms);
        let _alarm = Alarm::set(patience, stop.clone());
        let mut run = Run {
            question,
            recorder: Recorder::new(watch, self.gate.clock(), &self.secrets, max),
            timing: Timing::default(),
            stop,
            deadline: begin + patience,
            model: None,
            request,
        };
        let answer = match self.gates(&mut run, Permit::of_a_run()).await {
            Ok(answer) => answer,
            Err(answer) => *answer,
        };
        run.timing.whole = begin.elapsed();
        Ok(self.end(run, answer))
    }

    /// The gates, in their order. The permit goes in once and comes out nowhere.
    async fn gates(&self, run: &mut Run<'_>, permit: Permit) -> Step<Answer> {
        run.begin();
        self.check_policy(run)?;
        let candidates = self.discover(run)?;
        let planned = self.plan(run, &candidates).await?;
        if run.request.plan_only {
            return Ok(Answer::Plan { plan: planned.plan });
        }
        let called = self.call(run, permit, planned).await?;
        Ok(self.summarize(run, called).await)
    }

    fn check_policy(&self, run: &mut Run<'_>) -> Step<()> {
        let Err(blocked) = self.policy().check(&run.question) else {
            run.recorder.event("policy_gate", json!({ "allowed": true }));
            return Ok(());
        };
        run.recorder.event("policy_gate", json!({ "allowed": false, "rule": blocked.rule }));
        let reason = format!("Blocked by policy (matched pattern: {})", blocked.rule);
        let mut answer = blocked_by(Code::Policy, reason);
        if let Answer::Blocked { message, .. } = &mut *answer {
            *message = blocked.message;
        }
        Err(answer)
    }

    fn discover(&self, run: &mut Run<'_>) -> Step<Arc<Candidates>> {
        let candidates = self.candidates();
        run.recorder.event("tools_discovered", candidates.discovered());
        run.recorder.event("allowlist", candidates.allowed());
        if candidates.visible().is_empty() {
            let reason = "there is no tool that may be used: none is served that has no effects";
            return Err(blocked_by(Code::NoTools, reason));
        }
        Ok(candidates)
    }

    /// What the catalogue of now means, made once for each.
    fn candidates(&self) -> Arc<Candidates> {
        let catalogue = self.gate.catalogue_owned();
        if let Some(known) = self.candidates.load_full()
            && known.is_of(&catalogue)
        {
            return known;
        }
        let fresh = Arc::new(Candidates::new(catalogue, &self.settings.allow));
        self.candidates.store(Some(fresh.clone()));
        fresh
    }

    /// Writes down what came of it.
    fn end(&self, run: Run<'_>, answer: Answer) -> Answered {
        let Run { request, recorder, timing, model, question, .. } = run;
        let milliseconds = |time: Duration| json!(time.as_micros() as f64 / 1_000.0);
        let mut meta = Map::new();
        meta.insert("component".into(), json!("toolgate.ask"));
        meta.insert("request_id".into(), json!(request.request_id));
        meta.insert("model".into(), json!(model.or_else(|| self.model_name.clone())));
        meta.insert("duration_ms".into(), milliseconds(timing.whole));
        meta.insert("model_ms".into(), milliseconds(timing.model));
        meta.insert("tool_ms".into(), milliseconds(timing.tool));
        meta.insert("gates_ms".into(), milliseconds(timing.gates()));
        let now = recorder.now();
        let output = serde_json::to_value(&answer).unwrap_or_default();
        let trace = recorder.into_trace(meta.clone(), output);
        let (server, tool) = match answer.plan() {
            Some(crate::Plan::CallTool { server, tool, .. }) => (Some(server), Some(tool)),
            _ => (None, None),
        };
        let code = match &answer {
            Answer::Blocked { code, .. } => Some(code),
            _ => None,
        };
        // What was asked is the person's own and stands in the trace alone, for whoever keeps one.
        let fields = json!({
            "caller": request.caller.name(),
            "request_id": request.request_id,
            "type": answer.kind(),
            "code": code,
            "server": server,
            "tool": tool,
            "question_bytes": question.len(),
            "duration_ms": meta["duration_ms"],
            "model_ms": meta["model_ms"],
            "trace_id": trace.trace_id,
        });
        self.gate.journal().event(now, "ask", fields);
        Answered { answer, trace, timing }
    }
}

impl Run<'_> {
    fn begin(&mut self) {
        let request = &self.request;
        let payload = json!({
            "question": self.question,
            "tool": request.tool,
            "args": if request.args.is_empty() { Value::Null } else { json!(request.args) },
            "summarize": request.summarize,
            "plan_only": request.plan_only,
            "caller": request.caller.name(),
        });
        self.recorder.event("request", payload);
    }

    /// Why the run was stopped.
    fn stopped(&self) -> Box<Answer> {
        if self.request.stop.is_cancelled() || Instant::now() < self.deadline {
            return blocked_by(Code::Cancelled, "the question was withdrawn");
        }
        blocked_by(Code::Timeout, "the run took longer than it may (ask.timeout_ms)")
    }
}

/// A refusal.
fn blocked_by(code: Code, reason: impl Into<String>) -> Box<Answer> {
    Box::new(Answer::Blocked {
        reason: reason.into(),
        code,
        message: None,
        plan: None,
        raw: None,
        retry_after: None,
    })
}

/// Ends a run when its time is up.
struct Alarm(tokio::task::JoinHandle<()>);

impl Alarm {
    fn set(patience: Duration, stop: CancellationToken) -> Self {
        Self(tokio::spawn(async move {
            tokio::time::sleep(patience).await;
            stop.cancel();
        }))
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.0.abort();
    }
}
