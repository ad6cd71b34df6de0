//! The toolset `web-fetch`: what an agent may have of the web.
//!
//! One file for each tool. All of them go out through `guard::net`.

mod failure;
mod fetch_url;
mod kind;
mod page;
mod place;
mod reading;
mod types;
mod web_fetch;

pub(crate) use fetch_url::FetchUrl;
pub(crate) use web_fetch::WebFetch;
