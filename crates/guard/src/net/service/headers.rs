//! The headers of a service's requests.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use url::Url;

use crate::net::{SetupError, USER_AGENT};

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
    pub(super) fn prepare(
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

    pub(super) fn write(&self, into: &mut HeaderMap) {
        into.clone_from(&self.map);
    }

    pub(super) fn origin(&self) -> Uri {
        self.origin.clone()
    }
}

/// True if a caller may say what this header is.
pub(super) fn may_be_set(name: &HeaderName) -> bool {
    !OURS.contains(name)
}
