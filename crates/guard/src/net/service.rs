//! A client for one service of the operator's own.
//!
//! A [`ServiceClient`] reaches one origin and nothing else, wherever that is, because the operator named
//! it. Everything that does not change from request to request is prepared once. Connections are
//! kept; an exchange on a kept one costs no task, no channel and no timer of its own.

mod connection;
mod errors;
mod http2;
mod response;

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use http_body_util::Full;
use url::Url;

use self::{
    connection::{ExchangeError, OutgoingMessage, ServiceConnection, ServiceConnections},
    response::Deadline,
};
use super::{
    HttpClientSettings, NetError, NetErrorReason, NetRules, Resolve, SetupError, SystemResolver,
    USER_AGENT,
    connect::Connector,
    exchange::{LEAST_HEADER_BYTES, uri},
    redirect,
};

pub use response::{ResponseBody, ServiceResponse};

/// The number of redirects within the service that are followed.
const MAX_REDIRECTS: usize = 5;

/// The settings of a client for one service.
#[derive(Clone)]
pub struct ServiceSettings {
    /// The time that it may take to resolve the name, connect and agree on encryption.
    pub connect_timeout: Duration,
    /// The largest head of a response, in bytes; at least 8,192.
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

pub struct ServiceRequest<'a> {
    pub method: Method,
    /// Its headers: those of [`ServiceClient::headers`], and whatever was added.
    pub headers: &'a ServiceHeaders,
    /// Further ones, of this request alone.
    pub extra: &'a [(HeaderName, HeaderValue)],
    pub body: Bytes,
    /// The time that the exchange may take, to the end of the response.
    pub timeout: Duration,
}

/// Reaches one origin. Cheap to clone; clones share connections.
#[derive(Clone)]
pub struct ServiceClient {
    origin: Arc<Origin>,
    address: Arc<ServiceAddress>,
}

struct Origin {
    rules: NetRules,
    connections: ServiceConnections,
    headers: ServiceHeaders,
}

/// An address within the origin, as hyper takes it.
struct ServiceAddress {
    url: Url,
    whole: Uri,
    path: Uri,
}

/// A service is shown by its origin: what comes behind may be a secret.
impl fmt::Debug for ServiceClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = self.address.url.origin().ascii_serialization();
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
        let connector_settings = HttpClientSettings {
            rules: rules.clone(),
            connect_timeout: settings.connect_timeout,
            extra_ca: settings.extra_ca.clone(),
            resolver: settings.resolver.clone(),
            ..HttpClientSettings::default()
        };
        let address = ServiceAddress::new(url).map_err(wrong)?;
        let headers = ServiceHeaders::prepare(&address.url, &settings.user_agent, headers)?;
        let connections = ServiceConnections::new(
            Connector::new(&connector_settings, Arc::new(rules.clone())),
            headers.origin.clone(),
            settings.max_idle_connections,
            settings.max_header_bytes.max(LEAST_HEADER_BYTES),
        );
        let origin = Origin { rules, connections, headers };
        Ok(Self { origin: Arc::new(origin), address: Arc::new(address) })
    }

    /// Where it is.
    pub fn url(&self) -> &Url {
        &self.address.url
    }

    /// Another address of the same service, by the same connections; `address` may be relative.
    pub fn at(&self, address: &str) -> Result<Self, NetError> {
        let address = self.origin.address(&self.address.url, address)?;
        Ok(Self { origin: self.origin.clone(), address: Arc::new(address) })
    }

    /// The headers that every request has.
    pub fn headers(&self) -> &ServiceHeaders {
        &self.origin.headers
    }

    /// Closes all connections that nobody uses.
    pub fn close(&self) {
        self.origin.connections.close();
    }

    /// Sends a request and waits for the head of its response. A request is never sent twice, except
    /// where nothing of the first one was written, or where it is one without effects (`GET`). One
    /// that went to a connection which was closed at that moment fails with [`NetErrorReason::Stale`].
    pub async fn send(&self, request: &ServiceRequest<'_>) -> Result<ServiceResponse, NetError> {
        let deadline = Deadline::after(request.timeout);
        let response = self.origin.exchange(&self.address, request, &deadline).await?;
        if response.status.is_redirection() {
            return self.follow(request, response, &deadline).await;
        }
        Ok(response)
    }

    /// Follows redirects that lead to another address of this service with the same request.
    async fn follow(
        &self,
        request: &ServiceRequest<'_>,
        mut response: ServiceResponse,
        deadline: &Deadline,
    ) -> Result<ServiceResponse, NetError> {
        let mut url = self.address.url.clone();
        for redirects in 1..=MAX_REDIRECTS {
            let keeps_method = matches!(
                response.status,
                StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
            );
            let location = redirect::location(&response.headers)?;
            let Some(location) = location.filter(|_| keeps_method) else { return Ok(response) };
            let address = self
                .origin
                .address(&url, &location)
                .map_err(|error| NetError { redirects, ..error })?;
            response.body.leave();
            response = self.origin.exchange(&address, request, deadline).await?;
            url = address.url;
        }
        let message = format!("more than {MAX_REDIRECTS} redirects");
        let error = NetError::new(NetErrorReason::RedirectLimit, message);
        Err(NetError { redirects: MAX_REDIRECTS + 1, ..error })
    }
}

