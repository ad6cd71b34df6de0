//! `/docs`: the API for people, made from the contracts and without anything from outside.
//!
//! The page is rendered once for each catalogue and reads well without its script; that
//! only adds a filter, copying, and forms that call a tool. [`page`] is the whole, [`tool`] a tool
//! with its [`tables`], [`routes`] everything else that the server answers to. Text of a contract
//! is [`untrusted`], its descriptions are [`markdown`].

mod markdown;
mod page;
mod routes;
mod sample;
pub(crate) mod sign_in;
mod tables;
#[cfg(test)]
mod tests;
mod tool;
mod untrusted;

use std::sync::{Arc, LazyLock};

use axum::{
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header},
    response::Response,
};
use contract::codes;
use serde_json::Value;

use crate::{
    App,
    rest::{documents::Rendered, path::PathName, response, tools::tagged},
};

/// A page made of texts by strangers: should one of them ever get through as markup, it
/// still finds nothing that it may load, run, send to or be framed by.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
     img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
);

/// The page that asks for a token has a form, and nothing else.
const SIGN_IN_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'; \
     form-action 'self'",
);

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");

/// A file that belongs to the page.
struct PageFile {
    name: &'static str,
    kind: HeaderValue,
    content: Rendered,
}

static FILES: LazyLock<[PageFile; 2]> = LazyLock::new(|| {
    [
        PageFile {
            name: "page.css",
            kind: HeaderValue::from_static("text/css; charset=utf-8"),
            content: Rendered::new(concat!(
                include_str!("docs/assets/frame.css"),
                include_str!("docs/assets/parts.css"),
            )),
        },
        PageFile {
            name: "page.js",
            kind: HeaderValue::from_static("text/javascript; charset=utf-8"),
            content: Rendered::new(include_str!("docs/assets/page.js")),
        },
    ]
});

pub(crate) async fn page(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let documents = app.documents();
    let bytes = documents.page(|catalogue| {
        let openapi: Value =
            serde_json::from_slice(&documents.openapi().0.bytes).unwrap_or_default();
        let facts = page::PageFacts {
            version: app.settings.version,
            bearer: !app.settings.tokens.is_empty(),
            ceilings: &app.gate.ceilings(),
            openapi: &openapi,
        };
        page::render(catalogue, &facts)
    });
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    guarded(&Rendered::new(bytes), kind, &headers)
}

pub(crate) async fn file(PathName(name): PathName<String>, headers: HeaderMap) -> Response {
    match FILES.iter().find(|file| file.name == name) {
        Some(file) => guarded(&file.content, file.kind.clone(), &headers),
        None => response::error(codes::NOT_FOUND, "Unknown route.", None),
    }
}

/// The page is where people begin.
pub(crate) async fn root() -> Response {
    sign_in::see_other("docs")
}

/// True for a request that reads a page: a browser's session is enough for it.
pub(crate) fn is_page<B>(request: &Request<B>) -> bool {
    let path = request.uri().path();
    let is_below =
        path.strip_prefix("/docs").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_below && matches!(*request.method(), Method::GET | Method::HEAD)
}

/// The style of the pages.
fn style(headers: &HeaderMap) -> Response {
    let [style, _] = &*FILES;
    guarded(&style.content, style.kind.clone(), headers)
}

/// The content, unless the browser has it, and what a browser must not do with it.
fn guarded(content: &Rendered, kind: HeaderValue, headers: &HeaderMap) -> Response {
    let mut response = tagged(content, headers);
    let head = response.headers_mut();
    if head.contains_key(header::CONTENT_TYPE) {
        head.insert(header::CONTENT_TYPE, kind);
    }
    head.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    // A page of another port may ask with our cookie; it gets nothing to embed.
    head.insert(CROSS_ORIGIN_RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    head.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
