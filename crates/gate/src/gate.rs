//! The gate itself: what it needs, and the list of its steps.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
};

use arc_swap::{ArcSwap, Guard};
use contract::Limits;
use futures_util::FutureExt;
use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    Blobs, BoxFuture, Call, Catalogue, Clock, GateMetrics, JobId, Journal, LiveJob, Outcome, Store,
    approvals::ApprovalSettings,
    live_jobs::LiveJobs,
    quarantine::{QuarantineSettings, ReleaseIndex},
    retention::NewRecords,
    shares::Shares,
    steps::{CallRefusal, CallState, CheckedOutput, poll_once},
};

pub struct GateParts {
    /// The tools.
    pub catalogue: Catalogue,
    /// The store of jobs, keys, approvals and quarantine.
    pub store: Arc<dyn Store>,
    /// The store of artifacts.
    pub blobs: Arc<dyn Blobs>,
    pub journal: Journal,
    pub clock: Arc<dyn Clock>,
    /// The number of calls that run at once.
    pub max_concurrency: usize,
    pub settings: GateSettings,
}

/// The settings of a gate that a reload replaces.
#[derive(Debug, Clone)]
pub struct GateSettings {
    /// The callers that share the places of calls and jobs.
    pub callers: Vec<Arc<str>>,
    /// The most that a request may ask for.
    pub ceilings: Limits,
    pub approvals: ApprovalSettings,
    pub quarantine: QuarantineSettings,
}

impl Default for GateSettings {
    fn default() -> Self {
        Self {
            callers: Vec::new(),
            ceilings: Limits::default_ceilings(),
            approvals: ApprovalSettings::default(),
            quarantine: QuarantineSettings::default(),
        }
    }
}

/// The one path of a call.
pub struct Gate {
    catalogue: ArcSwap<Catalogue>,
    /// Counts how often the listing of the tools changed.
    changes: watch::Sender<u64>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) journal: Journal,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) slots: Arc<Semaphore>,
    pub(crate) shares: Arc<Shares>,
    settings: ArcSwap<GateSettings>,
    pub(crate) metrics: GateMetrics,
    pub(crate) live: LiveJobs,
    pub(crate) releases: ReleaseIndex,
    pub(crate) new_records: NewRecords,
    /// Tells that a person has decided something.
    pub(crate) decided: Notify,
    /// True while tools are missing because their upstreams are being started.
    starting: watch::Sender<bool>,
    stopping: AtomicBool,
    /// Fires when the server begins to stop.
    closing: CancellationToken,
    /// Fires when whatever still runs has to end.
    pub(crate) halt: CancellationToken,
}

impl Gate {
    /// A gate made of these parts.
    pub fn new(parts: GateParts) -> Self {
        Self {
            catalogue: ArcSwap::from_pointee(parts.catalogue),
            changes: watch::Sender::new(0),
            store: parts.store,
            blobs: parts.blobs,
            journal: parts.journal,
            clock: parts.clock,
            slots: Arc::new(Semaphore::new(parts.max_concurrency)),
            shares: Shares::new(parts.max_concurrency, &parts.settings.callers),
            settings: ArcSwap::from_pointee(parts.settings),
            metrics: GateMetrics::default(),
            live: LiveJobs::default(),
            releases: ReleaseIndex::new(),
            new_records: NewRecords::default(),
            decided: Notify::new(),
            starting: watch::Sender::new(false),
            stopping: AtomicBool::new(false),
            closing: CancellationToken::new(),
            halt: CancellationToken::new(),
        }
    }

