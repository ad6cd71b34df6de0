//! Responses that are ready, and that their clients have not read: bounded, over all connections.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

/// The interval at which a request that waits for room looks again.
const INTERVAL: Duration = Duration::from_millis(50);
/// The most times that it does. The connections that keep everything full are closed long before.
const MAX_LOOKS: u32 = 40;

/// The responses of all connections.
#[derive(Debug)]
pub(crate) struct UnreadResponses {
    bytes: AtomicU64,
    max_bytes: u64,
}

impl UnreadResponses {
    pub(crate) fn new(max_bytes: u64) -> Arc<Self> {
        Arc::new(Self { bytes: AtomicU64::new(0), max_bytes })
    }

    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    pub(crate) fn is_full(&self) -> bool {
        self.bytes.load(Relaxed) > self.max_bytes
    }

    /// Waits until there is room for a further response, and not for long.
    pub(crate) async fn wait_for_room(&self) {
        for _ in 0..MAX_LOOKS {
            if !self.is_full() {
                return;
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }
}

/// The part of one connection: a frame that was handed over to be sent, until the next one is asked for.
#[derive(Debug)]
pub(crate) struct UnreadFrame {
    bytes: AtomicU64,
    all: Arc<UnreadResponses>,
}

impl UnreadFrame {
    pub(crate) fn new(all: Arc<UnreadResponses>) -> Self {
        Self { bytes: AtomicU64::new(0), all }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    pub(crate) fn set(&self, bytes: u64) {
        let before = self.bytes.swap(bytes, Relaxed);
        self.all.bytes.fetch_add(bytes, Relaxed);
        self.all.bytes.fetch_sub(before, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_count_until_they_are_sent() {
        let all = UnreadResponses::new(10);
        let (one, two) = (UnreadFrame::new(all.clone()), UnreadFrame::new(all.clone()));
        one.set(6);
        two.set(4);
        assert!(!all.is_full());
        two.set(5);
        assert!(all.is_full());
        one.set(0);
        assert_eq!((all.is_full(), one.bytes(), two.bytes()), (false, 0, 5));
    }
}
