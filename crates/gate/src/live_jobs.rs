//! Jobs that are not over: who watches them, and how to stop them.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
};

use serde_json::{Map, Value, json};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::{InputRequests, JobId, JobState};

/// The most events of one job that are kept for late watchers.
const MAX_EVENTS: usize = 1_000;

/// Nothing is decided yet.
const OPEN: u8 = 0;
/// Somebody knows the job by its name.
const HANDED_OUT: u8 = 1;
/// It has ended before anybody did.
const ENDED: u8 = 2;

/// Something that happened to a job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobEvent {
    /// Counts from 1 within the job.
    pub number: u64,
    /// `state` or `progress`.
    pub kind: &'static str,
    pub data: Value,
}

/// A job that is not over.
#[derive(Debug)]
pub struct LiveJob {
    id: JobId,
    stop: CancellationToken,
    events: Mutex<EventLog>,
    newest: watch::Sender<u64>,
    input: Mutex<PendingInput>,
    answered: Notify,
    /// `HANDED_OUT` when somebody was given its id in place of its result, `ENDED` when it ended
    /// before.
    decision: AtomicU8,
    /// True if it counts among those that wait for a worker.
    queued: AtomicBool,
}

/// The input requests of a job that waits, and the replies so far.
#[derive(Debug, Default)]
struct PendingInput {
    open: InputRequests,
    replies: Map<String, Value>,
}

#[derive(Debug, Default)]
struct EventLog {
    kept: VecDeque<JobEvent>,
    last: u64,
    over: bool,
}

