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

use arc_swap::ArcSwapOption;
use gate::{Gate, Tool};
use llm::Model;
use serde_json::json;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::{
    Answer, Answered, Code, Request, Settings, Timing, Watch,
    asking::Way,
    candidates::Candidates,
    metrics::Metrics,
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
    runs: Arc<Semaphore>,
    way: Way,
    candidates: ArcSwapOption<Candidates>,
    /// Held while candidates are made: they are made once, however many ask at the same time.
    making: Mutex<()>,
    metrics: Metrics,
}

/// A place among the runs that there may be at once.
pub struct Place {
    #[allow(dead_code, reason = "gives the place back when it is dropped")]
    held: OwnedSemaphorePermit,
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
    /// The tool that is meant, once somebody has named one.
    tool: Option<Arc<Tool>>,
}

/// A step goes on, or ends the run with an answer.
type Step<T> = Result<T, Box<Answer>>;

impl Ask {
    /// Answers by this gate and this model. The settings have no mistakes.
    pub fn new(gate: Arc<Gate>, model: Option<Model>, settings: Settings) -> Self {
        Self {
            gate,
            model,
            model_name: None,
            policy: OnceLock::new(),
            secrets: Secrets::default(),
            runs: Arc::new(Semaphore::new(settings.max_runs)),
            way: Way::default(),
            candidates: ArcSwapOption::empty(),
            making: Mutex::new(()),
            metrics: Metrics::default(),
            settings,
        }
    }

    /// The same, where the model has this name.
    #[must_use]
    pub fn with_model_name(self, model_name: Option<String>) -> Self {
        Self { model_name, ..self }
    }

    /// The same, where these are never written down.
    #[must_use]
    pub fn with_secrets(self, known: impl IntoIterator<Item = String>) -> Self {
        Self { secrets: Secrets::new(known), ..self }
    }

    fn policy(&self) -> &Policy {
        self.policy.get_or_init(|| {
            Policy::new(&self.settings.policy).expect("`Settings::mistakes` has found none")
        })
    }

    /// Whether there is a model to ask.
    pub fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// Whether a question ends at the policy, or is none. For whoever would otherwise start something for it.
    pub fn refuses(&self, request: &Request) -> bool {
        let question = request.question(&self.settings);
        question.map_or(true, |question| self.policy().check(question).is_err())
    }

    /// What came of the questions so far, in the text form that Prometheus reads.
    pub fn metrics(&self) -> String {
        let running = self.settings.max_runs.saturating_sub(self.runs.available_permits());
        self.metrics.render(running)
    }

    /// A place for a run of this request, if it has a question and there is one.
    pub fn admit(&self, request: &Request) -> Result<Place, NotAsked> {
        request.question(&self.settings)?;
        let busy = NotAsked::Busy { limit: self.settings.max_runs };
        let held = self.runs.clone().try_acquire_owned().map_err(|_| busy)?;
        Ok(Place { held })
    }

    /// Takes a question through all gates, at once.
    pub async fn run(&self, request: Request, watch: &dyn Watch) -> Result<Answered, NotAsked> {
        let place = self.admit(&request)?;
        Ok(self.run_at(place, request, watch).await)
    }

    /// The same in a place that it has. Dropping the future ends the run and cancels the call.
    pub async fn run_at(&self, _place: Place, request: Request, watch: &dyn Watch) -> Answered {
        let begin = Instant::now();
        let max = self.settings.max_payload_characters;
        let stop = request.stop.child_token();
        let patience = Duration::from_millis(self.settings.timeout_ms);
        let _alarm = Alarm::set(patience, self.gate.clone(), stop.clone());
        let mut run = Run {
            question: request.question.trim().to_owned(),
            recorder: Recorder::new(watch, self.gate.clock(), &self.secrets, max),
            timing: Timing::default(),
            stop,
            deadline: begin + patience,
            model: None,
            tool: None,
            request,
        };
        let answer = match self.gates(&mut run, Permit::of_a_run()).await {
            Ok(answer) => answer,
            Err(answer) => *answer,
        };
        run.timing.whole = begin.elapsed();
        self.end(run, answer)
    }

    /// The gates, in their order. The permit goes in once and comes out nowhere.
    async fn gates(&self, run: &mut Run<'_>, permit: Permit) -> Step<Answer> {
        run.begin();
        self.check_policy(run)?;
        let candidates = self.discover(run).await?;
        let planned = self.plan(run, &candidates).await?;
        if run.request.plan_only {
            return Ok(Answer::Plan { plan: planned.plan() });
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

    async fn discover(&self, run: &mut Run<'_>) -> Step<Arc<Candidates>> {
        let candidates = self.candidates().await;
        run.recorder.event("tools_discovered", candidates.discovered());
        run.recorder.event("allowlist", candidates.allowed());
        if candidates.visible().is_empty() {
            let reason = "there is no tool that may be used: none is served that has no effects";
            return Err(blocked_by(Code::NoTools, reason));
        }
        Ok(candidates)
    }

    /// What the catalogue of now means, made once for each, and not on a thread that others wait for.
    async fn candidates(&self) -> Arc<Candidates> {
        if let Some(known) = self.known() {
            return known;
        }
        let _making = self.making.lock().await;
        if let Some(known) = self.known() {
            return known;
        }
        let (catalogue, allow) = (self.gate.catalogue_owned(), self.settings.allow.clone());
        let make = {
            let catalogue = catalogue.clone();
            move || Candidates::new(catalogue, &allow)
        };
        let finished = tokio::task::spawn_blocking(make).await;
        let fresh =
            Arc::new(finished.unwrap_or_else(|_| Candidates::new(catalogue, &self.settings.allow)));
        self.candidates.store(Some(fresh.clone()));
        fresh
    }

    fn known(&self) -> Option<Arc<Candidates>> {
        let known = self.candidates.load_full()?;
        known.is_of(&self.gate.catalogue_owned()).then_some(known)
    }
}

impl Run<'_> {
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

    /// Why the run was stopped.
    fn stopped(&self) -> Box<Answer> {
        if self.request.stop.is_cancelled() || Instant::now() < self.deadline {
            return blocked_by(Code::Cancelled, "the run was stopped before its end");
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
        approval_id: None,
        retry_after: None,
    })
}

/// Ends a run when its time is up, or the server stops: a model may take minutes.
struct Alarm(tokio::task::JoinHandle<()>);

impl Alarm {
    fn set(patience: Duration, gate: Arc<Gate>, stop: CancellationToken) -> Self {
        Self(tokio::spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(patience) => {}
                () = gate.closing() => {}
            }
            stop.cancel();
        }))
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.0.abort();
    }
}
