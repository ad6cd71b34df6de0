//! The client: one request, followed to its end.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{
    BodyAction, HttpClientSettings, HttpRequest, HttpResponse, NetError, NetErrorReason, NetRules,
    RequestLimits, body,
    cache::{CacheEntry, CacheLookup, ResponseCache},
    exchange::RequestSender,
    redirect::Hop,
    robots::{self, Robots},
};

/// Fetches what its rules allow. Cheap to clone; clones share connections.
#[derive(Clone)]
pub struct HttpClient {
    inner: Arc<ClientInner>,
}

struct ClientInner {
    rules: Arc<NetRules>,
    sender: RequestSender,
    idle_timeout: Duration,
    robots: Option<Robots>,
    cache: ResponseCache,
}

impl HttpClient {
    /// A client under these settings. Nothing is opened or read before it is used.
    pub fn new(settings: &HttpClientSettings) -> Self {
        let rules = Arc::new(settings.rules.clone());
        Self {
            inner: Arc::new(ClientInner {
                sender: RequestSender::new(settings, rules.clone()),
                rules,
                idle_timeout: settings.idle_timeout,
                robots: settings.robots.then(Robots::default),
                cache: ResponseCache::new(settings.cache_bytes),
            }),
        }
    }

    /// Says whether a URL may be fetched, as far as that can be said without the network.
    pub fn check(&self, url: &str) -> Result<Url, NetError> {
        self.inner.rules.check(url)
    }

    /// Fetches, with all redirects, within the limits of the request.
    pub async fn send(
        &self,
        request: HttpRequest,
        stop: &CancellationToken,
    ) -> Result<HttpResponse, NetError> {
        let total = request.limits.total;
        let deadline = Instant::now() + total;
        tokio::select! {
            biased;
            () = stop.cancelled() => Err(NetError::cancelled()),
            ended = timeout_at(deadline, self.inner.follow(&request, self.inner.robots.as_ref())) => {
                ended.unwrap_or_else(|_| {
                    let message = format!("not done within {} s", total.as_secs_f64());
                    Err(NetError::new(NetErrorReason::Timeout, message))
                })
            }
        }
    }
}

impl ClientInner {
    /// Follows a request from hop to hop. Each is checked before anything is sent.
    async fn follow(
        &self,
        request: &HttpRequest,
        robots: Option<&Robots>,
    ) -> Result<HttpResponse, NetError> {
        let mut hop = Hop::first(request, self.rules.check(&request.url)?);
        loop {
            let redirects = hop.redirects;
            let at_hop = |error: NetError| NetError { redirects, ..error };
            if let Some(robots) = robots {
                self.obey(robots, &hop.url).await.map_err(at_hop)?;
            }
            match self.step(request, &hop).await.map_err(at_hop)? {
                HopResult::Done(response) => return Ok(response),
                HopResult::On(status, headers, incoming) => {
                    let next = hop.next(&self.rules, status, &headers);
                    let next =
                        next.map_err(|error| NetError { redirects: redirects + 1, ..error })?;
                    let Some(next) = next else {
                        let read = self.read(request, &hop, status, headers, incoming);
                        return read.await.map_err(at_hop);
                    };
                    hop = next;
                }
            }
            if hop.redirects > self.rules.max_redirects {
                let message = format!("more than {} redirects", self.rules.max_redirects);
                let error = NetError::new(NetErrorReason::RedirectLimit, message);
                return Err(NetError { redirects: hop.redirects, ..error });
            }
        }
    }

    /// One hop: from what is kept, or from the network.
    async fn step(&self, request: &HttpRequest, hop: &Hop) -> Result<HopResult, NetError> {
        let answer = match self.cache.find(hop) {
            CacheLookup::Fresh(entry) => return kept(request, hop, entry).map(HopResult::Done),
            CacheLookup::Stale(asking) => {
                let mut asked = hop.clone();
                asked.headers.extend(asking);
                let answer = self.sender.exchange(&asked).await?;
                if answer.status() != StatusCode::NOT_MODIFIED {
                    answer
                } else if let Some(entry) = self.cache.refresh(hop, answer.headers()) {
                    return kept(request, hop, entry).map(HopResult::Done);
                } else {
                    // It had to make room for another one in the meantime.
                    self.sender.exchange(hop).await?
                }
            }
            CacheLookup::Nothing => self.sender.exchange(hop).await?,
        };
        let (head, incoming) = answer.into_parts();
        Ok(HopResult::On(head.status, head.headers, incoming))
    }

    /// The end of the way: the body, as far as it is wanted.
    async fn read(
        &self,
        request: &HttpRequest,
        hop: &Hop,
        status: StatusCode,
        headers: HeaderMap,
        incoming: Incoming,
    ) -> Result<HttpResponse, NetError> {
        let body = if is_wanted(request, status, &headers)? {
            let max_bytes = request.limits.max_body_bytes;
            let body = body::read(incoming, &headers, max_bytes, self.idle_timeout).await?;
            self.cache.keep(hop, status, &headers, &body.bytes);
            body
        } else {
            body::ReadBody { bytes: Bytes::new(), wire_bytes: 0 }
        };
        Ok(HttpResponse {
            status,
            headers,
            url: hop.url.clone(),
            body: body.bytes,
            wire_bytes: body.wire_bytes,
            redirects: hop.redirects,
            from_cache: false,
        })
    }

    /// Asks a site, through the same client and under the same rules, what it wants of us.
    async fn obey(&self, robots: &Robots, url: &Url) -> Result<(), NetError> {
        if let Some(file) = robots.known(url) {
            return robots::check(file, url).await;
        }
        let Some(address) = robots::address(url) else { return Ok(()) };
        let limits =
            RequestLimits { max_body_bytes: robots::MAX_FILE_BYTES, ..RequestLimits::default() };
        let request = HttpRequest::get(address).within(limits);
        match Box::pin(self.follow(&request, None)).await {
            Err(error) if robots::is_out_of_reach(&error) => Err(error),
            answer => robots::check(robots.learn(url, answer).await, url).await,
        }
    }
}

enum HopResult {
    /// The answer was there.
    Done(HttpResponse),
    /// An answer that may lead on.
    On(StatusCode, HeaderMap, Incoming),
}

/// True if the body of an answer is read.
fn is_wanted(
    request: &HttpRequest,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<bool, NetError> {
    let choice = request.body_filter.as_ref().map(|filter| filter.choose(status, headers));
    match choice.unwrap_or(BodyAction::Read) {
        BodyAction::Read => Ok(true),
        BodyAction::Skip => Ok(false),
        BodyAction::Refuse => {
            let shown = super::request::content_type(headers).unwrap_or_default();
            let shown: String = shown.chars().take(200).collect();
            let message = format!("content of type `{shown}` is not fetched");
            Err(NetError::new(NetErrorReason::BadType, message))
        }
    }
}

/// An answer that was kept, for this request.
fn kept(request: &HttpRequest, hop: &Hop, entry: CacheEntry) -> Result<HttpResponse, NetError> {
    let status = StatusCode::OK;
    let wanted = is_wanted(request, status, &entry.headers)?;
    if wanted && entry.body.len() > request.limits.max_body_bytes {
        return Err(body::too_large(request.limits.max_body_bytes));
    }
    Ok(HttpResponse {
        status,
        url: hop.url.clone(),
        body: if wanted { entry.body } else { Bytes::new() },
        headers: entry.headers,
        wire_bytes: 0,
        redirects: hop.redirects,
        from_cache: true,
    })
}
