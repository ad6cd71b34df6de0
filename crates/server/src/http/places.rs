//! The places of connections that make requests: each caller has its share of them.

use std::sync::Arc;

use contract::codes;
use gate::{
    Failure,
    shares::{Share, Shares},
};
use tokio::sync::Notify;

use crate::{ServerSettings, ServerToken};

/// The places of all connections. Health checks, and requests whose sender is refused, need none.
#[derive(Debug)]
pub(crate) struct ConnectionPlaces {
    pub shares: Arc<Shares>,
    max_connections: usize,
    freed: Arc<Notify>,
    /// Tells those that wait for a place that others cannot even connect.
    pub crowded: Notify,
}

/// The place of one connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPlace {
    pub caller: Box<str>,
    share: Option<Share>,
    freed: Arc<Notify>,
}

impl ConnectionPlaces {
    pub(crate) fn new(settings: &ServerSettings) -> Self {
        Self {
            shares: Shares::new(settings.max_connections, &callers(&settings.tokens)),
            max_connections: settings.max_connections,
            freed: Arc::default(),
            crowded: Notify::new(),
        }
    }

    /// From now on the callers with these tokens share them.
    pub(crate) fn share_among(&self, tokens: &[ServerToken]) {
        self.shares.set_callers(&callers(tokens));
        self.freed.notify_waiters();
    }

    /// Takes a place, if one is free and the caller has not had its share.
    pub(crate) fn try_take(&self, caller: &str) -> Option<ConnectionPlace> {
        self.shares.try_take(caller).map(|share| self.place(caller, share))
    }

    /// Takes the place of a connection that was ended for it.
    pub(crate) fn take(&self, caller: &str) -> ConnectionPlace {
        self.place(caller, self.shares.take(caller))
    }

    fn place(&self, caller: &str, share: Share) -> ConnectionPlace {
        ConnectionPlace { caller: caller.into(), share: Some(share), freed: self.freed.clone() }
    }

    /// Waits until a place is free that the caller may have, or until connections are refused for want of places.
    pub(crate) async fn wait(&self, caller: &str) -> Option<ConnectionPlace> {
        let mut crowded = std::pin::pin!(self.crowded.notified());
        crowded.as_mut().enable();
        loop {
            let mut freed = std::pin::pin!(self.freed.notified());
            freed.as_mut().enable();
            if let Some(place) = self.try_take(caller) {
                return Some(place);
            }
            tokio::select! {
                () = freed => {}
                () = &mut crowded => return None,
            }
        }
    }

    /// The failure where there is no place for the caller.
    pub(crate) fn failure(&self, caller: &str) -> Failure {
        let max_connections = self.max_connections;
        let message = if self.shares.is_within_share(caller) {
            format!(
                "{max_connections} connections are at work (server.max_connections); retry shortly"
            )
        } else {
            format!(
                "so many connections of this caller are at work that the rest of the {max_connections} \
                 (server.max_connections) is kept for others; retry shortly"
            )
        };
        let mut failure = Failure::new(codes::TOO_MANY_REQUESTS, message);
        failure.retry_after = Some(1);
        failure
    }
}

fn callers(tokens: &[ServerToken]) -> Vec<Arc<str>> {
    tokens.iter().map(|token| Arc::from(token.name.as_str())).collect()
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        drop(self.share.take());
        self.freed.notify_waiters();
    }
}
