//! Connections that wait for their next use.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::time::Instant;

use super::http1::Http1Connection;

/// The time that an unused connection is kept.
const KEPT_FOR: Duration = Duration::from_mins(1);
/// The pause between two looks for connections that were kept long enough, or that the other side has
/// closed.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// The unused connections of one service, the latest at the end.
pub(super) struct Pool {
    idle: Mutex<Idle>,
    max_idle: usize,
}

#[derive(Default)]
struct Idle {
    #[expect(clippy::vec_box, reason = "they are moved on every use, and are large")]
    lines: Vec<Box<Http1Connection>>,
    kept: bool,
}

impl Pool {
    pub(super) fn new(max_idle: usize) -> Arc<Self> {
        Arc::new(Self { idle: Mutex::default(), max_idle })
    }

    /// The one that was used last: the others have a chance to be needed no more.
    pub(super) fn take(&self) -> Option<Box<Http1Connection>> {
        self.lock().lines.pop()
    }

    /// Keeps a connection that can be used again.
    pub(super) fn put(self: &Arc<Self>, mut line: Box<Http1Connection>) {
        if !line.is_ready() {
            return;
        }
        line.idle_since = Instant::now();
        let mut idle = self.lock();
        if idle.lines.len() >= self.max_idle {
            drop(idle);
            return;
        }
        idle.lines.push(line);
        if !idle.kept
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            idle.kept = true;
            drop(idle);
            runtime.spawn(keep(Arc::downgrade(self)));
        }
    }

    pub(super) fn clear(&self) {
        let lines = std::mem::take(&mut self.lock().lines);
        drop(lines);
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks after the connections until there are none.
async fn keep(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(pool) = pool.upgrade() else { return };
        let now = Instant::now();
        let mut idle = pool.lock();
        let gone: Vec<_> = idle
            .lines
            .extract_if(.., |line| now - line.idle_since > KEPT_FOR || !line.is_ready())
            .collect();
        if idle.lines.is_empty() {
            idle.lines = Vec::new();
            idle.kept = false;
            return;
        }
        drop(idle);
        drop(gone);
    }
}
