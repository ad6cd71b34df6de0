//! Errors of hyper in our words.

use crate::net::{NetError, NetErrorReason, error::chain};

/// The number of headers that a response may have: as many as hyper has room for without asking for more.
pub(super) const MAX_HEADERS: usize = 100;

/// An error of hyper before there was a response.
pub(super) fn of_hyper(error: &hyper::Error, max_header_bytes: usize) -> NetError {
    let failed = if error.is_parse_too_large() {
        too_many_headers(max_header_bytes)
    } else if error.is_parse() {
        NetError::new(NetErrorReason::Network, "the response is not valid HTTP")
    } else if error.is_timeout() {
        NetError::new(NetErrorReason::Network, "the server stopped responding")
    } else {
        NetError::new(NetErrorReason::Network, "the connection was closed before a response")
    };
    failed.for_operator(chain(error))
}

pub(super) fn too_many_headers(max_header_bytes: usize) -> NetError {
    let message = format!(
        "the response has more than {max_header_bytes} bytes or {MAX_HEADERS} lines of headers"
    );
    NetError::new(NetErrorReason::HeaderLimit, message)
}

/// A connection that was kept was closed before a byte of the response.
pub(super) fn stale(error: &hyper::Error) -> NetError {
    let message = "a reused connection was closed before a response";
    NetError::new(NetErrorReason::Stale, message).for_operator(chain(error))
}

pub(super) fn too_many_heads(max_bytes: usize) -> NetError {
    let message = format!("more than {max_bytes} bytes without a response");
    NetError::new(NetErrorReason::HeaderLimit, message)
}
