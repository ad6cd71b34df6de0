//! A folder that stands in for the network, for trying tools out without one.
//!
//! A request to `https://example.com/a/page.html` is answered with the file `example.com/a/page.html`
//! below the folder, and with 404 where there is none. Everything but the socket is real: the rules,
//! the client's own HTTP, the limits.

use std::{
    convert::Infallible,
    path::{Component, Path, PathBuf},
};

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::io::DuplexStream;

/// The part of an answer that lies between the two sides, in bytes.
const PIPE_BYTES: usize = 65_536;

/// A connection to a host of the folder.
pub(super) fn connect(folder: &Path, host: &str) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    let folder = folder.join(host);
    let answer = service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let file = file(&folder, request.uri().path());
        async move { Ok::<_, Infallible>(answer(file).await) }
    });
    // It ends when the client's side is dropped.
    let mut server = http1::Builder::new();
    server.auto_date_header(false);
    tokio::spawn(server.serve_connection(TokioIo::new(theirs), answer));
    ours
}

/// The file of a path, if the path stays in the folder.
fn file(folder: &Path, path: &str) -> Option<PathBuf> {
    let path = path.strip_prefix('/')?;
    let path = if path.is_empty() { "index.html" } else { path };
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    Path::new(path).components().all(plain).then(|| folder.join(path))
}

async fn answer(file: Option<PathBuf>) -> Response<Full<Bytes>> {
    let read = match &file {
        Some(file) => tokio::fs::read(file).await.ok(),
        None => None,
    };
    let Some(bytes) = read else {
        let mut missing = Response::new(Full::new(Bytes::from_static(b"not found")));
        *missing.status_mut() = StatusCode::NOT_FOUND;
        return missing;
    };
    let content_type = content_type(file.as_deref().and_then(Path::extension), &bytes);
    let mut found = Response::new(Full::new(Bytes::from(bytes)));
    found.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    found
}

fn content_type(extension: Option<&std::ffi::OsStr>, bytes: &[u8]) -> &'static str {
    match extension.and_then(std::ffi::OsStr::to_str) {
        Some("txt") => "text/plain; charset=utf-8",
        Some("md") => "text/markdown; charset=utf-8",
        Some("json") => "application/json",
        Some("xml") => "application/xml",
        Some("bin") => "application/octet-stream",
        None if matches!(bytes.first(), Some(b'{' | b'[')) => "application/json",
        _ => "text/html; charset=utf-8",
    }
}
