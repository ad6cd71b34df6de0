//! One request, and the head of its answer.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Uri, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client as Pool, Error as PoolError},
    rt::{TokioExecutor, TokioTimer},
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{
    HttpClientSettings, NetError, NetErrorReason, NetRules, connect::Connector, encoding,
    error::chain, redirect::Hop, stream::ReuseMark,
};

/// The least that hyper takes as the size of a head, in bytes.
pub(super) const LEAST_HEADER_BYTES: usize = 8_192;
/// The time that an unused connection is kept.
const IDLE_CONNECTION: Duration = Duration::from_mins(1);
/// The bytes that an HTTP/2 peer may send ahead of us reading.
const HTTP2_WINDOW_BYTES: u32 = 1_048_576;
/// Into how many parts the timeout with a silent peer is cut: after one an HTTP/2 peer is asked
/// whether it is still there, and after another one a connection without a reply is given up, so
/// that there is time left to make the request on a new one.
const IDLE_TIMEOUT_PARTS: u32 = 4;
/// The number of answers "there is more to come" (1xx) that may precede an answer.
const MAX_INFORMATIONAL: usize = 16;

/// Sends requests over connections that are made when they are needed and kept for a while.
pub(super) struct RequestSender {
    pool: Pool<Connector, Full<Bytes>>,
    user_agent: HeaderValue,
    head_timeout: Duration,
    max_idle_per_host: usize,
    max_header_bytes: usize,
    max_headers: usize,
}

impl RequestSender {
    pub(super) fn new(settings: &HttpClientSettings, rules: Arc<NetRules>) -> Self {
        let header_bytes = settings.max_header_bytes.max(LEAST_HEADER_BYTES);
        let pool = Pool::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_CONNECTION)
            .pool_max_idle_per_host(settings.max_idle_per_host)
            .http1_max_buf_size(header_bytes)
            .http1_max_headers(settings.max_headers)
            .http2_max_header_list_size(u32::try_from(header_bytes).unwrap_or(u32::MAX))
            .http2_initial_stream_window_size(HTTP2_WINDOW_BYTES)
            .http2_initial_connection_window_size(HTTP2_WINDOW_BYTES)
            // Many requests share such a connection, and one that died in silence would take all
            // of them along, again and again.
            .http2_keep_alive_interval(settings.idle_timeout / IDLE_TIMEOUT_PARTS)
            .http2_keep_alive_timeout(settings.idle_timeout / IDLE_TIMEOUT_PARTS)
            .build(Connector::new(settings, rules));
        let user_agent = HeaderValue::from_str(&settings.user_agent);
        Self {
            pool,
            user_agent: user_agent.unwrap_or_else(|_| HeaderValue::from_static(super::USER_AGENT)),
            head_timeout: settings.connect_timeout.saturating_add(settings.idle_timeout),
            max_idle_per_host: settings.max_idle_per_host,
            max_header_bytes: header_bytes,
            max_headers: settings.max_headers,
        }
    }

    /// One request and the head of its answer. A server may close a connection that was kept at
    /// the moment when it is used again; then, and only then, the request is made anew.
    pub(super) async fn exchange(&self, hop: &Hop) -> Result<http::Response<Incoming>, NetError> {
        let may_repeat = matches!(hop.method, Method::GET | Method::HEAD) && hop.body.is_empty();
        let mut kept_connections = self.max_idle_per_host;
        loop {
            match self.attempt(hop).await {
                Err(RequestFailure { stale: true, .. }) if may_repeat && kept_connections > 0 => {
                    kept_connections -= 1;
                }
                Err(RequestFailure { error, .. }) => return Err(error),
                Ok(answer) => return Ok(answer),
            }
        }
    }

    async fn attempt(&self, hop: &Hop) -> Result<http::Response<Incoming>, RequestFailure> {
        let mut request = http::Request::new(Full::new(hop.body.clone()));
        *request.method_mut() = hop.method.clone();
        *request.uri_mut() = uri(&hop.url)?;
        *request.headers_mut() = self.headers(&hop.headers);
        let flooded = limit_informational(&mut request);
        tokio::select! {
            answer = timeout(self.head_timeout, self.pool.request(request)) => match answer {
                // HTTP/1 stops at that number by itself, HTTP/2 knows only their size.
                Ok(Ok(answer)) if answer.headers().len() > self.max_headers => {
                    Err(self.too_many_headers().into())
                }
                Ok(Ok(answer)) => {
                    if let Some(used) = answer.extensions().get::<ReuseMark>() {
                        used.set();
                    }
                    Ok(answer)
                }
                Ok(Err(error)) => Err(self.failed(&error)),
                Err(_) => {
                    let seconds = self.head_timeout.as_secs_f64();
                    let message = format!("no response within {seconds} s");
                    Err(NetError::new(NetErrorReason::Timeout, message).into())
                }
            },
            () = flooded.cancelled() => Err(too_many_informational().into()),
        }
    }

    /// The headers of a request: those of the caller, and the few that every request has.
    fn headers(&self, given: &HeaderMap) -> HeaderMap {
        let mut headers = given.clone();
        for name in [header::HOST, header::CONNECTION, header::CONTENT_LENGTH] {
            headers.remove(name);
        }
        for name in [header::TRANSFER_ENCODING, header::TE, header::UPGRADE, header::TRAILER] {
            headers.remove(name);
        }
        headers.insert(header::USER_AGENT, self.user_agent.clone());
        let accepted = HeaderValue::from_static(encoding::ACCEPTED);
        headers.insert(header::ACCEPT_ENCODING, accepted);
        headers.entry(header::ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        headers
    }

    fn too_many_headers(&self) -> NetError {
        let (bytes, count) = (self.max_header_bytes, self.max_headers);
        let message =
            format!("the response has more than {bytes} bytes or {count} lines of headers");
        NetError::new(NetErrorReason::HeaderLimit, message)
    }

    /// The failure that an error of the pool means.
    fn failed(&self, error: &PoolError) -> RequestFailure {
        let mut cause: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(one) = cause {
            if let Some(ours) = one.downcast_ref::<NetError>() {
                return ours.clone().into();
            }
            if let Some(hyper) = one.downcast_ref::<hyper::Error>() {
                let problem = if hyper.is_parse_too_large() {
                    self.too_many_headers()
                } else if hyper.is_parse() {
                    NetError::new(NetErrorReason::Network, "the response is not valid HTTP")
                } else if hyper.is_timeout() {
                    NetError::new(NetErrorReason::Timeout, "the server took too long")
                } else {
                    let message = "the connection was closed before a response";
                    NetError::new(NetErrorReason::Network, message)
                };
                let closed = problem.reason == NetErrorReason::Timeout
                    || problem.reason == NetErrorReason::Network && !hyper.is_parse();
                return RequestFailure {
                    stale: closed && was_used(error),
                    error: problem.for_operator(chain(error)),
                };
            }
            cause = one.source();
        }
        NetError::new(NetErrorReason::Network, "the connection failed")
            .for_operator(chain(error))
            .into()
    }
}

