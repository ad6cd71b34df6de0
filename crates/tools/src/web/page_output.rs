//! The answer of `web.fetch`, made of a page that came.

use extract::{ExtractedPage, PageFormat};
use gate::{ToolError, ToolOutput};
use guard::net::{HttpResponse, charset, sniff};
use serde_json::{Map, Value, json};

use super::{
    content_kind::{self, ContentKind},
    page_text, redacted_url,
};
use crate::json_size::{escaped_bytes, printed};

/// The most that `next_start` takes in an answer, in bytes.
const NEXT_START_BYTES: u64 = 40;

/// The parts of a page that the caller asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageRequest {
    pub(super) raw: bool,
    pub(super) format: PageFormat,
    pub(super) paged: bool,
    pub(super) start: usize,
    pub(super) max_chars: usize,
    pub(super) max_raw_html_chars: usize,
    pub(super) max_output_bytes: u64,
}

/// Reads the page. It takes a few milliseconds of a core.
pub(super) fn answer(
    response: &HttpResponse,
    wanted: PageRequest,
) -> Result<ToolOutput, ToolError> {
    let content_type = response.content_type().filter(|named| !named.is_empty());
    let content_type =
        content_type.unwrap_or_else(|| content_kind::sniffed(&response.body).to_owned());
    // What has no body has no text either, whatever its type is.
    let kind = ContentKind::of(&content_type).unwrap_or(ContentKind::Text);
    if let Some(what) = sniff::looks_binary(&response.body, Some(&content_type)) {
        return Err(failed("bad_type", &format!("the content is {what}")));
    }
    let spelled = charset::TextFormat::of(Some(&content_type));
    let content = charset::decode(&response.body, Some(&content_type), spelled);
    let page = page_text::read(kind, &content, &response.url, wanted.format);
    let mut answer = ToolOutput::new(Value::Object(result(response, &page, &content, wanted)?));
    answer.summary = Some(format!("Read {}.", redacted_url::page(&response.url)));
    answer.metrics.insert("bytes".into(), json!(response.body.len()));
    answer.metrics.insert("redirects".into(), json!(response.redirects));
    Ok(answer)
}

fn result(
    response: &HttpResponse,
    page: &ExtractedPage,
    content: &str,
    wanted: PageRequest,
) -> Result<Map<String, Value>, ToolError> {
    let mut result = Map::new();
    result.insert("final_url".into(), json!(response.url.as_str()));
    result.insert("title".into(), json!(page.title));
    result.insert("byline".into(), json!(page.byline));
    result.insert("published_at".into(), json!(page.published_at));
    result.insert("lang".into(), json!(page.lang));
    result.insert("clean_text".into(), json!(""));
    if wanted.raw {
        let raw: String = content.chars().take(wanted.max_raw_html_chars).collect();
        result.insert("raw_html".into(), Value::String(raw));
    }
    // The text takes the room that is left, and says where it goes on.
    let around = printed(&result).unwrap_or(u64::MAX).saturating_add(NEXT_START_BYTES);
    let room = wanted.max_output_bytes.saturating_sub(around);
    let (part, next) = part(&page.text, wanted.start, wanted.max_chars, room);
    if part.is_empty() {
        return Err(nothing(&page.text, wanted));
    }
    result.insert("clean_text".into(), Value::String(part));
    if wanted.paged || next.is_some() {
        result.insert("next_start".into(), json!(next));
    }
    Ok(result)
}

/// A part of a text, within so many characters and so many bytes of JSON, and where the next one
/// begins.
fn part(text: &str, start: usize, max_chars: usize, max_bytes: u64) -> (String, Option<usize>) {
    let mut bytes = 0;
    let fits = |one: &char| {
        bytes += one.encode_utf8(&mut [0; 4]).bytes().map(escaped_bytes).sum::<u64>();
        bytes <= max_bytes
    };
    let mut end = start;
    let part = text.chars().skip(start).take(max_chars).take_while(fits);
    let part: String = part.inspect(|_| end += 1).collect();
    let more = text.chars().nth(end).is_some() && !part.is_empty();
    (part, more.then_some(end))
}

/// The error where there is no text to return.
fn nothing(text: &str, wanted: PageRequest) -> ToolError {
    let length = text.chars().count();
    if wanted.start < length {
        let limit = wanted.max_output_bytes;
        let message = format!("{limit} bytes (max_output_bytes) leave no room for any text");
        return failed("too_large", &message);
    }
    let message = if text.is_empty() {
        "the page has no text".to_owned()
    } else {
        format!("the text ends before `start`: it has {length} characters")
    };
    ToolError::new("parse_failed", message)
}

fn failed(reason: &str, message: &str) -> ToolError {
    let mut failure = ToolError::new("fetch_failed", message);
    failure.details = Some(json!({ "reason": reason }));
    failure
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn a_part_ends_where_a_limit_is_reached() {
        let text = "aé\"\n𝄞b";
        for (start, max_chars, max_bytes, expected) in [
            (0, 99, 99, (text, None)),
            (0, 2, 99, ("aé", Some(2))),
            (2, 99, 4, ("\"\n", Some(4))),
            (2, 99, 7, ("\"\n", Some(4))),
            (4, 99, 4, ("𝄞", Some(5))),
            (5, 99, 1, ("b", None)),
            (5, 99, 0, ("", None)),
            (6, 99, 99, ("", None)),
            (usize::MAX, usize::MAX, u64::MAX, ("", None)),
        ] {
            let got = part(text, start, max_chars, max_bytes);
            assert_eq!((got.0.as_str(), got.1), expected, "{start} {max_chars} {max_bytes}");
        }
    }
}
