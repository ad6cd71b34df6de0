//! The ways in which `fetch_url` fails, and what both views of the web say of a failure.
//!
//! The messages are those of seed 001, to the letter, where it has one. The finer reason goes into
//! `details.reason`: it is one word, for programs.

use contract::codes;
use gate::ToolError;
use guard::net::{NetError, NetErrorReason, Url};
use serde_json::json;

use super::redacted_url;

/// Bytes in what the seed calls a megabyte.
const MEGABYTE: u64 = 1_048_576;

/// A page was not fetched.
pub(super) fn fetching(url: &str, error: &NetError, max_bytes: u64) -> ToolError {
    let (code, message) = match error.reason {
        NetErrorReason::BadScheme | NetErrorReason::Downgrade => {
            ("disallowed_protocol", "Disallowed protocol".to_owned())
        }
        NetErrorReason::Domain | NetErrorReason::PrivateAddr => {
            ("disallowed_domain", "Disallowed domain".to_owned())
        }
        NetErrorReason::BadUrl | NetErrorReason::Credentials | NetErrorReason::BadPort => {
            ("invalid_url", format!("Invalid URL: {}", error.message))
        }
        NetErrorReason::TooLarge => return too_large(max_bytes),
        NetErrorReason::BadType => return bad_type(&error.message),
        NetErrorReason::Robots => {
            ("disallowed_domain", format!("Disallowed domain: {}", error.message))
        }
        NetErrorReason::Cancelled => (codes::CANCELLED.code, error.message.clone()),
        _ => ("network_error", format!("Network error: {}", error.message)),
    };
    let mut failure = ToolError::new(code, message);
    failure.details = Some(json!({
        "reason": error.reason.word(),
        "explanation": error.message,
        "redirects": error.redirects,
    }));
    failure.operator = Some(for_operator(url, error));
    failure
}

/// The log text for a page that was not fetched.
pub(super) fn for_operator(url: &str, error: &NetError) -> String {
    let more = error.operator.as_deref().map(|more| format!(" ({more})")).unwrap_or_default();
    format!("{}: {}{more}", redacted_url::site(url), error.message)
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
    failure.details =
        Some(json!({ "reason": NetErrorReason::TooLarge.word(), "max_bytes": max_bytes }));
    failure
}

/// The content is no text.
pub(super) fn bad_type(explanation: &str) -> ToolError {
    let mut failure =
        ToolError::new("disallowed_type", format!("Disallowed content type: {explanation}"));
    failure.details = Some(json!({ "reason": NetErrorReason::BadType.word() }));
    failure
}

/// The server answered with something else than success.
pub(super) fn status(status: u16, url: &Url) -> ToolError {
    let message = format!("Request failed with status code: {status}");
    let mut failure = ToolError::new("request_failed", message);
    failure.details =
        Some(json!({ "reason": "http_status", "status": status, "url": redacted_url::page(url) }));
    failure
}
