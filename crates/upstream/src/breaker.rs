//! A breaker: a server that fails again and again is left alone for a while, and then tried by one call.

use std::{
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    time::{Duration, Instant},
};

/// What is known of a server's latest failures.
#[derive(Debug)]
pub struct Breaker {
    /// After how many failures in a row it opens.
    most: u32,
    /// For how long.
    open_for: Duration,
    born: Instant,
    failures: AtomicU32,
    /// Milliseconds after `born`; 0 while it is closed.
    open_until: AtomicU64,
    /// Whether a call is trying right now whether the server is back.
    trying: AtomicBool,
}

/// Leave to call. What comes of the call has to be told.
#[derive(Debug)]
#[must_use]
pub struct Leave<'a> {
    breaker: &'a Breaker,
    trying: bool,
}

impl Breaker {
    /// Opens after so many failures in a row, for so long.
    pub fn new(most: u32, open_for: Duration) -> Self {
        Self {
            most: most.max(1),
            open_for,
            born: Instant::now(),
            failures: AtomicU32::new(0),
            open_until: AtomicU64::new(0),
            trying: AtomicBool::new(false),
        }
    }

    /// Whether nothing is sent now.
    pub fn is_open(&self) -> bool {
        self.open_until.load(Ordering::Relaxed) > 0
    }

    /// Leave to call, or for how long there is none.
    pub fn enter(&self) -> Result<Leave<'_>, Duration> {
        let open_until = self.open_until.load(Ordering::Acquire);
        if open_until == 0 {
            return Ok(Leave { breaker: self, trying: false });
        }
        let now = self.now();
        if now < open_until {
            return Err(Duration::from_millis(open_until - now));
        }
        if self.trying.swap(true, Ordering::AcqRel) {
            return Err(Duration::from_secs(1).min(self.open_for));
        }
        Ok(Leave { breaker: self, trying: true })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Leave<'_> {
    /// The server answered, whatever it said.
    pub fn answered(self) {
        // Most calls end here with nothing to change: no write, no other processor disturbed.
        if self.breaker.failures.load(Ordering::Relaxed) > 0 {
            self.breaker.failures.store(0, Ordering::Relaxed);
        }
        if self.trying {
            self.breaker.open_until.store(0, Ordering::Release);
        }
    }

    /// The server did not answer, or not in the protocol.
    pub fn failed(self) {
        let failures = self.breaker.failures.fetch_add(1, Ordering::Relaxed) + 1;
        if failures >= self.breaker.most || self.trying {
            let open_for = u64::try_from(self.breaker.open_for.as_millis()).unwrap_or(u64::MAX);
            let until = self.breaker.now().saturating_add(open_for).max(1);
            self.breaker.open_until.store(until, Ordering::Release);
        }
    }
}

/// A call that was dropped has shown nothing.
impl Drop for Leave<'_> {
    fn drop(&mut self) {
        if self.trying {
            self.breaker.trying.store(false, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_failures_in_a_row_and_one_call_tries() {
        let breaker = Breaker::new(2, Duration::from_millis(20));
        breaker.enter().unwrap().failed();
        breaker.enter().unwrap().answered();
        breaker.enter().unwrap().failed();
        assert!(!breaker.is_open());
        breaker.enter().unwrap().failed();
        assert!(breaker.enter().is_err());
        std::thread::sleep(Duration::from_millis(30));
        let trying = breaker.enter().unwrap();
        assert!(breaker.enter().is_err(), "one is enough");
        trying.failed();
        assert!(breaker.enter().is_err());
        std::thread::sleep(Duration::from_millis(30));
        // One that is dropped leaves it to the next.
        drop(breaker.enter().unwrap());
        breaker.enter().unwrap().answered();
        assert!(!breaker.is_open());
        breaker.enter().unwrap().answered();
    }
}
