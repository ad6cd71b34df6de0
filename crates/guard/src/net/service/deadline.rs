//! When an exchange has taken too long.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

use crate::net::{NetError, NetErrorReason};

/// Until when something has to be done, and how long that was when it began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    pub(super) at: Instant,
    pub(super) timeout: Duration,
}

impl Deadline {
    /// So long from now.
    pub(super) fn after(timeout: Duration) -> Self {
        // A time that no clock has is one that never comes.
        let far = Duration::from_hours(24 * 365);
        Self { at: Instant::now() + timeout.min(far), timeout }
    }

    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.at
    }

    pub(super) fn missed(&self) -> NetError {
        let message = format!("not done within {} s", self.timeout.as_secs_f64());
        NetError::new(NetErrorReason::Timeout, message)
    }
}

/// Wakes whoever waits for an exchange. It stays with its connection: one that rings too early,
/// because it was set for an exchange that is long over, is set anew only then. So an exchange
/// that takes no time costs no timer.
pub(super) struct DeadlineTimer(Option<Pin<Box<Sleep>>>);

impl DeadlineTimer {
    pub(super) fn new() -> Self {
        Self(None)
    }

    /// Ready when the time has come.
    pub(super) fn poll(&mut self, deadline: &Deadline, context: &mut Context<'_>) -> Poll<()> {
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(deadline.at)));
        if sleep.deadline() > deadline.at {
            sleep.as_mut().reset(deadline.at);
        }
        while sleep.as_mut().poll(context).is_ready() {
            if deadline.is_over() {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(deadline.at);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    async fn rings(alarm: &mut DeadlineTimer, milliseconds: u64) -> Duration {
        let begun = Instant::now();
        let deadline = Deadline::after(Duration::from_millis(milliseconds));
        poll_fn(|context| alarm.poll(&deadline, context)).await;
        begun.elapsed()
    }

    #[tokio::test]
    async fn an_alarm_of_an_earlier_exchange_does_not_end_a_later_one() {
        let mut alarm = DeadlineTimer::new();
        let given_up = tokio::time::timeout(Duration::from_millis(5), rings(&mut alarm, 20));
        assert!(given_up.await.is_err());
        assert!(rings(&mut alarm, 60).await >= Duration::from_millis(60));
        assert!(rings(&mut alarm, 10).await >= Duration::from_millis(10));
    }

    #[tokio::test]
    async fn an_alarm_that_is_set_for_later_is_brought_forward() {
        let mut alarm = DeadlineTimer::new();
        let given_up = tokio::time::timeout(Duration::from_millis(5), rings(&mut alarm, 600_000));
        assert!(given_up.await.is_err());
        assert!(rings(&mut alarm, 10).await < Duration::from_mins(5));
    }
}
