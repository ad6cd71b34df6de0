//! The identity of a request, before a route is looked for: its id, where it comes from, and who
//! sent it.

use std::{
    net::{Ipv4Addr, Ipv6Addr},
    sync::Arc,
};

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, Version, header},
    response::Response,
};
use contract::codes;
use gate::{Caller, Failure, RequestId};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::{
    App, ServerSettings, ServerToken, mcp,
    rest::{call, docs, execute, response},
};

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The caller name of the operator in the journal.
pub const OPERATOR: &str = "operator";

/// The sender and the id of a request.
#[derive(Debug, Clone)]
pub(crate) struct RequestContext {
    pub caller: Caller,
    /// True if it showed the operator's credential.
    pub operator: bool,
    pub request_id: RequestId,
}

/// A request whose sender was not accepted.
#[derive(Debug, Clone)]
pub(crate) struct RejectedRequest {
    pub request_id: RequestId,
    pub failure: Failure,
}

/// Answers a request. One that is rejected never reaches `routes`: the router `refusals` has the
/// same paths and answers in the shape of the route.
pub(crate) async fn handle(
    app: &Arc<App>,
    routes: &Router,
    refusals: &Router,
    mut request: Request<Body>,
    identified: Result<(Caller, bool), Failure>,
) -> Response {
    let request_id = request_id(app, &request);
    let response = match identified {
        Ok((caller, operator)) => {
            let request_id = request_id.clone();
            let context = RequestContext { caller, operator, request_id };
            // What most requests are takes no detour.
            match frequent_route(&request) {
                Some(FrequentRoute::Mcp) => {
                    Box::pin(mcp::http::receive(app.clone(), context, request)).await
                }
                Some(FrequentRoute::Execute) => {
                    Box::pin(execute::answer(app, context, request)).await
                }
                Some(FrequentRoute::Call(name)) => {
                    Box::pin(call::answer(app, context, name, request)).await
                }
                None => {
                    request.extensions_mut().insert(context);
                    route(routes.clone(), request).await
                }
            }
        }
        Err(failure) => refused(app, refusals, request, request_id.clone(), failure).await,
    };
    completed(app, response, &request_id)
}

/// Refuses a request for which there is no place, in the shape of its route.
pub(crate) async fn refuse(
    app: &App,
    refusals: &Router,
    request: Request<Body>,
    failure: Failure,
) -> Response {
    let request_id = request_id(app, &request);
    let response = refused(app, refusals, request, request_id.clone(), failure).await;
    completed(app, response, &request_id)
}

fn request_id(app: &App, request: &Request<Body>) -> RequestId {
    let request_id = RequestId::new(app.gate.clock().now());
    match request.headers().get(X_REQUEST_ID).and_then(|name| name.to_str().ok()) {
        Some(name) => request_id.called(name),
        None => request_id,
    }
}

async fn refused(
    app: &App,
    refusals: &Router,
    mut request: Request<Body>,
    request_id: RequestId,
    failure: Failure,
) -> Response {
    let unauthorized = failure.http_status == codes::UNAUTHORIZED.http_status;
    let retry_after = failure.retry_after;
    if unauthorized {
        match Box::pin(docs::sign_in::answer(app, request)).await {
            Ok(response) => return response,
            Err(other) => request = *other,
        }
    }
    request.extensions_mut().insert(RejectedRequest { request_id, failure });
    let mut response = route(refusals.clone(), request).await;
    response::retry_after(&mut response, retry_after);
    if unauthorized {
        ask_for_token(&mut response);
    }
    response
}