impl LiveJob {
    pub(crate) fn new(id: JobId, stop: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            id,
            stop,
            events: Mutex::default(),
            newest: watch::Sender::new(0),
            input: Mutex::default(),
            answered: Notify::new(),
            decision: AtomicU8::new(OPEN),
            queued: AtomicBool::new(false),
        })
    }

    /// Its name.
    pub fn id(&self) -> &JobId {
        &self.id
    }

    pub(crate) fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// It waits for a worker from now on, or no more; whether that is news.
    pub(crate) fn set_queued(&self, queued: bool) -> bool {
        self.queued.swap(queued, Ordering::SeqCst) != queued
    }

    pub(crate) fn is_queued(&self) -> bool {
        self.queued.load(Ordering::SeqCst)
    }

    /// True if it waits for a person's word: nothing else happens to it meanwhile.
    pub(crate) fn awaits_approval(&self) -> bool {
        let events = self.lock();
        let last = events.kept.back().filter(|event| event.kind == "state");
        last.is_some_and(|event| event.data["status"] == JobState::WaitingApproval.word())
    }

    pub(crate) fn progress(&self, fraction: Option<f64>, message: &str) {
        let mut data = json!({ "job_id": self.id.as_str(), "message": message });
        if let Some(fraction) = fraction {
            data["progress"] = json!(fraction.clamp(0.0, 1.0));
        }
        self.push("progress", data, false);
    }

    pub(crate) fn state(&self, state: JobState) {
        let data = json!({ "job_id": self.id.as_str(), "status": state.word() });
        self.push("state", data, state.is_final());
    }

    fn push(&self, kind: &'static str, data: Value, over: bool) {
        let mut events = self.lock();
        if events.over {
            return;
        }
        events.last += 1;
        events.over = over;
        let number = events.last;
        events.kept.push_back(JobEvent { number, kind, data });
        if events.kept.len() > MAX_EVENTS {
            events.kept.pop_front();
        }
        drop(events);
        self.newest.send_replace(number);
    }

    /// The events after the given number, and whether they are the last. Waits for
    /// one where there is none yet.
    pub async fn events_after(&self, number: u64) -> (Vec<JobEvent>, bool) {
        let mut newest = self.newest.subscribe();
        loop {
            {
                let events = self.lock();
                let fresh: Vec<_> =
                    events.kept.iter().filter(|event| event.number > number).cloned().collect();
                if !fresh.is_empty() || events.over {
                    return (fresh, events.over);
                }
            }
            if newest.changed().await.is_err() {
                return (Vec::new(), true);
            }
        }
    }

    /// The number of the newest event.
    pub fn newest(&self) -> u64 {
        self.lock().last
    }

    /// Waits until the job is over.
    pub async fn over(&self) {
        let mut number = 0;
        loop {
            let (events, over) = self.events_after(number).await;
            if over {
                return;
            }
            number = events.last().map_or(number, |event| event.number);
        }
    }

    /// The last progress message of the tool.
    pub fn last_message(&self) -> Option<String> {
        let events = self.lock();
        let progress = events.kept.iter().rev().find(|event| event.kind == "progress")?;
        Some(progress.data["message"].as_str()?.to_owned()).filter(|words| !words.is_empty())
    }

    /// From now on somebody knows the job by its name, and it can wait for answers; false if it
    /// has ended with its questions already.
    pub fn hand_out(&self) -> bool {
        self.settle(HANDED_OUT) == HANDED_OUT
    }

    /// True if somebody knows the job by its name in place of its result.
    pub fn is_handed_out(&self) -> bool {
        self.decision.load(Ordering::SeqCst) == HANDED_OUT
    }

    /// A call has ended with questions: whether it can wait for the answers. If not, it can
    /// never be handed out.
    pub(crate) fn can_wait(&self) -> bool {
        self.settle(ENDED) == HANDED_OUT
    }

    /// Decides once; what was decided.
    fn settle(&self, next: u8) -> u8 {
        let decided =
            self.decision.compare_exchange(OPEN, next, Ordering::SeqCst, Ordering::SeqCst);
        decided.map_or_else(|before| before, |_| next)
    }

    /// The input requests that the job waits for.
    pub fn questions(&self) -> InputRequests {
        self.lock_input().open.clone()
    }

    pub(crate) fn ask(&self, questions: InputRequests) {
        self.lock_input().open = questions;
    }

    /// Takes replies to questions that are open; others are nobody's business. The job goes on
    /// when none is left.
    pub(crate) fn answer(&self, replies: Map<String, Value>) {
        let mut input = self.lock_input();
        for (name, reply) in replies {
            if input.open.get(&name).is_some_and(|question| question.accepts(&reply)) {
                input.open.remove(&name);
                input.replies.insert(name, reply);
            }
        }
        if input.open.is_empty() {
            drop(input);
            self.answered.notify_one();
        }
    }

    /// Waits until every question has its reply; all that was ever replied.
    pub(crate) async fn replies(&self) -> Map<String, Value> {
        loop {
            {
                let input = self.lock_input();
                if input.open.is_empty() {
                    return input.replies.clone();
                }
            }
            self.answered.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, EventLog> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_input(&self) -> MutexGuard<'_, PendingInput> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handle by which others watch and stop a job. Its live part is made on first use: a call that
/// answers at once is over before.
#[derive(Debug)]
pub(crate) struct JobHandle {
    id: JobId,
    stop: CancellationToken,
    live: OnceLock<Arc<LiveJob>>,
}

impl JobHandle {
    pub(crate) fn new(id: JobId, stop: CancellationToken) -> Arc<Self> {
        Arc::new(Self { id, stop, live: OnceLock::new() })
    }

    /// One that is watched already.
    pub(crate) fn of(live: Arc<LiveJob>) -> Arc<Self> {
        let (id, stop) = (live.id.clone(), live.stop.clone());
        Arc::new(Self { id, stop, live: OnceLock::from(live) })
    }

    pub(crate) fn live(&self) -> &Arc<LiveJob> {
        self.live.get_or_init(|| LiveJob::new(self.id.clone(), self.stop.clone()))
    }
}

/// The jobs that are not over, by name. A call that answers at once never gets here.
#[derive(Debug, Default)]
pub(crate) struct LiveJobs(Mutex<HashMap<JobId, Arc<LiveJob>>>);

impl LiveJobs {
    pub(crate) fn insert(&self, job: Arc<LiveJob>) {
        self.lock().insert(job.id.clone(), job);
    }

    pub(crate) fn remove(&self, id: &JobId) -> Option<Arc<LiveJob>> {
        self.lock().remove(id)
    }

    pub(crate) fn ids(&self) -> Vec<JobId> {
        self.lock().keys().cloned().collect()
    }

    pub(crate) fn get(&self, id: &JobId) -> Option<Arc<LiveJob>> {
        self.lock().get(id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<JobId, Arc<LiveJob>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
