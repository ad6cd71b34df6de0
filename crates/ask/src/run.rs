//! A run: the gates, in their order.

mod call;
mod model;
mod plan;
mod record;
mod summarize;

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use gate::{
    Gate, Tool,
    shares::{Share, Shares},
};
use llm::Model;
use model::FormatFallback;
use serde_json::json;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::{
    AskOutcome, AskRequest, AskResponse, AskSettings, AskTiming, BlockedCode, BlockedResponse,
    Plan, TraceWatcher, candidates::Candidates, metrics::AskMetrics, permit::CallPermit,
    policy::Policy, request::InvalidQuestion, trace::TraceRecorder,
};

/// Answers questions with at most one call each.
pub struct Ask {
    gate: Arc<Gate>,
    model: Option<Model>,
    /// Made when it is first wanted: its rules take a while to compile.
    policy: OnceLock<Policy>,
    settings: AskSettings,
    runs: Arc<Shares>,
    format: FormatFallback,
    /// Those of the last catalogue. Locked while they are made: once, however many ask at the same time.
    candidates: Mutex<Option<Arc<Candidates>>>,
    metrics: Arc<AskMetrics>,
}

/// A slot among the runs that there may be at once.
pub struct AskSlot(#[allow(dead_code, reason = "gives the slot back when it is dropped")] Share);

/// The reason for which a question was not even looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskRejection {
    /// It is not a question.
    #[error(transparent)]
    InvalidQuestion(#[from] InvalidQuestion),
    /// As many runs as there may be at once, or as one caller may have of them.
    #[error(
        "all places for questions are taken, or this caller has its share of the {limit} (ask.max_runs); retry shortly"
    )]
    Busy {
        /// The most that there may be.
        limit: usize,
    },
}

/// The state of one run.
struct AskRun<'a> {
    request: AskRequest,
    question: String,
    recorder: TraceRecorder<'a>,
    timing: AskTiming,
    /// Fires when the run has to end.
    stop: CancellationToken,
    deadline: Instant,
    /// The model that replied.
    model: Option<String>,
    /// The tool of the plan, once there is one.
    tool: Option<Arc<Tool>>,
}

/// A step goes on, or ends the run with a response.
type StepResult<T> = Result<T, Box<AskResponse>>;

impl Ask {
    /// Answers by this gate and this model. The settings have no mistakes.
    pub fn new(gate: Arc<Gate>, model: Option<Model>, settings: AskSettings) -> Self {
        Self {
            runs: Shares::new(settings.max_runs, &gate.callers()),
            gate,
            model,
            policy: OnceLock::new(),
            format: FormatFallback::default(),
            candidates: Mutex::new(None),
            metrics: Arc::default(),
            settings,
        }
    }

    /// The same, counting on where another has come to.
    #[must_use]
    pub fn continuing(self, before: &Self) -> Self {
        Self { metrics: before.metrics.clone(), ..self }
    }

    fn policy(&self) -> &Policy {
        self.policy.get_or_init(|| {
            Policy::new(&self.settings.policy).expect("`AskSettings::mistakes` has found none")
        })
    }

    /// True if there is a model to ask.
    pub fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// True if a question ends at the policy, or is none: then nothing need be started for it.
    pub fn refuses(&self, request: &AskRequest) -> bool {
        let question = request.question(&self.settings);
        question.map_or(true, |question| self.policy().stops(question).is_some())
    }

    /// The metrics of all runs so far, in the text form that Prometheus reads.
    pub fn metrics(&self) -> String {
        self.metrics.render(self.runs.taken())
    }

    /// Takes a slot for a run of this request, if it has a question and one is free.
    pub fn admit(&self, request: &AskRequest) -> Result<AskSlot, AskRejection> {
        request.question(&self.settings)?;
        let busy = AskRejection::Busy { limit: self.settings.max_runs };
        self.runs.try_take(request.caller.name()).map(AskSlot).ok_or(busy)
    }

    /// Takes a question through all gates, at once.
    pub async fn run(
        &self,
        request: AskRequest,
        watch: &dyn TraceWatcher,
    ) -> Result<AskOutcome, AskRejection> {
        let slot = self.admit(&request)?;
        Ok(self.run_in(slot, request, watch).await)
    }

