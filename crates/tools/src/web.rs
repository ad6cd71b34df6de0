//! The toolset `web-fetch`: what an agent may have of the web.
//!
//! One file for each tool. All of them go out through `guard::net`.

mod content_kind;
mod failure;
mod fetch_url;
mod page_output;
mod page_text;
mod redacted_url;
mod refused_types;
mod web_fetch;

pub(crate) use fetch_url::FetchUrl;
pub(crate) use web_fetch::WebFetch;
