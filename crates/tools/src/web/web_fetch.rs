//! `web.fetch`: what a page says.

use std::sync::Arc;

use extract::PageFormat;
use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use guard::net::{
    BodyAction, BodyFilter, HeaderMap, HttpClient, HttpRequest, NetError, NetErrorReason,
    RequestLimits, StatusCode, Url,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::{
    content_kind::ContentKind,
    failure,
    fetch_url::last_type,
    page_output::{self, PageRequest},
    redacted_url,
};
use crate::{integer, off_thread, settings::WebFetchSettings};

/// The pages that are read at once for each core; others wait.
const READERS_A_CORE: usize = 1;

pub(crate) struct WebFetch {
    client: HttpClient,
    limits: RequestLimits,
    max_text_chars: usize,
    max_raw_html_chars: usize,
    /// Places for those who read. A page takes many times its size while it is read, and who has
    /// begun goes on to the end, also when nobody waits for it any more.
    readers: Arc<Semaphore>,
}

impl WebFetch {
    pub(crate) fn new(settings: &WebFetchSettings, client: HttpClient) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            client,
            readers: Arc::new(Semaphore::new(cores * READERS_A_CORE)),
            limits: settings.limits(),
            max_text_chars: settings.max_text_chars,
            max_raw_html_chars: settings.max_raw_html_chars,
        }
    }

    async fn fetch(&self, call: &RunningCall) -> Result<ToolOutput, ToolError> {
        let url = call.text("url");
        let wanted = self.wanted(call);
        let request = HttpRequest::get(url).within(self.limits).with_body_filter(judge());
        let response = self.client.send(request, &call.stop).await;
        let response = response.map_err(|error| unfetched(url, &error))?;
        if !response.status.is_success() {
            return Err(bad_status(response.status.as_u16(), &response.url));
        }
        // Reading takes a few milliseconds of a core: not where others are waited for.
        let place = self.readers.clone().acquire_owned().await;
        off_thread(move || {
            let _place = place;
            page_output::answer(&response, wanted)
        })
        .await
    }

    fn wanted(&self, call: &RunningCall) -> PageRequest {
        let number = |name: &str| {
            let given = integer::argument(call, name);
            given.map(|number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        let (start, max_chars) = (number("start"), number("max_chars"));
        let is = |name: &str, value: &Value| call.input.get(name) == Some(value);
        PageRequest {
            raw: is("include_raw_html", &Value::Bool(true)),
            format: if is("format", &json!("markdown")) {
                PageFormat::Markdown
            } else {
                PageFormat::Text
            },
            paged: start.is_some() || max_chars.is_some(),
            start: start.unwrap_or(0),
            max_chars: max_chars.unwrap_or(usize::MAX).min(self.max_text_chars),
            max_raw_html_chars: self.max_raw_html_chars,
            max_output_bytes: call.limits.max_output_bytes,
        }
    }
}

impl Provider for WebFetch {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.fetch(call))
    }

    fn preview<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Option<String>> {
        // As it would be sent, not as it is spelled.
        let url = self.client.check(call.text("url"));
        Box::pin(std::future::ready(url.ok().map(|url| format!("GET {url}"))))
    }
}

/// Only what can be read comes in, and of what failed nothing does.
fn judge() -> BodyFilter {
    BodyFilter::new(|status, headers| {
        if !status.is_success() {
            BodyAction::Skip
        } else if !can_be_read(status, headers) {
            BodyAction::Refuse
        } else {
            BodyAction::Read
        }
    })
}

/// True if the head of an answer promises something to read. Silence about the type does: then the
/// bytes decide.
fn can_be_read(status: StatusCode, headers: &HeaderMap) -> bool {
    let has_no_body = matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT);
    let content_type = last_type(headers);
    has_no_body || content_type.is_empty() || ContentKind::of(&content_type).is_some()
}

fn unfetched(url: &str, error: &NetError) -> ToolError {
    let mut unfetched = match error.reason {
        NetErrorReason::Timeout => ToolError::new("timeout", error.message.clone()),
        NetErrorReason::Cancelled => ToolError::new("cancelled", error.message.clone()),
        _ => ToolError::new("fetch_failed", error.message.clone()),
    };
    unfetched.details =
        Some(json!({ "reason": error.reason.word(), "redirects": error.redirects }));
    unfetched.operator = Some(failure::for_operator(url, error));
    unfetched
}

fn bad_status(status: u16, url: &Url) -> ToolError {
    let mut failure =
        ToolError::new("fetch_failed", format!("the server answered with status {status}"));
    failure.details =
        Some(json!({ "reason": "http_status", "status": status, "url": redacted_url::page(url) }));
    failure
}
