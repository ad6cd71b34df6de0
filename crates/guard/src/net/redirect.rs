//! Redirects, followed by hand.

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, header};
use url::Url;

use super::{HttpRequest, NetError, NetErrorReason, NetRules};

/// Headers that describe a body and go with it.
const OF_THE_BODY: [header::HeaderName; 4] = [
    header::CONTENT_TYPE,
    header::CONTENT_ENCODING,
    header::CONTENT_LANGUAGE,
    header::CONTENT_LOCATION,
];

/// One request of the chain.
#[derive(Debug, Clone)]
pub(super) struct Hop {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// The number of redirects before it.
    pub(super) redirects: usize,
}

impl Hop {
    pub(super) fn first(request: &HttpRequest, url: Url) -> Self {
        Self {
            method: request.method.clone(),
            url,
            headers: request.headers.clone(),
            body: request.body.clone(),
            redirects: 0,
        }
    }

    /// Where an answer leads on; nothing where it is the last one.
    pub(super) fn next(
        &self,
        rules: &NetRules,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Result<Option<Self>, NetError> {
        if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
            return Ok(None);
        }
        let Some(location) = location(headers)? else { return Ok(None) };
        let url = rules.check_redirect(&self.url, &location)?;
        let crosses = url.origin() != self.url.origin();
        let mut next = Self { url, redirects: self.redirects + 1, ..self.clone() };
        let keeps_method = matches!(status.as_u16(), 307 | 308)
            || matches!(self.method, Method::GET | Method::HEAD);
        if !keeps_method {
            next.method = Method::GET;
            next.body = Bytes::new();
            for name in OF_THE_BODY {
                next.headers.remove(name);
            }
        }
        if crosses {
            // What was meant for one site is not handed to another one on its word.
            if !next.body.is_empty() {
                return Ok(None);
            }
            let accept = next.headers.remove(header::ACCEPT);
            next.headers.clear();
            next.headers.extend(accept.map(|accept| (header::ACCEPT, accept)));
        }
        Ok(Some(next))
    }
}

/// Where a redirect leads. An empty text leads nowhere.
pub(super) fn location(headers: &HeaderMap) -> Result<Option<String>, NetError> {
    let mut values = headers.get_all(header::LOCATION).iter();
    let Some(first) = values.next() else { return Ok(None) };
    if values.any(|other| other != first) {
        let message = "a redirect has two different `Location` headers";
        return Err(NetError::new(NetErrorReason::Network, message));
    }
    // Servers mean UTF-8, or the Latin-1 that headers once were.
    let text = match std::str::from_utf8(first.as_bytes()) {
        Ok(text) => text.to_owned(),
        Err(_) => first.as_bytes().iter().map(|byte| char::from(*byte)).collect(),
    };
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}