    /// Takes a call through steps 1 to 8 (`Gate::cross`) and step 9, which records whatever
    /// came of them. Dropping the future cancels the call: it is stopped, and recorded as
    /// cancelled.
    pub fn call(self: &Arc<Self>, call: Call) -> BoxFuture<'static, Outcome> {
        // In one place from now on: it is large, and would be moved at every step.
        let mut state = Box::new(CallState::begin(self.clone(), call));
        // Boxed here, once: a door that holds the whole path inside its own future would
        // move kilobytes about at every turn.
        Box::pin(async move {
            let result = Self::cross(&mut state).await;
            let identity = state.identity();
            let deprecated = state.deprecated();
            let mut recording = Box::pin(AssertUnwindSafe(state.record(result)).catch_unwind());
            // What has happened has to be recorded as that, also if the caller goes away now.
            let recorded = match poll_once(recording.as_mut()).await {
                Poll::Ready(recorded) => recorded.ok(),
                Poll::Pending => tokio::spawn(recording).await.ok().and_then(Result::ok),
            };
            // Recording panicked, or the runtime is gone.
            let mut outcome = recorded.unwrap_or_else(|| identity.unrecorded());
            outcome.deprecated = deprecated;
            outcome
        })
    }

    /// The list of steps, each made of what the one before has yielded. `steps/` has a file for
    /// each, of the same name. Step 9, `record`, follows in [`Gate::call`], because it also
    /// records what a step refused.
    async fn cross(state: &mut CallState) -> Result<CheckedOutput, CallRefusal> {
        let found = state.find().await?;
        let admitted = state.admit(found).await?;
        let checked = state.check_input(admitted)?;
        let claimed = state.claim_key(checked).await?;
        let unreleased = state.take_release(claimed).await?;
        let approved = state.approve(unreleased).await?;
        let unchecked = state.run(approved).await?;
        state.check_output(unchecked).await
    }

    /// The tools that are served now.
    pub fn catalogue(&self) -> Guard<Arc<Catalogue>> {
        self.catalogue.load()
    }

    /// The tools that are served now, to be kept.
    pub fn catalogue_owned(&self) -> Arc<Catalogue> {
        self.catalogue.load_full()
    }

    /// From now on these tools are served. Calls that are on their way keep theirs.
    pub fn replace_catalogue(&self, catalogue: Catalogue) {
        let catalogue = Arc::new(catalogue);
        let before = self.catalogue.swap(catalogue.clone());
        if !catalogue.is_listed_as(&before) {
            self.listing_changed();
        }
    }

    /// Whoever lists the tools now gets another listing.
    pub fn listing_changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Tells when the listing of the tools changes.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The callers that share what there is.
    pub fn callers(&self) -> Vec<Arc<str>> {
        self.settings().callers.clone()
    }

    /// From now on these settings hold. [`crate::Jobs::share_among`] is for the queue.
    pub fn replace_settings(&self, settings: GateSettings) {
        self.shares.set_callers(&settings.callers);
        self.settings.store(Arc::new(settings));
    }

    pub(crate) fn settings(&self) -> Guard<Arc<GateSettings>> {
        self.settings.load()
    }

    /// The most that a request may ask for.
    pub fn ceilings(&self) -> Limits {
        self.settings().ceilings
    }

    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The store of artifacts.
    pub fn blobs(&self) -> &dyn Blobs {
        &*self.blobs
    }

    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// The numbers in the form that Prometheus reads.
    pub fn metrics(&self) -> String {
        self.metrics.render(&self.catalogue(), &self.journal)
    }

    /// A job that is not over.
    pub fn live(&self, id: &JobId) -> Option<Arc<LiveJob>> {
        self.live.get(id)
    }

    /// From now on tools may be missing because their upstreams are being started. Whoever asks for one of them, or for
    /// all, waits until [`Gate::end_starting`].
    pub fn begin_starting(&self) {
        self.starting.send_replace(true);
    }

    pub fn end_starting(&self) {
        self.starting.send_replace(false);
    }

    pub fn is_starting(&self) -> bool {
        *self.starting.borrow()
    }

    /// Waits until every upstream was tried, or the time for that is up.
    pub async fn started(&self) {
        // The sender is ours, so it is there.
        let _ = self.starting.subscribe().wait_for(|starting| !starting).await;
    }

    /// From now on nothing new begins; what still runs when its time is up is
    /// recorded as interrupted.
    pub fn begin_stopping(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.closing.cancel();
    }

    /// Waits until the server begins to stop: streams that have no end of their own end then.
    pub async fn closing(&self) {
        self.closing.cancelled().await;
    }

    /// True if the server is on its way down.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// True if any call is running.
    pub fn is_running(&self) -> bool {
        self.metrics.running.load(Ordering::SeqCst) > 0
    }

    /// True if any job is not over.
    pub fn has_live_jobs(&self) -> bool {
        !self.live.ids().is_empty()
    }

    /// Stops everything that is still running.
    pub fn stop_all(&self) {
        self.halt.cancel();
    }
}
