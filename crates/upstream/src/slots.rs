//! The places of the calls that run at once on an upstream. Callers that wait for one take turns, so that many calls of one
//! do not keep another waiting until its time is up.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// The places of one upstream.
#[derive(Debug)]
pub(crate) struct UpstreamSlots {
    free: Arc<Semaphore>,
    count: usize,
    /// The number of calls that wait.
    waiting: AtomicUsize,
    /// The caller whose turn it is comes first.
    turns: Mutex<VecDeque<WaitingCaller>>,
}

/// The calls of one caller that wait, oldest first.
#[derive(Debug)]
struct WaitingCaller {
    name: String,
    calls: VecDeque<oneshot::Sender<UpstreamSlot>>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct UpstreamSlot {
    permit: Option<OwnedSemaphorePermit>,
    slots: Arc<UpstreamSlots>,
}

impl UpstreamSlots {
    pub(crate) fn new(count: usize) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(count));
        Arc::new(Self { free, count, waiting: AtomicUsize::new(0), turns: Mutex::default() })
    }

    /// True if any place is taken.
    pub(crate) fn is_busy(&self) -> bool {
        self.free.available_permits() < self.count
    }

    /// Waits for a place.
    pub(crate) async fn acquire(self: &Arc<Self>, caller: &str) -> UpstreamSlot {
        loop {
            if self.waiting.load(Ordering::SeqCst) == 0
                && let Some(slot) = self.try_acquire()
            {
                return slot;
            }
            let turn = self.wait(caller);
            // A place may have become free before this call was among those that wait.
            self.hand_out();
            if let Ok(slot) = turn.await {
                return slot;
            }
        }
    }

    fn try_acquire(self: &Arc<Self>) -> Option<UpstreamSlot> {
        let permit = self.free.clone().try_acquire_owned().ok()?;
        Some(UpstreamSlot { permit: Some(permit), slots: self.clone() })
    }

    fn wait(&self, caller: &str) -> oneshot::Receiver<UpstreamSlot> {
        let (sender, receiver) = oneshot::channel();
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        match turns.iter_mut().find(|turn| turn.name == caller) {
            Some(turn) => turn.calls.push_back(sender),
            None => {
                let calls = VecDeque::from([sender]);
                turns.push_back(WaitingCaller { name: caller.to_owned(), calls });
            }
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
        receiver
    }

    /// Gives free places to those who wait.
    fn hand_out(self: &Arc<Self>) {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        while !turns.is_empty()
            && let Some(slot) = self.try_acquire()
        {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            if let Some(Err(mut unused)) = next(&mut turns).map(|call| call.send(slot)) {
                // That call was given up. Its place is not handed out by being dropped: that happens here.
                unused.permit.take();
            }
        }
    }
}

/// The call whose turn it is. The next one is another caller's, where there is one.
fn next(turns: &mut VecDeque<WaitingCaller>) -> Option<oneshot::Sender<UpstreamSlot>> {
    let mut turn = turns.pop_front()?;
    let call = turn.calls.pop_front();
    if !turn.calls.is_empty() {
        turns.push_back(turn);
    }
    call
}

impl Drop for UpstreamSlot {
    fn drop(&mut self) {
        if self.permit.take().is_some() && self.slots.waiting.load(Ordering::SeqCst) > 0 {
            self.slots.hand_out();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn callers_that_wait_take_turns() {
        let slots = UpstreamSlots::new(1);
        let first = slots.acquire("a").await;
        let mut waiting: Vec<_> = ["a", "a", "a", "b", "c", "b"]
            .into_iter()
            .map(|caller| (caller, Box::pin(slots.acquire(caller))))
            .collect();
        for (_, call) in &mut waiting {
            assert!(call.as_mut().now_or_never().is_none());
        }
        let mut held = Some(first);
        let mut order = Vec::new();
        while !waiting.is_empty() {
            drop(held.take());
            let found = waiting.iter_mut().enumerate().find_map(|(at, (caller, call))| {
                Some((at, *caller, call.as_mut().now_or_never()?))
            });
            let (at, caller, slot) = found.expect("somebody has the place");
            order.push(caller);
            held = Some(slot);
            drop(waiting.remove(at));
        }
        assert_eq!(order, ["a", "b", "c", "a", "b", "a"]);
        drop(held);
        assert!(!slots.is_busy());
    }

    #[tokio::test]
    async fn a_call_that_was_given_up_keeps_no_place() {
        let slots = UpstreamSlots::new(1);
        let held = slots.acquire("a").await;
        let mut left = Box::pin(slots.acquire("b"));
        let mut next = Box::pin(slots.acquire("c"));
        assert!(left.as_mut().now_or_never().is_none() && next.as_mut().now_or_never().is_none());
        drop(left);
        drop(held);
        let slot = next.now_or_never().expect("the place is free");
        // One that had the place and never looked.
        let mut unread = Box::pin(slots.acquire("b"));
        assert!(unread.as_mut().now_or_never().is_none());
        drop(slot);
        drop(unread);
        assert!(!slots.is_busy());
        assert_eq!(slots.waiting.load(Ordering::SeqCst), 0);
        assert!(slots.acquire("a").now_or_never().is_some());
    }
}
