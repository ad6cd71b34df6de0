//! The circuit breaker of one upstream: after several failures in a row nothing is sent for a while (open), then
//! one call tries (half-open), and its success closes it.

use std::{
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    time::{Duration, Instant},
};

/// The latest failures of an upstream.
#[derive(Debug)]
pub struct CircuitBreaker {
    /// The number of failures in a row that opens it.
    max_failures: u32,
    open_for: Duration,
    created: Instant,
    failures: AtomicU32,
    /// Milliseconds after `created`; 0 while it is closed.
    open_until: AtomicU64,
    /// Set while a call tries whether the upstream is back.
    half_open: AtomicBool,
}

/// The right to make one call. Its holder reports how the call ended.
#[derive(Debug)]
#[must_use]
pub struct BreakerPermit<'a> {
    breaker: &'a CircuitBreaker,
    half_open: bool,
}

/// The circuit breaker is open: nothing is sent.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("circuit breaker is open ({failures} failures); next try in {} s", seconds(*.retry_after))]
pub struct BreakerOpen {
    /// Failures in a row.
    pub failures: u32,
    /// The time until the next try.
    pub retry_after: Duration,
}

/// Whole seconds, rounded up.
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

impl CircuitBreaker {
    /// A closed breaker.
    pub fn new(max_failures: u32, open_for: Duration) -> Self {
        Self {
            max_failures: max_failures.max(1),
            open_for,
            created: Instant::now(),
            failures: AtomicU32::new(0),
            open_until: AtomicU64::new(0),
            half_open: AtomicBool::new(false),
        }
    }

    /// True while nothing is sent, or only one call that tries.
    pub fn is_open(&self) -> bool {
        self.open_until.load(Ordering::Relaxed) > 0
    }

    /// Permission to make one call.
    pub fn acquire(&self) -> Result<BreakerPermit<'_>, BreakerOpen> {
        let open_until = self.open_until.load(Ordering::Acquire);
        if open_until == 0 {
            return Ok(BreakerPermit { breaker: self, half_open: false });
        }
        let open = |retry_after| BreakerOpen {
            failures: self.failures.load(Ordering::Relaxed),
            retry_after,
        };
        let now = self.now();
        if now < open_until {
            return Err(open(Duration::from_millis(open_until - now)));
        }
        if self.half_open.swap(true, Ordering::AcqRel) {
            return Err(open(Duration::from_secs(1).min(self.open_for)));
        }
        Ok(BreakerPermit { breaker: self, half_open: true })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.created.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl BreakerPermit<'_> {
    /// The upstream responded, with a result or an error of its own.
    pub fn succeeded(self) {
        // Most calls end here with nothing to change: no write, no other processor disturbed.
        if self.breaker.failures.load(Ordering::Relaxed) > 0 {
            self.breaker.failures.store(0, Ordering::Relaxed);
        }
        if self.half_open {
            self.breaker.open_until.store(0, Ordering::Release);
        }
    }

    /// The upstream did not respond, or broke the protocol.
    pub fn failed(self) {
        let failures = self.breaker.failures.fetch_add(1, Ordering::Relaxed) + 1;
        if failures >= self.breaker.max_failures || self.half_open {
            let open_for = u64::try_from(self.breaker.open_for.as_millis()).unwrap_or(u64::MAX);
            let until = self.breaker.now().saturating_add(open_for).max(1);
            self.breaker.open_until.store(until, Ordering::Release);
        }
    }
}

/// A call that was dropped says nothing about the upstream.
impl Drop for BreakerPermit<'_> {
    fn drop(&mut self) {
        if self.half_open {
            self.breaker.half_open.store(false, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries until the breaker lets a call through.
    fn wait(breaker: &CircuitBreaker) -> BreakerPermit<'_> {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            match breaker.acquire() {
                Ok(permit) => return permit,
                Err(open) => assert!(Instant::now() < deadline, "{open}"),
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn opens_after_failures_in_a_row_and_one_call_tries() {
        let breaker = CircuitBreaker::new(2, Duration::from_millis(20));
        breaker.acquire().unwrap().failed();
        breaker.acquire().unwrap().succeeded();
        breaker.acquire().unwrap().failed();
        assert!(!breaker.is_open());
        breaker.acquire().unwrap().failed();
        let open = breaker.acquire().unwrap_err();
        assert_eq!(open.to_string(), "circuit breaker is open (2 failures); next try in 1 s");
        let half_open = wait(&breaker);
        assert!(breaker.acquire().is_err(), "one call is enough");
        half_open.failed();
        assert!(breaker.acquire().is_err());
        // One that is dropped leaves the try to the next.
        drop(wait(&breaker));
        breaker.acquire().unwrap().succeeded();
        assert!(!breaker.is_open());
        breaker.acquire().unwrap().succeeded();
    }
}