impl Origin {
    /// An address of this origin that another one leads to.
    fn address(&self, from: &Url, address: &str) -> Result<ServiceAddress, NetError> {
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
        address: &ServiceAddress,
        request: &ServiceRequest<'_>,
        deadline: &Deadline,
    ) -> Result<ServiceResponse, NetError> {
        let may_repeat = matches!(request.method, Method::GET | Method::HEAD);
        loop {
            let (connection, is_kept) = self.connections.take(deadline).await?;
            let message = match &connection {
                ServiceConnection::Http1(_) => message(request, address.path.clone(), false),
                ServiceConnection::Http2(_) => message(request, address.whole.clone(), true),
            };
            match self.connections.exchange(connection, message, deadline).await {
                Ok(response) => return Ok(response),
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
    headers.clone_from(&request.headers.map);
    for (name, value) in request.extra {
        if may_be_set(name) {
            headers.insert(name.clone(), value.clone());
        }
    }
    if shared {
        // It is in the address.
        headers.remove(header::HOST);
    }
    message
}

/// Headers that say how a message is framed or where it goes. They are not for callers to set.
const OURS: [HeaderName; 9] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::UPGRADE,
    header::TRAILER,
    header::EXPECT,
    header::ACCEPT_ENCODING,
];

/// Room for as many headers before more has to be made.
const ROOM: usize = 16;

/// Prepared headers. Their values are not shown.
#[derive(Clone)]
pub struct ServiceHeaders {
    map: HeaderMap,
    origin: Uri,
}

impl fmt::Debug for ServiceHeaders {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.map.keys()).finish()
    }
}

impl ServiceHeaders {
    /// Prepares the headers of every request to this address.
    fn prepare(
        url: &Url,
        user_agent: &str,
        given: &[(String, String)],
    ) -> Result<Self, SetupError> {
        let wrong = |name: &str, problem: &str| SetupError::new(name, problem);
        let host = url.host_str().unwrap_or_default();
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let origin = format!("{}://{authority}/", url.scheme());
        let origin = origin.parse().map_err(|_| wrong(url.as_str(), "cannot be sent"))?;
        let mut map = HeaderMap::with_capacity(ROOM);
        let value =
            HeaderValue::from_str(&authority).map_err(|_| wrong(host, "is not a valid host"))?;
        map.insert(header::HOST, value);
        let user_agent = HeaderValue::from_str(user_agent);
        let user_agent = user_agent.unwrap_or_else(|_| HeaderValue::from_static(USER_AGENT));
        map.insert(header::USER_AGENT, user_agent);
        // Decoding costs more than it saves on the way to a service of one's own.
        map.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let mut headers = Self { map, origin };
        for (name, value) in given {
            let parsed = HeaderName::from_bytes(name.as_bytes());
            let parsed = parsed.map_err(|_| wrong(name, "is not a valid header name"))?;
            if !may_be_set(&parsed) {
                return Err(wrong(name, "is set by the client itself and cannot be changed"));
            }
            // The value may be a secret, so it is not told.
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| wrong(name, "has characters that a header value cannot contain"))?;
            value.set_sensitive(true);
            headers.map.append(parsed, value);
        }
        Ok(headers)
    }

    /// Sets a header, in the place of any of that name. One that says how a message is
    /// framed is left out.
    pub fn set(&mut self, name: HeaderName, value: HeaderValue) {
        if may_be_set(&name) {
            self.map.insert(name, value);
        }
    }

    /// The same without that one, unless it is one that says how a message is framed.
    pub fn unset(&mut self, name: &HeaderName) {
        if may_be_set(name) {
            self.map.remove(name);
        }
    }
}

/// True if a caller may say what this header is.
fn may_be_set(name: &HeaderName) -> bool {
    !OURS.contains(name)
}