/// A URL as hyper takes it. A browser leaves a few characters as they are that hyper refuses.
pub(super) fn uri(url: &Url) -> Result<Uri, NetError> {
    let text = url.as_str();
    if let Ok(uri) = text.parse() {
        return Ok(uri);
    }
    let escaped: String = text
        .chars()
        .map(|one| match one {
            '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' => format!("%{:02X}", one as u32),
            one => one.to_string(),
        })
        .collect();
    escaped.parse().map_err(|error: http::uri::InvalidUri| {
        NetError::new(NetErrorReason::BadUrl, "the URL cannot be sent").for_operator(error)
    })
}

/// A failure before there was a head.
struct RequestFailure {
    error: NetError,
    /// True if a kept connection was closed before a byte of the answer.
    stale: bool,
}

impl From<NetError> for RequestFailure {
    fn from(error: NetError) -> Self {
        Self { error, stale: false }
    }
}

/// True if it happened on a connection that had carried an answer.
fn was_used(error: &PoolError) -> bool {
    let mut extensions = http::Extensions::new();
    if let Some(connection) = error.connect_info() {
        connection.get_extras(&mut extensions);
    }
    extensions.get::<ReuseMark>().is_some_and(ReuseMark::get)
}

/// Cancels the token that it returns when more than [`MAX_INFORMATIONAL`] provisional answers came.
pub(super) fn limit_informational(request: &mut http::Request<Full<Bytes>>) -> CancellationToken {
    let flooded = CancellationToken::new();
    let (count, flood) = (AtomicUsize::new(0), flooded.clone());
    hyper::ext::on_informational(request, move |_| {
        if count.fetch_add(1, Ordering::Relaxed) >= MAX_INFORMATIONAL {
            flood.cancel();
        }
    });
    flooded
}

pub(super) fn too_many_informational() -> NetError {
    let message = format!("more than {MAX_INFORMATIONAL} informational (1xx) responses");
    NetError::new(NetErrorReason::HeaderLimit, message)
}
