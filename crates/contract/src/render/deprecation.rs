//! What a deprecated tool says of its end.

use crate::{Contract, Stability};

/// One line for people and models; none for a tool that is not deprecated.
pub fn note(contract: &Contract) -> Option<String> {
    if contract.stability != Stability::Deprecated {
        return None;
    }
    let mut note = "Deprecated".to_owned();
    if let Some(since) = contract.deprecated_since {
        note.push_str(&format!(" since {since}"));
    }
    let instead = contract.replaced_by.as_ref().map(|name| format!("call `{name}` instead"));
    let gone = contract.removed_after.map(|date| format!("it may be gone after {date}"));
    let rest: Vec<String> = instead.into_iter().chain(gone).collect();
    if !rest.is_empty() {
        note.push_str(&format!(": {}", rest.join("; ")));
    }
    Some(note)
}

/// The HTTP headers of a deprecated tool, by name; none for another.
///
/// `Deprecation` (RFC 9745) is the time since which it is deprecated, as a structured date: the beginning of time where the
/// contract does not say. `Sunset` (RFC 8594) is the last second of the last day on which it is served, and the link leads
/// to its replacement.
pub fn headers(contract: &Contract) -> Vec<(&'static str, String)> {
    if contract.stability != Stability::Deprecated {
        return Vec::new();
    }
    let since = contract.deprecated_since.map_or(0, crate::CalendarDate::begin);
    let mut headers = vec![("deprecation", format!("@{since}"))];
    if let Some(date) = contract.removed_after {
        headers.push(("sunset", date.http_end()));
    }
    if let Some(name) = &contract.replaced_by {
        headers.push(("link", format!("</v1/tools/{name}>; rel=\"successor-version\"")));
    }
    headers
}
