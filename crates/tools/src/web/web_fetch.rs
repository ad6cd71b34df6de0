//! `web.fetch`: what a page says.

use std::{fmt::Display, sync::Arc};

use extract::Format;
use gate::{Answer, BoxFuture, Provider, Running, ToolError};
use guard::net::{
    Choice, Client, HeaderMap, Judge, Limits, NetError, Reason, Request, Response, StatusCode, Url,
    charset, sniff,
};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use super::{
    failure,
    fetch_url::last_type,
    kind::{self, Kind},
    place,
    reading::{self, Reading},
};
use crate::{settings::WebFetch as Settings, whole::whole};

/// How many pages are read at once for each core; others wait for their turn.
const READERS_A_CORE: usize = 1;

pub(crate) struct WebFetch {
    client: Client,
    limits: Limits,
    max_text_chars: usize,
    max_raw_html_chars: usize,
    /// Places for those who read. A page takes many times its size while it is read, and who has
    /// begun goes on to the end, also when nobody waits for it any more.
    readers: Arc<Semaphore>,
}

/// What the caller wants of a page.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    raw: bool,
    format: Format,
    paged: bool,
    start: usize,
    max_chars: usize,
    max_raw_html_chars: usize,
}

impl WebFetch {
    pub(crate) fn new(settings: &Settings, client: Client) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            client,
            readers: Arc::new(Semaphore::new(cores * READERS_A_CORE)),
            limits: settings.limits(),
            max_text_chars: settings.max_text_chars,
            max_raw_html_chars: settings.max_raw_html_chars,
        }
    }

    async fn fetch(&self, call: &Running) -> Result<Answer, ToolError> {
        let url = call.text("url");
        let wanted = self.wanted(call);
        let request = Request::get(url).within(self.limits).judged(judge());
        let response = self.client.send(request, &call.stop).await;
        let response = response.map_err(|error| unfetched(url, &error))?;
        if !response.status.is_success() {
            return Err(bad_status(response.status.as_u16(), &response.url));
        }
        // Reading takes a few milliseconds of a core: not where others are waited for.
        let failed =
            |error: &dyn Display| ToolError::internal("the tool failed", error.to_string());
        let place = self.readers.clone().acquire_owned().await.map_err(|error| failed(&error))?;
        let read = tokio::task::spawn_blocking(move || {
            let answer = answer(&response, wanted);
            drop(place);
            answer
        });
        read.await.unwrap_or_else(|error| Err(failed(&error)))
    }

    fn wanted(&self, call: &Running) -> Wanted {
        let number = |name: &str| {
            let given = call.input.get(name).and_then(whole);
            given.map(|number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        let (start, max_chars) = (number("start"), number("max_chars"));
        let is = |name: &str, value: &Value| call.input.get(name) == Some(value);
        Wanted {
            raw: is("include_raw_html", &Value::Bool(true)),
            format: if is("format", &json!("markdown")) { Format::Markdown } else { Format::Text },
            paged: start.is_some() || max_chars.is_some(),
            start: start.unwrap_or(0),
            max_chars: max_chars.unwrap_or(usize::MAX).min(self.max_text_chars),
            max_raw_html_chars: self.max_raw_html_chars,
        }
    }
}

impl Provider for WebFetch {
    fn run<'a>(&'a self, call: &'a Running) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(self.fetch(call))
    }

    fn preview<'a>(&'a self, call: &'a Running) -> BoxFuture<'a, Option<String>> {
        // As it would be sent, not as it is spelled.
        let url = self.client.check(call.text("url"));
        Box::pin(std::future::ready(url.ok().map(|url| format!("GET {url}"))))
    }
}

/// Only what can be read comes in, and of what failed nothing does.
fn judge() -> Judge {
    Judge::new(|status, headers| {
        if !status.is_success() {
            Choice::Skip
        } else if !can_be_read(status, headers) {
            Choice::Refuse
        } else {
            Choice::Read
        }
    })
}

/// Whether the head of an answer promises something to read. Silence about the type does: then the
/// bytes decide.
fn can_be_read(status: StatusCode, headers: &HeaderMap) -> bool {
    let has_no_body = matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT);
    let content_type = last_type(headers);
    has_no_body || content_type.is_empty() || Kind::of(&content_type).is_some()
}

fn answer(response: &Response, wanted: Wanted) -> Result<Answer, ToolError> {
    let content_type = response.content_type().unwrap_or_default();
    let content_type = if content_type.is_empty() {
        kind::sniffed(&response.body).to_owned()
    } else {
        content_type
    };
    // What has no body has no text either, whatever its type is.
    let kind = Kind::of(&content_type).unwrap_or(Kind::Text);
    if let Some(what) = sniff::looks_binary(&response.body, Some(&content_type)) {
        return Err(failed("bad_type", &format!("the content is {what}")));
    }
    let spelled = charset::Kind::of(Some(&content_type));
    let content = charset::decode(&response.body, Some(&content_type), spelled);
    let reading = reading::read(kind, &content, &response.url, wanted.format);
    let (part, next) = part(&reading.text, wanted.start, wanted.max_chars);
    if part.is_empty() {
        let message = if reading.text.is_empty() {
            "the page has no text".to_owned()
        } else {
            let length = reading.text.chars().count();
            format!("the text ends before `start`: it has {length} characters")
        };
        return Err(ToolError::new("parse_failed", message));
    }
    let mut answer = Answer::new(result(response, &reading, part, next, &content, wanted));
    answer.summary = Some(format!("Read {}.", place::page(&response.url)));
    answer.metrics.insert("bytes".into(), json!(response.body.len()));
    answer.metrics.insert("redirects".into(), json!(response.redirects));
    Ok(answer)
}

fn result(
    response: &Response,
    reading: &Reading,
    part: String,
    next: Option<usize>,
    content: &str,
    wanted: Wanted,
) -> Value {
    let mut result = Map::new();
    result.insert("final_url".into(), json!(response.url.as_str()));
    result.insert("title".into(), json!(reading.title));
    result.insert("byline".into(), json!(reading.byline));
    result.insert("published_at".into(), json!(reading.published_at));
    result.insert("lang".into(), json!(reading.lang));
    result.insert("clean_text".into(), Value::String(part));
    if wanted.raw {
        let raw: String = content.chars().take(wanted.max_raw_html_chars).collect();
        result.insert("raw_html".into(), Value::String(raw));
    }
    if wanted.paged || next.is_some() {
        result.insert("next_start".into(), json!(next));
    }
    Value::Object(result)
}

/// A part of a text, and where the next one begins.
fn part(text: &str, start: usize, max_chars: usize) -> (String, Option<usize>) {
    let part: String = text.chars().skip(start).take(max_chars).collect();
    let end = start.saturating_add(part.chars().count());
    let more = text.chars().nth(end).is_some() && !part.is_empty();
    (part, more.then_some(end))
}

fn unfetched(url: &str, error: &NetError) -> ToolError {
    let mut unfetched = match error.reason {
        Reason::Timeout => ToolError::new("timeout", error.message.clone()),
        Reason::Cancelled => ToolError::new("cancelled", error.message.clone()),
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
        Some(json!({ "reason": "http_status", "status": status, "url": place::page(url) }));
    failure
}

fn failed(reason: &str, message: &str) -> ToolError {
    let mut failure = ToolError::new("fetch_failed", message);
    failure.details = Some(json!({ "reason": reason }));
    failure
}