    /// The same in a slot that was taken before. Dropping the future ends the run and cancels the call.
    pub async fn run_in(
        &self,
        _slot: AskSlot,
        request: AskRequest,
        watch: &dyn TraceWatcher,
    ) -> AskOutcome {
        let begin = Instant::now();
        let max = self.settings.max_payload_characters;
        let stop = request.stop.child_token();
        let timeout = Duration::from_millis(self.settings.timeout_ms);
        let mut run = AskRun {
            question: request.question.trim().to_owned(),
            recorder: TraceRecorder::new(watch, self.gate.clock(), max),
            timing: AskTiming::default(),
            stop: stop.clone(),
            deadline: begin + timeout,
            model: None,
            tool: None,
            request,
        };
        let response = {
            let gates = self.gates(&mut run, CallPermit::of_a_run());
            tokio::pin!(gates);
            tokio::select! {
                response = &mut gates => response,
                // A model may take minutes: the run ends when its time is up, or the server stops.
                () = self.time_is_up(timeout) => {
                    stop.cancel();
                    gates.await
                }
            }
        };
        run.timing.whole = begin.elapsed();
        self.end(run, response.unwrap_or_else(|response| *response))
    }

    async fn time_is_up(&self, timeout: Duration) {
        tokio::select! {
            () = tokio::time::sleep(timeout) => {}
            () = self.gate.closing() => {}
        }
    }

    /// The gates, in their order. The permit goes in once and comes out nowhere.
    async fn gates(&self, run: &mut AskRun<'_>, permit: CallPermit) -> StepResult<AskResponse> {
        run.begin();
        self.check_policy(run)?;
        let candidates = self.discover(run).await?;
        let (planned, tool) = self.plan(run, &candidates).await?;
        if run.request.plan_only {
            return Ok(AskResponse::Plan { plan: Plan::CallTool(planned) });
        }
        let outcome = self.call(run, permit, planned, tool).await?;
        Ok(self.summarize(run, outcome).await)
    }

    fn check_policy(&self, run: &mut AskRun<'_>) -> StepResult<()> {
        let Some(rule) = self.policy().stops(&run.question) else {
            run.recorder.event("policy_gate", json!({ "allowed": true }));
            return Ok(());
        };
        run.recorder.event("policy_gate", json!({ "allowed": false, "rule": rule.name }));
        let reason = format!("Blocked by policy (matched pattern: {})", rule.name);
        let message = rule.message.clone();
        Err(BlockedResponse { message, ..BlockedResponse::new(BlockedCode::Policy, reason) }.into())
    }

    async fn discover(&self, run: &mut AskRun<'_>) -> StepResult<Arc<Candidates>> {
        let candidates = self.candidates().await;
        run.recorder.event("tools_discovered", candidates.discovered());
        run.recorder.event("allowlist", candidates.allowed());
        if candidates.visible.is_empty() {
            let reason = "there is no tool that may be used: none is served that has no effects";
            return Err(BlockedResponse::new(BlockedCode::NoTools, reason).into());
        }
        Ok(candidates)
    }

    /// The candidates of the catalogue of now, made once for each, and not on a thread that others wait for.
    async fn candidates(&self) -> Arc<Candidates> {
        let mut last = self.candidates.lock().await;
        let catalogue = self.gate.catalogue_owned();
        if let Some(known) = last.as_ref().filter(|known| Arc::ptr_eq(&known.catalogue, &catalogue))
        {
            return known.clone();
        }
        let (other, allow) = (catalogue.clone(), self.settings.allow.clone());
        let made = tokio::task::spawn_blocking(move || Candidates::new(other, &allow)).await;
        let made = made.unwrap_or_else(|_| Candidates::new(catalogue, &self.settings.allow));
        last.insert(Arc::new(made)).clone()
    }
}

impl AskRun<'_> {
    fn begin(&mut self) {
        let request = &self.request;
        let payload = json!({
            "question": self.question,
            "tool": request.tool,
            "summarize": request.summarize,
            "plan_only": request.plan_only,
            "caller": request.caller.name(),
        });
        self.recorder.event("request", payload);
    }

    fn stopped(&self) -> BlockedResponse {
        if self.request.stop.is_cancelled() || Instant::now() < self.deadline {
            let reason = "the run was stopped before its end";
            return BlockedResponse::new(BlockedCode::Cancelled, reason);
        }
        let reason = "the run took longer than it may (ask.timeout_ms)";
        BlockedResponse::new(BlockedCode::Timeout, reason)
    }
}
