//! A client for one service of the operator's own.
//!
//! A [`ServiceClient`] reaches one origin and nothing else, wherever that is, because the operator named
//! it. Everything that does not change from request to request is prepared once. Connections are
//! kept; an exchange on a kept one costs no task, no channel and no timer of its own.

mod deadline;
mod errors;
mod headers;
mod http1;
mod http2;
mod pool;
mod response;

use std::{
    fmt,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, Uri, header};
use http_body_util::Full;
use tokio::{sync::Mutex, time::timeout_at};
use url::Url;

use self::{
    deadline::{Deadline, DeadlineTimer},
    http1::{ExchangeError, Http1Connection, OutgoingMessage},
    pool::Pool,
    response::Carrier,
};
use super::{
    HttpClientSettings, NetError, NetErrorReason, NetRules, Resolve, SetupError, SystemResolver,
    USER_AGENT,
    connect::Connector,
    exchange::{LEAST_HEADER_BYTES, uri},
    redirect,
};

pub use headers::ServiceHeaders;
pub use response::{ResponseBody, ServiceResponse};

/// The number of redirects within the service that are followed.
const MAX_REDIRECTS: usize = 5;

/// The settings of a client for one service.
#[derive(Clone)]
pub struct ServiceSettings {
    /// The time that it may take to resolve the name, connect and agree on encryption.
    pub connect_timeout: Duration,
    /// The largest head of an answer, in bytes; at least 8,192.
    pub max_header_bytes: usize,
    /// The number of unused connections that are kept.
    pub max_idle_connections: usize,
    /// The `User-Agent` of every request.
    pub user_agent: String,
    /// Files of certificates (PEM) that are trusted beside those of the machine.
    pub extra_ca: Vec<PathBuf>,
    /// Finds the addresses of the name.
    pub resolver: Arc<dyn Resolve>,
}

impl Default for ServiceSettings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            max_header_bytes: 65_536,
            max_idle_connections: 256,
            user_agent: USER_AGENT.to_owned(),
            extra_ca: Vec::new(),
            resolver: Arc::new(SystemResolver::default()),
        }
    }
}

/// One request.
pub struct ServiceRequest<'a> {
    /// The method.
    pub method: Method,
    /// Its headers: those of [`ServiceClient::headers`], and whatever was added.
    pub headers: &'a ServiceHeaders,
    /// Further ones, of this request alone.
    pub extra: &'a [(http::HeaderName, HeaderValue)],
    /// The body.
    pub body: Bytes,
    /// The time that the exchange may take, to the end of the answer.
    pub timeout: Duration,
}

/// Reaches one origin. Cheap to clone; clones share connections.
#[derive(Clone)]
pub struct ServiceClient {
    origin: Arc<Origin>,
    place: Arc<ServiceAddress>,
}

struct Origin {
    rules: NetRules,
    connector: Connector,
    pool: Arc<Pool>,
    /// True if connections are encrypted, so that the other side may want HTTP/2.
    encrypted: bool,
    /// True if it turned out that it does not.
    one_by_one: AtomicBool,
    http2: http2::Http2Connection,
    /// Held while it is not known whether one connection is enough for all.
    connecting: Mutex<()>,
    headers: ServiceHeaders,
    max_header_bytes: usize,
}

/// An address within the origin, as hyper takes it.
struct ServiceAddress {
    url: Url,
    whole: Uri,
    path: Uri,
}

/// A service is told by its origin: what comes behind may be a secret.
impl fmt::Debug for ServiceClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = self.place.url.origin().ascii_serialization();
        formatter.debug_tuple("Service").field(&origin).finish()
    }
}

impl ServiceClient {
    /// A client for the service at this address. Nothing is opened before it is used.
    pub fn new(
        url: &Url,
        headers: &[(String, String)],
        settings: &ServiceSettings,
    ) -> Result<Self, SetupError> {
        let shown = url.origin().ascii_serialization();
        let wrong = |error: NetError| SetupError::new(shown.clone(), error.message);
        let rules = NetRules::only(url.as_str())?;
        let url = rules.check(url.as_str()).map_err(wrong)?;
        let max_header_bytes = settings.max_header_bytes.max(LEAST_HEADER_BYTES);
        let connector_settings = HttpClientSettings {
            rules: rules.clone(),
            connect_timeout: settings.connect_timeout,
            extra_ca: settings.extra_ca.clone(),
            resolver: settings.resolver.clone(),
            ..HttpClientSettings::default()
        };
        let place = ServiceAddress::new(url).map_err(wrong)?;
        let origin = Origin {
            connector: Connector::new(&connector_settings, Arc::new(rules.clone())),
            rules,
            pool: Pool::new(settings.max_idle_connections),
            encrypted: place.url.scheme() == "https",
            one_by_one: AtomicBool::new(false),
            http2: http2::Http2Connection::default(),
            connecting: Mutex::new(()),
            headers: ServiceHeaders::prepare(&place.url, &settings.user_agent, headers)?,
            max_header_bytes,
        };
        Ok(Self { origin: Arc::new(origin), place: Arc::new(place) })
    }

