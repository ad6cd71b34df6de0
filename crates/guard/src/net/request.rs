//! What is asked for, and what comes back.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use url::Url;

/// The largest body unless the caller says otherwise, in bytes.
const DEFAULT_MAX_BODY_BYTES: usize = 5_242_880;
/// The time for everything unless the caller says otherwise.
const DEFAULT_TOTAL: Duration = Duration::from_secs(30);

/// A request.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// The method.
    pub method: Method,
    /// Where to, in any spelling that a browser would understand.
    pub url: String,
    /// Headers beside those that every request has. They are not carried to another origin, except
    /// for `Accept`.
    pub headers: HeaderMap,
    /// What is sent along.
    pub body: Bytes,
    /// Its bounds.
    pub limits: RequestLimits,
    /// What becomes of the body of the answer, decided by its head; all are read where there is none.
    pub judge: Option<BodyFilter>,
}

/// The bounds of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// The largest body of an answer, in bytes after decompression.
    pub max_body_bytes: usize,
    /// The time for everything: names, connections, redirects and the body.
    pub total: Duration,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self { max_body_bytes: DEFAULT_MAX_BODY_BYTES, total: DEFAULT_TOTAL }
    }
}

/// What is done with the body of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyAction {
    /// It is read.
    Read,
    /// It is not; the answer has an empty one.
    Skip,
    /// It is not, and the request fails with [`super::NetErrorReason::BadType`].
    Refuse,
}

type Decision = dyn Fn(StatusCode, &HeaderMap) -> BodyAction + Send + Sync;

/// Decides by status and headers, at the end of all redirects, what is done with a body.
#[derive(Clone)]
pub struct BodyFilter(Arc<Decision>);

impl BodyFilter {
    /// A judge who decides like this.
    pub fn new(
        judge: impl Fn(StatusCode, &HeaderMap) -> BodyAction + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(judge))
    }

    pub(super) fn choose(&self, status: StatusCode, headers: &HeaderMap) -> BodyAction {
        (self.0)(status, headers)
    }
}

impl fmt::Debug for BodyFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Judge")
    }
}

impl HttpRequest {
    /// `GET`.
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            url: url.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            limits: RequestLimits::default(),
            judge: None,
        }
    }

    /// `POST` of a JSON text.
    pub fn post_json(url: impl Into<String>, body: impl Into<Bytes>) -> Self {
        let mut request = Self { method: Method::POST, body: body.into(), ..Self::get(url) };
        let json = HeaderValue::from_static("application/json");
        request.headers.insert(header::CONTENT_TYPE, json.clone());
        request.headers.insert(header::ACCEPT, json);
        request
    }

    /// The same with other bounds.
    #[must_use]
    pub fn within(mut self, limits: RequestLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The same with a judge.
    #[must_use]
    pub fn judged(mut self, judge: BodyFilter) -> Self {
        self.judge = Some(judge);
        self
    }
}

/// An answer. Its status may be any.
#[derive(Debug, Clone)]
pub struct HttpResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers, as they came.
    pub headers: HeaderMap,
    /// Where it came from, after all redirects, without a fragment.
    pub url: Url,
    /// The body, decompressed.
    pub body: Bytes,
    /// How many bytes of body came over the wire.
    pub wire_bytes: u64,
    /// How many redirects were followed.
    pub redirects: usize,
    /// Whether it was kept from an earlier request.
    pub from_cache: bool,
}

impl HttpResponse {
    /// The `Content-Type`, as text; the last where there are several, as the Fetch standard has it.
    pub fn content_type(&self) -> Option<String> {
        content_type(&self.headers)
    }
}

/// The `Content-Type` of these headers, as text.
pub(super) fn content_type(headers: &HeaderMap) -> Option<String> {
    let last = headers.get_all(header::CONTENT_TYPE).iter().next_back()?;
    Some(String::from_utf8_lossy(last.as_bytes()).trim().to_owned())
}
