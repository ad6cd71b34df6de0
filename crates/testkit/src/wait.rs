//! Waiting for a condition, never for a time.

use std::time::{Duration, Instant};

/// Asks again until the answer is there; fails after ten seconds.
pub async fn eventually<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut ask: impl FnMut() -> F,
) -> T {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < end, "in ten seconds it did not happen that {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