    /// Where it is.
    pub fn url(&self) -> &Url {
        &self.place.url
    }

    /// Another address of the same service, by the same connections; `address` may be relative.
    pub fn at(&self, address: &str) -> Result<Self, NetError> {
        let place = self.origin.place(&self.place.url, address)?;
        Ok(Self { origin: self.origin.clone(), place: Arc::new(place) })
    }

    /// The headers that every request has.
    pub fn headers(&self) -> &ServiceHeaders {
        &self.origin.headers
    }

    /// Closes all connections that nobody uses.
    pub fn close(&self) {
        self.origin.pool.clear();
        self.origin.http2.clear();
    }

    /// Sends a request and waits for the head of its answer. A request is never sent twice, except
    /// where nothing of the first one was written, or where it is one without effects (`GET`). One
    /// that went to a connection which was closed at that moment fails with [`NetErrorReason::Stale`].
    pub async fn send(&self, request: &ServiceRequest<'_>) -> Result<ServiceResponse, NetError> {
        let deadline = Deadline::after(request.timeout);
        let answer = self.origin.exchange(&self.place, request, &deadline).await?;
        if answer.status.is_redirection() {
            return self.follow(request, answer, &deadline).await;
        }
        Ok(answer)
    }

    /// Follows redirects that lead to another address of this service with the same request.
    async fn follow(
        &self,
        request: &ServiceRequest<'_>,
        mut answer: ServiceResponse,
        deadline: &Deadline,
    ) -> Result<ServiceResponse, NetError> {
        let mut url = self.place.url.clone();
        for redirects in 1..=MAX_REDIRECTS {
            let keeps_method = matches!(
                answer.status,
                StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
            );
            let location = redirect::location(&answer.headers)?;
            let Some(location) = location.filter(|_| keeps_method) else { return Ok(answer) };
            let place = self
                .origin
                .place(&url, &location)
                .map_err(|error| NetError { redirects, ..error })?;
            answer.body.leave();
            answer = self.origin.exchange(&place, request, deadline).await?;
            url = place.url;
        }
        let message = format!("more than {MAX_REDIRECTS} redirects");
        let error = NetError::new(NetErrorReason::RedirectLimit, message);
        Err(NetError { redirects: MAX_REDIRECTS + 1, ..error })
    }
}

/// A connection that carries an exchange.
enum ServiceConnection {
    Http1(Box<Http1Connection>),
    Http2(hyper::client::conn::http2::SendRequest<Full<Bytes>>),
}

impl Origin {
    /// An address of this origin that another one leads to.
    fn place(&self, from: &Url, address: &str) -> Result<ServiceAddress, NetError> {
        let url = self.rules.check_redirect(from, address)?;
        if url.origin() != from.origin() {
            // The rules know hosts and ports; another scheme at the same one is another service.
            let message = "the address leads to another origin";
            return Err(NetError::new(NetErrorReason::Domain, message));
        }
        ServiceAddress::new(url)
    }

