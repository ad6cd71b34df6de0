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
mod tables;
#[cfg(test)]
mod tests;
mod tool;
mod untrusted;

use std::sync::{Arc, LazyLock};

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
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

/// The content, unless the browser has it, and what a browser must not do with it.
fn guarded(content: &Rendered, kind: HeaderValue, headers: &HeaderMap) -> Response {
    let mut response = tagged(content, headers);
    let head = response.headers_mut();
    if head.contains_key(header::CONTENT_TYPE) {
        head.insert(header::CONTENT_TYPE, kind);
    }
    head.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    head.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
