//! A request, its limits, and its response.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use url::Url;

/// The largest body unless the caller says otherwise, in bytes.
const DEFAULT_MAX_BODY_BYTES: usize = 5_242_880;
/// The time for everything unless the caller says otherwise.
const DEFAULT_TOTAL: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub struct HttpRequest {
    pub method: Method,
    /// Where to, in any spelling that a browser would understand.
    pub url: String,
    /// Headers beside those that every request has. They are not carried to another origin, except
    /// for `Accept`.
    pub headers: HeaderMap,
    pub body: Bytes,
    /// Its bounds.
    pub limits: RequestLimits,
    /// Decides by the head of the response what is done with its body; all are read where there is none.
    pub body_filter: Option<BodyFilter>,
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

/// A decision about the body of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyAction {
    Read,
    /// It is not; the answer has an empty one.
    Skip,
    /// It is not, and the request fails with [`super::NetErrorReason::BadType`].
    Refuse,
}

type BodyDecision = dyn Fn(StatusCode, &HeaderMap) -> BodyAction + Send + Sync;

/// Decides by status and headers, at the end of all redirects, what is done with a body.
#[derive(Clone)]
pub struct BodyFilter(Arc<BodyDecision>);

impl BodyFilter {
    /// A filter that decides like this.
    pub fn new(
        decide: impl Fn(StatusCode, &HeaderMap) -> BodyAction + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(decide))
    }

    pub(super) fn choose(&self, status: StatusCode, headers: &HeaderMap) -> BodyAction {
        (self.0)(status, headers)
    }
}

impl fmt::Debug for BodyFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("BodyFilter")
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
            body_filter: None,
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

    /// The same with a filter for bodies.
    #[must_use]
    pub fn with_body_filter(mut self, filter: BodyFilter) -> Self {
        self.body_filter = Some(filter);
        self
    }
}

/// An answer. Its status may be any.
#[derive(Debug, Clone)]
pub struct HttpResponse {
    pub status: StatusCode,
    /// The headers, as they came.
    pub headers: HeaderMap,
    /// Where it came from, after all redirects, without a fragment.
    pub url: Url,
    /// The body, decompressed.
    pub body: Bytes,
    /// The number of bytes of body that came over the wire.
    pub wire_bytes: u64,
    /// The number of redirects that were followed.
    pub redirects: usize,
    /// True if it was kept from an earlier request.
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
