//! The ways in which `fetch_url` fails.
//!
//! The messages are those of seed 001, to the letter, where it has one. The finer reason goes into
//! `details.reason`: it is one word, for programs.

use contract::codes;
use gate::ToolError;
use guard::net::{NetError, Reason};
use serde_json::json;

/// Bytes in what the seed calls a megabyte.
const MEGABYTE: u64 = 1_048_576;

/// A page was not fetched.
pub(super) fn fetching(url: &str, error: &NetError, max_bytes: u64) -> ToolError {
    let (code, message) = match error.reason {
        Reason::BadScheme | Reason::Downgrade => {
            ("disallowed_protocol", "Disallowed protocol".to_owned())
        }
        Reason::Domain | Reason::PrivateAddr => {
            ("disallowed_domain", "Disallowed domain".to_owned())
        }
        Reason::BadUrl | Reason::Credentials | Reason::BadPort => {
            ("invalid_url", format!("Invalid URL: {}", error.message))
        }
        Reason::TooLarge => return too_large(max_bytes),
        Reason::BadType => return bad_type(&error.message),
        Reason::Robots => ("disallowed_domain", format!("Disallowed domain: {}", error.message)),
        Reason::Cancelled => (codes::CANCELLED.code, error.message.clone()),
        _ => ("network_error", format!("Network error: {}", error.message)),
    };
    let mut failure = ToolError::new(code, message);
    failure.details = Some(json!({
        "reason": error.reason.word(),
        "explanation": error.message,
        "redirects": error.redirects,
    }));
    let more = error.operator.as_deref().unwrap_or_default();
    failure.operator = Some(format!("{url:?}: {} {more}", error.message));
    failure
}

/// The body is larger than the operator allows.
pub(super) fn too_large(max_bytes: u64) -> ToolError {
    let limit = if max_bytes.is_multiple_of(MEGABYTE) {
        format!("{} MB", max_bytes / MEGABYTE)
    } else {
        format!("{max_bytes} bytes")
    };
    let message = format!("Content size exceeds limit of {limit}.");
    let mut failure = ToolError::new(codes::TOO_LARGE.code, message);
    failure.details = Some(json!({ "reason": Reason::TooLarge.word(), "max_bytes": max_bytes }));
    failure
}

/// The content is no text.
pub(super) fn bad_type(explanation: &str) -> ToolError {
    let mut failure =
        ToolError::new("disallowed_type", format!("Disallowed content type: {explanation}"));
    failure.details = Some(json!({ "reason": Reason::BadType.word() }));
    failure
}

/// The server answered with something else than success.
pub(super) fn status(status: u16, url: &str) -> ToolError {
    let message = format!("Request failed with status code: {status}");
    let mut failure = ToolError::new("request_failed", message);
    failure.details = Some(json!({ "reason": "http_status", "status": status, "url": url }));
    failure
}
