//! Waiting for a condition, never for a time.

use std::time::{Duration, Instant};

/// A condition that a test waits for: a value that comes, or something that becomes true.
pub trait Condition {
    /// The value, once it is there.
    type Value;

    /// The value where the condition holds.
    fn met(self) -> Option<Self::Value>;
}

impl<T> Condition for Option<T> {
    type Value = T;

    fn met(self) -> Self {
        self
    }
}

impl Condition for bool {
    type Value = ();

    fn met(self) -> Option<()> {
        self.then_some(())
    }
}

/// A minute, which a busy machine with a slow disk does not need either.
const TIMEOUT: Duration = Duration::from_mins(1);
/// The pause before the next look.
const INTERVAL: Duration = Duration::from_millis(5);

/// Asks again until the condition holds; fails after a minute.
pub async fn eventually<C: Condition, F: Future<Output = C>>(
    what: &str,
    mut ask: impl FnMut() -> F,
) -> C::Value {
    let end = Instant::now() + TIMEOUT;
    loop {
        if let Some(value) = ask().await.met() {
            return value;
        }
        assert!(Instant::now() < end, "in a minute it did not happen that {what}");
        tokio::time::sleep(INTERVAL).await;
    }
}

/// The same for tests that are not asynchronous.
pub fn until<C: Condition>(what: &str, mut ask: impl FnMut() -> C) -> C::Value {
    let end = Instant::now() + TIMEOUT;
    loop {
        if let Some(value) = ask().met() {
            return value;
        }
        assert!(Instant::now() < end, "in a minute it did not happen that {what}");
        std::thread::sleep(INTERVAL);
    }
}

/// Waits for the next millisecond: names that are made then sort behind those that were made before.
pub fn next_millisecond() {
    let now = std::time::SystemTime::now();
    let passed = || now.elapsed().is_ok_and(|time| time >= Duration::from_millis(1));
    until("a millisecond passes", passed);
}
