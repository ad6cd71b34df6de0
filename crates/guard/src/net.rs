//! The only way out to the network.
//!
//! A [`HttpClient`] fetches what its [`NetRules`] allow and nothing else. A URL is read as a browser reads
//! it, and every hop of a redirect is checked like the first. A name is resolved once, by the code
//! that connects: every address is judged, one that is not public refuses the name, and the
//! connection goes to the very address that was judged. There is no second resolution that could
//! answer something else, and a connection that is kept was made under the same rules.
//!
//! Everything is bounded: time as a whole, time without a byte, redirects, headers, and the body
//! after it is decompressed, while it comes in. There are no cookies, no referrer, no proxy of the
//! environment.
//!
//! [`charset`] and [`sniff`] make text of the bytes that come back. [`ServerTls`] is the other side of encryption: that
//! of a server of ours.
//!
//! ```no_run
//! use guard::net::{HttpClient, HttpRequest, HttpClientSettings};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example() -> Result<(), guard::net::NetError> {
//! let client = HttpClient::new(&HttpClientSettings::default());
//! let response = client.send(HttpRequest::get("https://example.com/"), &CancellationToken::new()).await?;
//! println!("{}: {} bytes", response.url, response.body.len());
//! # Ok(())
//! # }
//! ```

pub mod address;
mod body;
mod cache;
pub mod charset;
mod client;
mod connect;
mod encoding;
mod error;
pub mod event_stream;
mod exchange;
mod name;
mod operator;
mod ports;
mod redirect;
mod request;
mod resolve;
mod robots;
mod rules;
mod server_tls;
mod service;
mod settings;
pub mod sniff;
mod stand_in;
mod stream;
mod tls;

pub use client::HttpClient;
pub use error::{NetError, NetErrorReason, SetupError};
pub use name::{DomainPattern, HostPort};
pub use operator::{base_url_problem, key_variable_problem};
pub use request::{BodyAction, BodyFilter, HttpRequest, HttpResponse, RequestLimits};
pub use resolve::{Addresses, Resolve, SystemResolver};
pub use rules::{DEFAULT_MAX_REDIRECTS, MAX_URL_BYTES, NetRules};
pub use server_tls::{CertificatePair, PairError, ServerTls, ServerTlsStream};
pub use service::{
    ResponseBody, ServiceClient, ServiceHeaders, ServiceRequest, ServiceResponse, ServiceSettings,
};
pub use settings::{HttpClientSettings, USER_AGENT};

// What callers need to speak of requests, so that no other crate has to depend on them.
pub use bytes::Bytes;
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
pub use url::Url;
