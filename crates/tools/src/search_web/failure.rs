//! The errors of `search.web`, for the caller and for the operator.
//!
//! A caller learns what kind of failure it is, and never where the service is or what it said:
//! that is the operator's.

use gate::ToolError;
use guard::net::{NetError, NetErrorReason};
use serde_json::json;

use super::service::SearchRequestError;
use crate::settings::SearchSettings;

const UPSTREAM_FAILURE: &str = "upstream_failure";

/// The hint for settings without a search service.
pub(super) const HOW_TO_CONFIGURE: &str =
    "set `tools.search.provider` (litellm or searxng) and `tools.search.base_url`";

pub(super) fn not_configured() -> ToolError {
    let message = format!("no search service is configured: {HOW_TO_CONFIGURE}");
    failed("not_configured", message)
}

pub(super) fn misconfigured(problem: &str) -> ToolError {
    let mut error = failed("not_configured", "the settings of the search service are wrong");
    error.operator = Some(format!("tools.search: {problem}"));
    error
}

pub(super) fn no_request(why: &SearchRequestError) -> ToolError {
    match why {
        SearchRequestError::TooLong => {
            ToolError::invalid_input("the query is too long for the service")
        }
        SearchRequestError::Key(words) => failed("not_configured", words),
    }
}

/// The service said no.
pub(super) fn status(status: u16, settings: &SearchSettings) -> ToolError {
    let mut error = failed("http_status", format!("HTTPStatusError status={status}"));
    error.details = Some(json!({ "reason": "http_status", "status": status }));
    error.operator = Some(format!("{} answered with status {status}", place(settings)));
    error
}

/// The service said something that is no list of results.
pub(super) fn bad_answer(problem: &'static str) -> ToolError {
    failed("bad_answer", format!("the search service's answer cannot be used: {problem}"))
}

/// The service said nothing, or not to the end.
pub(super) fn unanswered(error: &NetError, settings: &SearchSettings) -> ToolError {
    let reason = error.reason.word();
    let mut failure = match error.reason {
        NetErrorReason::Timeout => {
            let message = format!(
                "the search service did not answer within {} ms (tools.search.timeout_ms)",
                settings.timeout_ms
            );
            let mut failure = ToolError::new("timeout", message);
            failure.details = Some(json!({ "reason": reason }));
            failure
        }
        NetErrorReason::Cancelled => ToolError::new("cancelled", "the call was cancelled"),
        NetErrorReason::TooLarge => failed(
            reason,
            format!(
                "the search service's answer has more than {} bytes (tools.search.max_answer_bytes)",
                settings.max_answer_bytes
            ),
        ),
        NetErrorReason::NotResolved | NetErrorReason::Connect | NetErrorReason::Tls => {
            failed(reason, format!("the search service could not be reached ({reason})"))
        }
        _ if error.on_redirect() => failed(
            reason,
            "the search service leads elsewhere, which is not followed (tools.search.base_url)",
        ),
        _ => failed(reason, format!("the search service did not answer as it should ({reason})")),
    };
    let more = error.operator.as_deref().map(|more| format!(" ({more})")).unwrap_or_default();
    failure.operator = Some(format!("{}: {error}{more}", place(settings)));
    failure
}

fn failed(reason: &str, message: impl Into<String>) -> ToolError {
    let mut error = ToolError::new(UPSTREAM_FAILURE, message);
    error.details = Some(json!({ "reason": reason }));
    error
}

fn place(settings: &SearchSettings) -> String {
    let title = settings.provider.map_or("the search service", |provider| provider.title());
    format!("{title} at {}", settings.base_url.as_deref().unwrap_or_default())
}
