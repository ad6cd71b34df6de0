//! `fetch_url`: a page as it is.

use std::collections::BTreeMap;

use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use guard::net::{
    BodyAction, BodyFilter, HeaderMap, HttpClient, HttpRequest, HttpResponse, RequestLimits,
    charset::{self, TextFormat},
    sniff,
};
use serde_json::{Map, Value, json};

use super::{failure, redacted_url, refused_types::RefusedTypes};
use crate::{json_size::json_bytes, off_thread, settings::WebFetchSettings};

/// A body above this many bytes is made into text where nobody else has to wait for it.
const LARGE_BYTES: usize = 65_536;

pub(crate) struct FetchUrl {
    client: HttpClient,
    limits: RequestLimits,
    max_bytes: u64,
    judge: BodyFilter,
}

impl FetchUrl {
    pub(crate) fn new(settings: &WebFetchSettings, client: HttpClient) -> Self {
        let refused = RefusedTypes::new(&settings.refused_types);
        let judge = BodyFilter::new(move |status, headers| {
            if !status.is_success() {
                BodyAction::Skip
            } else if refused.refuse(&last_type(headers)) {
                BodyAction::Refuse
            } else {
                BodyAction::Read
            }
        });
        Self { client, limits: settings.limits(), max_bytes: settings.max_bytes, judge }
    }

    async fn fetch(&self, call: &RunningCall) -> Result<ToolOutput, ToolError> {
        let url = call.text("url");
        let request =
            HttpRequest::get(url).within(self.limits).with_body_filter(self.judge.clone());
        let response = self.client.send(request, &call.stop).await;
        let response = response.map_err(|error| failure::fetching(url, &error, self.max_bytes))?;
        if !response.status.is_success() {
            return Err(failure::status(response.status.as_u16(), &response.url));
        }
        let max_output_bytes = call.limits.max_output_bytes;
        if response.body.len() <= LARGE_BYTES {
            return answer(response, max_output_bytes);
        }
        off_thread(move || answer(response, max_output_bytes)).await
    }
}

impl Provider for FetchUrl {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.fetch(call))
    }

    fn preview<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Option<String>> {
        // As it would be sent, not as it is spelled.
        let url = self.client.check(call.text("url"));
        Box::pin(std::future::ready(url.ok().map(|url| format!("GET {url}"))))
    }
}

fn answer(response: HttpResponse, max_output_bytes: u64) -> Result<ToolOutput, ToolError> {
    let content_type = response.content_type();
    if let Some(what) = sniff::looks_binary(&response.body, content_type.as_deref()) {
        return Err(failure::bad_type(&format!("the content is {what}")));
    }
    let kind = TextFormat::of(content_type.as_deref());
    let bytes = response.body.len();
    let content = charset::decode_owned(response.body, content_type.as_deref(), kind);
    if json_bytes(&content, max_output_bytes) > max_output_bytes {
        return Err(failure::too_large(max_output_bytes));
    }
    let summary = format!("Fetched {} ({bytes} bytes).", redacted_url::page(&response.url));
    // The text is moved, not copied: it may be large.
    let mut result = Map::new();
    result.insert("ok".into(), Value::Bool(true));
    result.insert("status".into(), json!(response.status.as_u16()));
    result.insert("headers".into(), json!(joined(&response.headers)));
    result.insert("content".into(), Value::String(content));
    result.insert("content_type".into(), json!(content_type.unwrap_or_default()));
    result.insert("bytes".into(), json!(bytes));
    let mut answer = ToolOutput::new(Value::Object(result));
    answer.summary = Some(summary);
    answer.metrics.insert("bytes".into(), json!(bytes));
    answer.metrics.insert("wire_bytes".into(), json!(response.wire_bytes));
    answer.metrics.insert("redirects".into(), json!(response.redirects));
    Ok(answer)
}

/// The headers as a map; values of one name are joined, as RFC 9110 has it.
fn joined(headers: &HeaderMap) -> BTreeMap<&str, String> {
    let mut map: BTreeMap<&str, String> = BTreeMap::new();
    for (name, value) in headers {
        let value = latin1(value.as_bytes());
        map.entry(name.as_str())
            .and_modify(|before| {
                before.push_str(", ");
                before.push_str(&value);
            })
            .or_insert(value);
    }
    map
}

/// The text of a header: UTF-8 where it is that, else the Latin-1 that headers once were.
fn latin1(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// The type that an answer says it has.
pub(super) fn last_type(headers: &HeaderMap) -> String {
    let last = headers.get_all(guard::net::header::CONTENT_TYPE).iter().next_back();
    last.map(|value| latin1(value.as_bytes())).unwrap_or_default()
}
