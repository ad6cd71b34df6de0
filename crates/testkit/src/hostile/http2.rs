//! The newer protocol, spoken by a library: what is hostile about it is what it carries.

use std::convert::Infallible;

use http_body_util::Full;
use hyper::{
    Request, Response, body::Bytes, body::Incoming, server::conn::http2, service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::Wire;

pub(super) async fn serve(stream: impl Wire + 'static) {
    let answer = service_fn(|request: Request<Incoming>| async move {
        let version = format!("{:?}", request.version());
        let mut answer = Response::new(Full::new(Bytes::from(version)));
        let (count, length) = match request.uri().path() {
            "/headers" => (2_000, 100),
            "/many_headers" => (300, 1),
            _ => (0, 0),
        };
        for number in 0..count {
            let name = format!("x-{number}").parse::<hyper::header::HeaderName>().unwrap();
            answer.headers_mut().insert(name, "a".repeat(length).parse().unwrap());
        }
        Ok::<_, Infallible>(answer)
    });
    let server = http2::Builder::new(TokioExecutor::new());
    // Whoever hangs up in the middle is none of its business.
    let _ = server.serve_connection(TokioIo::new(stream), answer).await;
}