/// The response with the headers that every one has.
fn completed(app: &App, mut response: Response, request_id: &RequestId) -> Response {
    if let Ok(value) = HeaderValue::from_str(request_id.for_caller()) {
        response.headers_mut().insert(X_REQUEST_ID, value);
    }
    // No browser is to take a response for another type than it says.
    response
        .headers_mut()
        .insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if app.gate.is_stopping() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

async fn route(router: Router, request: Request<Body>) -> Response {
    match TowerToHyperService::new(router).call(request).await {
        Ok(response) => response,
        Err(impossible) => match impossible {},
    }
}

/// A route that calls a tool. The router has it as well, for requests of other methods.
enum FrequentRoute {
    Mcp,
    Execute,
    /// A tool or a toolset of this name.
    Call(String),
}

fn frequent_route(request: &Request<Body>) -> Option<FrequentRoute> {
    if request.method() != Method::POST {
        return None;
    }
    let path = request.uri().path();
    if path == execute::PATH {
        return Some(FrequentRoute::Execute);
    }
    if let Some(name) = call::name_in(path) {
        return Some(FrequentRoute::Call(name.to_owned()));
    }
    let rest = path.strip_prefix(mcp::http::PATH)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(FrequentRoute::Mcp)
}

/// The sender of the request, and whether it is the operator.
pub(crate) fn identify<B>(app: &App, request: &Request<B>) -> Result<(Caller, bool), Failure> {
    let (settings, headers) = (&app.settings, request.headers());
    let host = check_host(settings, headers, request.version())?;
    check_target(request.uri(), host)?;
    check_origin(settings, headers, host)?;
    let shown = shown_token(headers)?;
    if shown.is_some_and(|shown| is_operator(settings, &shown)) {
        return Ok((Caller::named(OPERATOR), true));
    }
    if settings.tokens.is_empty() || is_health_check(request.uri().path()) {
        return Ok((Caller::local(), false));
    }
    let token = match shown {
        None if docs::is_page(request) => {
            app.pages.token(headers, &settings.tokens, app.gate.clock().now())
        }
        None => None,
        Some(shown) => known_token(settings, &shown),
    };
    token.map(|token| (Caller::named(&token.name), false)).ok_or_else(|| {
        let message = match shown {
            None => "a bearer token is required",
            Some(_) => "the bearer token is not known",
        };
        Failure::new(codes::UNAUTHORIZED, message)
    })
}

/// True for the routes that are answered also when there is no place, and to anybody.
pub(crate) fn is_health_check(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

/// A page that has its name point at this machine (DNS rebinding) still sends that name:
/// only addresses, `localhost` and the names that the operator lists are answered.
fn check_host<'a>(
    settings: &ServerSettings,
    headers: &'a HeaderMap,
    version: Version,
) -> Result<Option<&'a str>, Failure> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let value = match (hosts.next(), hosts.next()) {
        (Some(value), None) => value,
        // HTTP/1.0 knows no such header.
        (None, _) if version <= Version::HTTP_10 => return Ok(None),
        _ => {
            return Err(Failure::new(
                codes::INVALID_REQUEST,
                "a request must have exactly one Host header",
            ));
        }
    };
    let refused = || {
        Failure::new(
            codes::NOT_ALLOWED,
            "the Host header is not allowed; add its name to server.allowed_hosts",
        )
    };
    let text = value.to_str().map_err(|_| refused())?;
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (text, "0"),
    };
    // Brackets are for IPv6 addresses, one pair of them.
    let bracketed = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let answered = match bracketed {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => {
            host.parse::<Ipv4Addr>().is_ok()
                || host.eq_ignore_ascii_case("localhost")
                || settings.allowed_hosts.contains(&host.trim_end_matches('.').to_ascii_lowercase())
        }
    };
    if answered && port.parse::<u16>().is_ok() { Ok(Some(text)) } else { Err(refused()) }
}

/// A target with a host of its own, as proxies are sent it, must not say another host than the header that was checked.
fn check_target(target: &Uri, host: Option<&str>) -> Result<(), Failure> {
    let Some(authority) = target.authority() else { return Ok(()) };
    let plain = |host: &str| host.strip_suffix(":80").unwrap_or(host).to_ascii_lowercase();
    if host.is_some_and(|host| plain(host) == plain(authority.as_str())) {
        return Ok(());
    }
    let message = "the host of the request target is not that of the Host header";
    Err(Failure::new(codes::INVALID_REQUEST, message))
}

/// Browsers say which page a request comes from; only our own pages may call.
fn check_origin(
    settings: &ServerSettings,
    headers: &HeaderMap,
    host: Option<&str>,
) -> Result<(), Failure> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let origin = match (origins.next(), origins.next()) {
        (None, _) => return Ok(()),
        (Some(origin), None) => origin.to_str().unwrap_or_default(),
        (Some(_), Some(_)) => {
            let message = "a request must have at most one Origin header";
            return Err(Failure::new(codes::NOT_ALLOWED, message));
        }
    };
    let own = host.is_some_and(|host| {
        origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) == Some(host)
    });
    if own || settings.allowed_origins.contains(origin) {
        return Ok(());
    }
    Err(Failure::new(
        codes::NOT_ALLOWED,
        "the Origin header is not allowed; add it to server.allowed_origins",
    ))
}

/// The hash of the bearer token. Of two tokens, something on the way may have looked at the other.
fn shown_token(headers: &HeaderMap) -> Result<Option<[u8; 32]>, Failure> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (value, None) = (values.next(), values.next()) else {
        let message = "a request must have at most one Authorization header";
        return Err(Failure::new(codes::INVALID_REQUEST, message));
    };
    let bearer = value.and_then(|value| value.to_str().ok()?.split_once(' '));
    let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    Ok(bearer.map(|(_, token)| Sha256::digest(token.trim().as_bytes()).into()))
}

fn is_same(known: &[u8; 32], shown: &[u8; 32]) -> bool {
    known.as_slice().ct_eq(shown.as_slice()).into()
}

/// True for the hash of the operator's token.
pub(crate) fn is_operator(settings: &ServerSettings, shown: &[u8; 32]) -> bool {
    is_same(&settings.operator, shown)
}

/// The token with this hash. Every token is compared, so that the time tells nothing about which one was near.
pub(crate) fn known_token<'a>(
    settings: &'a ServerSettings,
    shown: &[u8; 32],
) -> Option<&'a ServerToken> {
    settings
        .tokens
        .iter()
        .fold(None, |found, token| if is_same(&token.sha256, shown) { Some(token) } else { found })
}

/// Says that a bearer token is needed.
pub(crate) fn ask_for_token(response: &mut Response) {
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
}