    async fn exchange(
        &self,
        place: &ServiceAddress,
        request: &ServiceRequest<'_>,
        deadline: &Deadline,
    ) -> Result<ServiceResponse, NetError> {
        let may_repeat = matches!(request.method, Method::GET | Method::HEAD);
        loop {
            let kept = self.kept();
            let is_kept = kept.is_some();
            let way = match kept {
                Some(way) => way,
                None => self.connect(deadline).await?,
            };
            let ended = match way {
                ServiceConnection::Http1(mut line) => {
                    let message = message(request, place.path.clone(), false);
                    let answer = line.exchange(message, deadline).await;
                    answer.map(|answer| (answer, Carrier::Http1(line, self.pool.clone())))
                }
                ServiceConnection::Http2(sender) => {
                    let message = message(request, place.whole.clone(), true);
                    let max_header_bytes = self.max_header_bytes;
                    let answer = http2::exchange(sender, message, deadline, max_header_bytes).await;
                    if matches!(answer, Err(ExchangeError::Unsent)) {
                        // It takes no more, although it may still live for others.
                        self.http2.clear();
                    }
                    answer.map(|answer| (answer, Carrier::Http2(DeadlineTimer::new())))
                }
            };
            match ended {
                Ok((answer, carrier)) => {
                    let (head, incoming) = answer.into_parts();
                    let body = ResponseBody::new(incoming, carrier, *deadline);
                    return Ok(ServiceResponse {
                        status: head.status,
                        headers: head.headers,
                        body,
                    });
                }
                // There is one kept connection less each time, so it comes to an end.
                Err(ExchangeError::Unsent) if is_kept => {}
                Err(ExchangeError::Failed(error))
                    if is_kept && may_repeat && error.reason == NetErrorReason::Stale => {}
                Err(ExchangeError::Unsent) => {
                    let message = "the connection was closed before the request was sent";
                    return Err(NetError::new(NetErrorReason::Connect, message));
                }
                Err(ExchangeError::Failed(error)) => return Err(error),
            }
        }
    }

    fn kept(&self) -> Option<ServiceConnection> {
        if self.encrypted
            && !self.one_by_one.load(Ordering::Relaxed)
            && let Some(sender) = self.http2.get()
        {
            return Some(ServiceConnection::Http2(sender));
        }
        self.pool.take().map(ServiceConnection::Http1)
    }

    /// A new connection. Whatever goes wrong here, the request was not sent.
    async fn connect(&self, deadline: &Deadline) -> Result<ServiceConnection, NetError> {
        let connected = timeout_at(deadline.at, async {
            if !self.encrypted || self.one_by_one.load(Ordering::Relaxed) {
                return self.open().await;
            }
            let _connecting = self.connecting.lock().await;
            match self.kept() {
                Some(way) => Ok(way),
                None => self.open().await,
            }
        });
        let not_sent = |error: NetError| match error.reason {
            NetErrorReason::Timeout | NetErrorReason::Network => {
                NetError { reason: NetErrorReason::Connect, ..error }
            }
            _ => error,
        };
        connected.await.unwrap_or_else(|_| Err(deadline.missed())).map_err(not_sent)
    }

    async fn open(&self) -> Result<ServiceConnection, NetError> {
        // The connector takes the origin alone, whatever else is in the address.
        let stream = self.connector.connect(self.headers.origin()).await?;
        if let Some(socket) = stream.socket() {
            keep_alive(socket);
        }
        if stream.is_http2() {
            let begun = self.http2.begin(stream, self.max_header_bytes).await;
            return begun.map(ServiceConnection::Http2);
        }
        self.one_by_one.store(true, Ordering::Relaxed);
        let connection = Http1Connection::new(stream, self.max_header_bytes).await?;
        Ok(ServiceConnection::Http1(Box::new(connection)))
    }
}

impl ServiceAddress {
    fn new(url: Url) -> Result<Self, NetError> {
        let whole = uri(&url)?;
        let path = whole.path_and_query().cloned().map_or_else(Uri::default, Uri::from);
        Ok(Self { url, whole, path })
    }
}

/// A request as hyper takes it.
fn message(request: &ServiceRequest<'_>, uri: Uri, shared: bool) -> OutgoingMessage {
    let mut message = http::Request::new(Full::new(request.body.clone()));
    *message.method_mut() = request.method.clone();
    *message.uri_mut() = uri;
    let headers = message.headers_mut();
    request.headers.write(headers);
    for (name, value) in request.extra {
        if headers::may_be_set(name) {
            headers.insert(name.clone(), value.clone());
        }
    }
    if shared {
        // It is in the address.
        headers.remove(header::HOST);
    }
    message
}

/// A stream may be silent for hours; the kernel finds out whether the other side still lives.
fn keep_alive(stream: &tokio::net::TcpStream) {
    use rustix::net::sockopt;
    const AFTER: Duration = Duration::from_mins(1);
    const BETWEEN: Duration = Duration::from_secs(15);
    const TIMES: u32 = 4;
    // What the kernel does not have it does not do.
    let _ = sockopt::set_socket_keepalive(stream, true);
    let _ = sockopt::set_tcp_keepidle(stream, AFTER);
    let _ = sockopt::set_tcp_keepintvl(stream, BETWEEN);
    let _ = sockopt::set_tcp_keepcnt(stream, TIMES);
}
