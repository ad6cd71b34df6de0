//! One HTTP/2 connection that all exchanges share, where the other side wants it.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use hyper::{
    body::Incoming,
    client::conn::http2::{Builder, SendRequest},
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::time::timeout_at;

use super::{
    connection::{ExchangeError, OutgoingMessage},
    errors,
    response::Deadline,
};
use crate::net::{
    NetError,
    exchange::{limit_informational, too_many_informational},
    stream::NetStream,
};

/// The bytes that the other side may send ahead of us reading.
const WINDOW_BYTES: u32 = 1_048_576;
/// After how much silence the other side is asked whether it is still there, and how long that
/// question may take. One that died in silence would take all exchanges along.
const ASKED_AFTER: Duration = Duration::from_secs(15);
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);

type Http2Sender = SendRequest<Full<Bytes>>;

/// The connection, while there is one.
#[derive(Default)]
pub(super) struct Http2Connection(Mutex<Option<Http2Sender>>);

impl Http2Connection {
    /// The connection, if it lives.
    pub(super) fn get(&self) -> Option<Http2Sender> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_some_and(Http2Sender::is_closed) {
            *kept = None;
        }
        kept.clone()
    }

    pub(super) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Begins one, for all.
    pub(super) async fn begin(
        &self,
        stream: NetStream,
        max_header_bytes: usize,
    ) -> Result<Http2Sender, NetError> {
        let (sender, connection) = Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .initial_stream_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES)
            .max_header_list_size(u32::try_from(max_header_bytes).unwrap_or(u32::MAX))
            .keep_alive_interval(ASKED_AFTER)
            .keep_alive_timeout(ANSWERED_WITHIN)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| errors::of_hyper(&error, max_header_bytes))?;
        tokio::spawn(async move {
            // Each exchange has an error of its own.
            let _ = connection.await;
        });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender.clone());
        Ok(sender)
    }
}

/// A request, and the head of its response.
pub(super) async fn exchange(
    mut sender: Http2Sender,
    mut request: OutgoingMessage,
    deadline: &Deadline,
    max_header_bytes: usize,
) -> Result<Response<Incoming>, ExchangeError> {
    let flooded = limit_informational(&mut request);
    let response = timeout_at(deadline.at, sender.try_send_request(request));
    tokio::select! {
        biased;
        () = flooded.cancelled() => Err(ExchangeError::Failed(too_many_informational())),
        ended = response => match ended {
            Err(_) => Err(ExchangeError::Failed(deadline.missed())),
            Ok(Err(failed)) if failed.message().is_some() => Err(ExchangeError::Unsent),
            Ok(Err(failed)) => {
                Err(ExchangeError::Failed(errors::of_hyper(&failed.into_error(), max_header_bytes)))
            }
            Ok(Ok(response)) if response.headers().len() > errors::MAX_HEADERS => {
                Err(ExchangeError::Failed(errors::too_many_headers(max_header_bytes)))
            }
            Ok(Ok(response)) => Ok(response),
        }
    }
}
