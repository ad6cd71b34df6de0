//! `/v1/jobs/{id}/artifacts`: the files that a job left.

use std::{ops::Range, sync::Arc};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, Method, StatusCode, header},
    response::Response,
};
use contract::codes;
use gate::Artifact;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use tokio_util::io::ReaderStream;

use crate::{
    App,
    rest::{
        jobs,
        path::PathName,
        response::{self, ErrorResponse},
        tools::matches_tag,
    },
};

/// The part of a file that is read at a time, in bytes.
const CHUNK_BYTES: usize = 64 * 1_024;

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    PathName(id): PathName<String>,
) -> Result<Response, ErrorResponse> {
    let job = jobs::find(&app, &id).await?;
    Ok(response::json(200, &json!({ "job_id": job.id, "files": job.artifacts })))
}

pub(crate) async fn download(
    State(app): State<Arc<App>>,
    PathName((id, name)): PathName<(String, String)>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, ErrorResponse> {
    let job = jobs::find(&app, &id).await?;
    // Only what the job lists is served, whatever else lies in its folder.
    let Some(artifact) = job.artifacts.iter().find(|artifact| artifact.name == name) else {
        return Err(missing(&name));
    };
    let etag = format!("\"{}-{}\"", job.id, artifact.bytes);
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    if known.is_some_and(|tags| matches_tag(tags, &etag)) {
        let mut response = Response::default();
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response::set(&mut response, header::ETAG, &etag);
        return Ok(response);
    }
    // A part is asked for by GET, and only of the artifact that the client has the rest of.
    let same = headers.get(header::IF_RANGE).is_none_or(|tag| tag.as_bytes() == etag.as_bytes());
    let range = match wanted(&headers, artifact.bytes) {
        Ok(range) => range.filter(|_| method == Method::GET && same),
        Err(UnsatisfiableRange) if method == Method::GET && same => {
            return Ok(outside(artifact.bytes));
        }
        Err(UnsatisfiableRange) => None,
    };
    let part = range.clone().unwrap_or(0..artifact.bytes);
    let length = part.end - part.start;
    let body = if method == Method::HEAD {
        Body::empty()
    } else {
        let reader = app.gate.blobs().read(&job.id, &name, part.start, length).await;
        let reader = reader.map_err(|error| gate::StoreError::Other(error.to_string()))?;
        let reader = reader.ok_or_else(|| missing(&name))?;
        Body::from_stream(ReaderStream::with_capacity(reader, CHUNK_BYTES))
    };
    let mut response = Response::new(body);
    describe(&mut response, artifact, &etag, length);
    if let Some(range) = range {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        let text = format!("bytes {}-{}/{}", range.start, range.end - 1, artifact.bytes);
        response::set(&mut response, header::CONTENT_RANGE, &text);
    }
    Ok(response)
}

/// The head of an artifact: what it is, and that a browser must not guess or run it.
fn describe(response: &mut Response, artifact: &Artifact, etag: &str, length: u64) {
    let encoded = utf8_percent_encode(&artifact.name, NON_ALPHANUMERIC);
    let plain: String = artifact
        .name
        .chars()
        .map(|one| if one.is_ascii_graphic() && !"\"\\%".contains(one) { one } else { '_' })
        .collect();
    let disposition = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}");
    response::set(response, header::CONTENT_TYPE, &artifact.mime_type);
    response::set(response, header::CONTENT_LENGTH, &length.to_string());
    response::set(response, header::CONTENT_DISPOSITION, &disposition);
    response::set(response, header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'");
    response::set(response, header::ACCEPT_RANGES, "bytes");
    response::set(response, header::ETAG, etag);
}

struct UnsatisfiableRange;

/// The one range that is asked for. What cannot be understood is not asked for, as
/// RFC 9110 has it, and so are several ranges at once.
fn wanted(headers: &HeaderMap, bytes: u64) -> Result<Option<Range<u64>>, UnsatisfiableRange> {
    let asked = headers
        .get(header::RANGE)
        .and_then(|value| value.to_str().ok()?.strip_prefix("bytes="))
        .and_then(|range| range.split_once('-'));
    let Some((first, last)) = asked else { return Ok(None) };
    // Digits alone: Rust would take a sign as well.
    let number = |text: &str| {
        let digits = text.trim();
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u64>().ok())?
    };
    let range = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(bytes),
        (Some(first), None) if last.trim().is_empty() => first..bytes,
        (None, Some(suffix)) if first.trim().is_empty() => bytes.saturating_sub(suffix)..bytes,
        _ => return Ok(None),
    };
    if range.start < range.end { Ok(Some(range)) } else { Err(UnsatisfiableRange) }
}

fn outside(bytes: u64) -> Response {
    let mut response = response::error(
        codes::RANGE_NOT_SATISFIABLE,
        "The range lies outside the artifact.",
        Some(json!({ "bytes": bytes })),
    );
    response::set(&mut response, header::CONTENT_RANGE, &format!("bytes */{bytes}"));
    response
}

fn missing(name: &str) -> ErrorResponse {
    let shown: String = name.chars().take(255).collect();
    response::error(codes::NOT_FOUND, "Artifact not found.", Some(json!({ "name": shown }))).into()
}
