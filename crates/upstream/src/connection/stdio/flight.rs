//! A request on its way through the pipes of a child.

use std::{pin::Pin, sync::Arc, time::Duration};

use gate::BoxFuture;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::DropGuard;

use super::{Shared, running::Followed};
use crate::connection::{Flight, Happening, Prepared, RequestError, outgoing};

/// Requests that are answered or not, and never called back: the server does not know yet what that is.
const FIRST_WORDS: [&str; 2] = ["initialize", "server/discover"];

/// A request that was sent.
pub(super) struct Sent {
    shared: Arc<Shared>,
    /// The child runs as long as anybody waits for it.
    _alive: Arc<DropGuard>,
    id: u64,
    followed: Followed,
    timeout: Duration,
    deadline: Pin<Box<Sleep>>,
    /// Whether the server is told when nobody waits any more.
    cancellable: bool,
    over: bool,
}

impl Sent {
    pub(super) fn new(
        shared: Arc<Shared>,
        alive: Arc<DropGuard>,
        request: &Prepared,
        followed: Followed,
    ) -> Sent {
        Sent {
            shared,
            _alive: alive,
            id: request.id,
            followed,
            timeout: request.timeout,
            deadline: Box::pin(tokio::time::sleep(request.timeout)),
            cancellable: !FIRST_WORDS.contains(&request.method),
            over: false,
        }
    }

    async fn happening(&mut self) -> Happening {
        loop {
            tokio::select! {
                // What has come before the time ran out has come.
                biased;
                note = self.followed.notes.recv() => return match note {
                    Some(note) => note,
                    None => self.outcome().await,
                },
                () = &mut self.deadline => match self.extended() {
                    Some(later) => self.deadline.as_mut().reset(later),
                    None => {
                        self.cancel("it took too long");
                        self.over = true;
                        let waited = self.timeout.as_millis();
                        let waited = u64::try_from(waited).unwrap_or(u64::MAX);
                        return Happening::Done(Err(RequestError::Timeout(waited)));
                    }
                },
            }
        }
    }

    fn extended(&self) -> Option<Instant> {
        self.followed.patience.extended(Instant::now(), self.timeout)
    }

    async fn outcome(&mut self) -> Happening {
        self.over = true;
        let lost = || Err(RequestError::Lost("the connection is gone".to_owned()));
        Happening::Done((&mut self.followed.end).await.unwrap_or_else(|_| lost()))
    }

    /// Tells the server, unless it has answered already.
    fn cancel(&self, reason: &str) {
        if self.shared.running.forget(self.id) && self.cancellable {
            let _ = self.shared.outbox.push(outgoing::cancelled(self.id, reason));
        }
    }
}

impl Flight for Sent {
    fn next(&mut self) -> BoxFuture<'_, Happening> {
        Box::pin(self.happening())
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        if !self.over {
            self.cancel("nobody waits for it any more");
        }
    }
}

/// A request that could not be sent.
pub(super) struct Refused(pub(super) Option<RequestError>);

impl Flight for Refused {
    fn next(&mut self) -> BoxFuture<'_, Happening> {
        let why = self.0.take().unwrap_or_else(|| RequestError::NotSent("it is over".to_owned()));
        Box::pin(std::future::ready(Happening::Done(Err(why))))
    }
}
