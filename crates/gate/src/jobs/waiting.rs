//! The jobs that wait for a worker, caller by caller in turns.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::{
    JobId,
    shares::{Share, Shares},
};

/// The queue.
pub(super) struct WaitingJobs {
    /// The places in the queue.
    pub(super) places: Arc<Shares>,
    /// The caller whose turn it is comes first.
    turns: Mutex<VecDeque<CallerJobs>>,
    /// Tells that a job was added or a worker has become free.
    changed: Notify,
}

/// The jobs of one caller, oldest first.
struct CallerJobs {
    caller: String,
    jobs: VecDeque<(JobId, Share)>,
}

impl WaitingJobs {
    pub(super) fn new(places: usize, callers: &[Arc<str>]) -> Arc<Self> {
        let places = Shares::new(places, callers);
        Arc::new(Self { places, turns: Mutex::default(), changed: Notify::new() })
    }

    /// Adds a job, which has its place.
    pub(super) fn push(&self, caller: &str, id: JobId, place: Share) {
        let mut turns = self.lock();
        match turns.iter_mut().find(|turn| turn.caller == caller) {
            Some(turn) => turn.jobs.push_back((id, place)),
            None => {
                let jobs = VecDeque::from([(id, place)]);
                turns.push_back(CallerJobs { caller: caller.to_owned(), jobs });
            }
        }
        drop(turns);
        self.changed.notify_one();
    }

    /// Waits for a job that may have a worker now. Only one may wait.
    async fn next(&self, workers: &Arc<Shares>) -> (JobId, Share) {
        loop {
            if let Some(next) = self.try_next(workers) {
                return next;
            }
            self.changed.notified().await;
        }
    }

    fn try_next(&self, workers: &Arc<Shares>) -> Option<(JobId, Share)> {
        let mut turns = self.lock();
        let (at, worker) = turns
            .iter()
            .enumerate()
            .find_map(|(at, turn)| Some((at, workers.try_take(&turn.caller)?)))?;
        let mut turn = turns.remove(at)?;
        let (id, _place) = turn.jobs.pop_front()?;
        if !turn.jobs.is_empty() {
            turns.push_back(turn);
        }
        Some((id, worker))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<CallerJobs>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The workers that jobs run on.
pub(super) struct Workers {
    all: Arc<Semaphore>,
    shares: Arc<Shares>,
    waiting: Arc<WaitingJobs>,
}

/// A worker, until it is dropped.
pub(super) struct Worker {
    share: Option<Share>,
    permit: Option<OwnedSemaphorePermit>,
    waiting: Arc<WaitingJobs>,
}

impl Workers {
    pub(super) fn new(count: usize, callers: &[Arc<str>], waiting: Arc<WaitingJobs>) -> Self {
        let shares = Shares::new(count, callers);
        Self { all: Arc::new(Semaphore::new(count)), shares, waiting }
    }

    pub(super) fn share_among(&self, callers: &[Arc<str>]) {
        self.shares.set_callers(callers);
        // Somebody who waits may have a larger share now.
        self.waiting.changed.notify_one();
    }

    /// Waits for a worker and a job for it.
    pub(super) async fn next(&self) -> Option<(JobId, Worker)> {
        let permit = self.all.clone().acquire_owned().await.ok()?;
        let (id, share) = self.waiting.next(&self.shares).await;
        Some((id, self.worker(permit, share)))
    }

    /// Waits for a worker for a job that goes on.
    pub(super) async fn again(&self, caller: &str) -> Option<Worker> {
        let permit = self.all.clone().acquire_owned().await.ok()?;
        Some(self.worker(permit, self.shares.take(caller)))
    }

    fn worker(&self, permit: OwnedSemaphorePermit, share: Share) -> Worker {
        let waiting = self.waiting.clone();
        Worker { share: Some(share), permit: Some(permit), waiting }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // First given back, then told.
        self.share.take();
        self.permit.take();
        self.waiting.changed.notify_one();
    }
}
