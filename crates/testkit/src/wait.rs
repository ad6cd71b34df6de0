//! Waiting for a condition, never for a time.

use std::time::{Duration, Instant};

/// Asks again until the answer is there; fails after a minute, which a busy
/// machine with a slow disk does not need either.
pub async fn eventually<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut ask: impl FnMut() -> F,
) -> T {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < end, "in a minute it did not happen that {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The same for tests that are not asynchronous.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "in a minute it did not happen that {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
