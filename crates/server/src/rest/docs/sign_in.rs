//! A browser without a token: a page that asks for one, and the session that it gets for it.
//!
//! The token comes once, in the body of a form, and is not kept. What the browser is given instead reads the pages
//! below `/docs` ([`crate::http::page_session`]).

use std::borrow::Cow;

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Method, Request, header, request::Parts},
    response::Response,
};
use maud::{DOCTYPE, html};
use percent_encoding::percent_decode;
use sha2::{Digest, Sha256};

use super::{SIGN_IN_POLICY, page, style};
use crate::{
    App,
    http::{body, identity, page_session::SESSION_LIFETIME},
    rest::response,
};

/// The route of the form.
const PATH: &str = "/docs/session";
/// The largest form, in bytes.
const MAX_FORM_BYTES: usize = 8_192;

/// The answer to a request without a token for a page, or for what leads to one. Any other request is given back.
pub(crate) async fn answer(
    app: &App,
    request: Request<Body>,
) -> Result<Response, Box<Request<Body>>> {
    let (method, path, headers) = (request.method(), request.uri().path(), request.headers());
    if headers.contains_key(header::AUTHORIZATION) {
        return Err(Box::new(request));
    }
    if *method == Method::POST && path == PATH {
        let (head, body) = request.into_parts();
        return Ok(sign_in(app, &head, body).await);
    }
    if *method != Method::GET {
        return Err(Box::new(request));
    }
    match path {
        // It says nothing about this server.
        "/docs/page.css" => Ok(style(headers)),
        _ if !wants_page(headers) => Err(Box::new(request)),
        "/" => Ok(see_other("docs")),
        "/docs" => Ok(form("docs/", None)),
        // A session does not reach up there.
        "/openapi.json" => Ok(see_other("docs/openapi.json")),
        "/openapi.yaml" => Ok(see_other("docs/openapi.yaml")),
        _ if path.starts_with("/docs/") => Ok(see_other("../docs")),
        _ => Err(Box::new(request)),
    }
}

/// True if a person looks at the answer.
fn wants_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("text/html")
    })
}

/// Another address, relative to that of the request: the server may lie below a path.
pub(super) fn see_other(location: &'static str) -> Response {
    let mut response = body::response(303, HeaderValue::from_static("text/plain"), "");
    let head = response.headers_mut();
    head.insert(header::LOCATION, HeaderValue::from_static(location));
    head.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Starts a session for whoever sends a token. Where the form comes from was judged before.
async fn sign_in(app: &App, head: &Parts, body: Body) -> Response {
    let settings = &app.settings;
    let form_body = body::read(&head.headers, body, MAX_FORM_BYTES, settings.body_timeout).await;
    let bytes = match form_body {
        Ok(bytes) => bytes,
        Err(error) => return response::failure(&error.into_failure(MAX_FORM_BYTES)),
    };
    let Some(token) = field(&bytes, "token") else {
        return form("", Some("Enter a token."));
    };
    let shown = Sha256::digest(token.trim().as_bytes()).into();
    if identity::is_operator(settings, &shown) {
        return form(
            "",
            Some(
                "This is the token of the operator, which does not belong in a browser. Use that of a caller.",
            ),
        );
    }
    let Some(token) = identity::known_token(settings, &shown) else {
        return form("", Some("No caller has this token."));
    };
    let cookie = app.pages.cookie(token, app.gate.clock().now(), settings.tls.is_some());
    let mut response = see_other("../docs");
    response::set(&mut response, header::SET_COOKIE, &cookie);
    response
}

/// A field of a form that is not empty.
fn field(form: &[u8], name: &str) -> Option<String> {
    let text = std::str::from_utf8(form).ok()?;
    let mut pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(key, _)| *key == name)?;
    let value = value.replace('+', " ");
    let value: Cow<str> = percent_decode(value.as_bytes()).decode_utf8().ok()?;
    Some(value.into_owned()).filter(|value| !value.trim().is_empty())
}

/// The page that asks for a token. `base` leads from where it is shown to the folder of the pages.
fn form(base: &str, trouble: Option<&str>) -> Response {
    let hours = SESSION_LIFETIME.as_secs() / 3_600;
    let form = html! {
        (DOCTYPE)
        html lang="en" {
            head { (page::head(base, "Toolgate: token needed")) }
            body {
                header.top { h1 { "Toolgate" } }
                main #content {
                    section {
                        h2 { "This server needs a token" }
                        @if let Some(trouble) = trouble { p.status.bad role="alert" { (trouble) } }
                        form method="post" action={ (base) "session" } {
                            p.bar {
                                label for="token" { "Token of a caller" } " "
                                input #token name="token" type="password" autocomplete="off" required autofocus;
                                " " button { "Open the documents" }
                            }
                        }
                        p.note {
                            "It opens the documents of this server in this browser for " (hours)
                            " hours, and is not kept. Programs send it with every request: "
                            code { "Authorization: Bearer …" } "."
                        }
                    }
                }
            }
        }
    };
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    let mut response = body::response(401, kind, form.into_string());
    let head = response.headers_mut();
    head.insert(header::CONTENT_SECURITY_POLICY, SIGN_IN_POLICY);
    head.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    identity::ask_for_token(&mut response);
    response
}
