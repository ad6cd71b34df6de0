//! The checks of a server as a whole.

use serde_json::json;

use super::{
    Check, CheckSuite, ProbeFinding,
    call_result::{self, ResultKind},
    connection::{ProbeConnection, ProbeEnd, RequestAttempt, call},
    listed_tool::name_of,
    report::shown_text,
    rules, suspicious_text,
};
use upstream::connection::{Listing, RequestError, RequestOptions, ServerDescription};

/// JSON-RPC's code for invalid parameters.
pub(crate) const INVALID_PARAMS: i64 = -32_602;
/// JSON-RPC's code for an unknown method.
const UNKNOWN_METHOD: i64 = -32_601;
/// A method that no server has.
const NO_METHOD: &str = "toolgate/no_such_method";
/// A tool that no server has.
const NO_TOOL: &str = "toolgate_no_such_tool";

pub(crate) fn listed(listing: &Listing, server: &ServerDescription) -> Vec<Check> {
    let cut = listing.cut.iter().map(|why| ProbeFinding::new(&rules::LISTING_CUT, why));
    let mut checks = vec![Check::of("the listing ends", cut.collect())];
    checks.extend(server.instructions.as_deref().map(suspicious_text::of_instructions));
    checks
}

/// Sends requests that no client would send, and lists again.
pub(crate) async fn send_unusual_requests(
    first: &Listing,
    suite: &mut CheckSuite,
    server: &mut ProbeConnection<'_>,
) -> Option<ProbeEnd> {
    let asked = async {
        suite.checks.push(unknown_tool(first, server).await?);
        suite.checks.push(unknown_method(server).await?);
        suite.checks.push(listed_again(first, server).await?);
        Ok(())
    };
    asked.await.err()
}

async fn unknown_tool(
    first: &Listing,
    server: &mut ProbeConnection<'_>,
) -> Result<Check, ProbeEnd> {
    let mut name = NO_TOOL.to_owned();
    while first.items.iter().any(|tool| name_of(tool) == Some(&name)) {
        name.push('_');
    }
    let params = call(&name, &json!({}));
    let timeout = server.call_timeout();
    let options = RequestOptions { name: Some(&name), ..RequestOptions::new(timeout) };
    let attempt = server.request("tools/call", &params, options).await?;
    let finding = match &attempt.ended {
        Err(RequestError::Rpc(_)) => None,
        Err(error) => Some(no_response(error, &format!("a call of `{name}`"))),
        Ok(reply) => match call_result::read(reply.json(), None).kind {
            ResultKind::Error(_) => None,
            _ => {
                let message = format!("a call of `{name}` returned a result");
                Some(ProbeFinding::new(&rules::UNKNOWN_TOOL_ACCEPTED, message))
            }
        },
    };
    Ok(check("an unknown tool is refused", &attempt, finding))
}

async fn unknown_method(server: &mut ProbeConnection<'_>) -> Result<Check, ProbeEnd> {
    let timeout = server.call_timeout();
    let attempt = server.request(NO_METHOD, "{}", RequestOptions::new(timeout)).await?;
    let finding = match &attempt.ended {
        Err(RequestError::Rpc(error)) if error.code == UNKNOWN_METHOD => None,
        Err(RequestError::Rpc(error)) => {
            let message = format!("`{NO_METHOD}` returned {}", shown_text(&error.to_string()));
            Some(ProbeFinding::new(&rules::UNKNOWN_METHOD_CODE, message))
        }
        Err(error) => Some(no_response(error, &format!("the method `{NO_METHOD}`"))),
        Ok(_) => {
            let message = format!("`{NO_METHOD}` returned a result");
            Some(ProbeFinding::new(&rules::UNKNOWN_METHOD, message))
        }
    };
    Ok(check("an unknown method is refused", &attempt, finding))
}

async fn listed_again(
    first: &Listing,
    server: &mut ProbeConnection<'_>,
) -> Result<Check, ProbeEnd> {
    let title = "two listings are the same";
    let finding = match server.list_again().await? {
        Err(error) => Some(no_response(&error, "the second `tools/list`")),
        Ok(second) if second.items == first.items => None,
        Ok(second) => Some(ProbeFinding::new(&rules::LISTING_CHANGES, difference(first, &second))),
    };
    Ok(Check::of(title, finding.into_iter().collect()))
}

fn check(title: &str, attempt: &RequestAttempt, finding: Option<ProbeFinding>) -> Check {
    Check { took: attempt.took, ..Check::of(title, finding.into_iter().collect()) }
}

/// The first difference of two listings.
fn difference(first: &Listing, second: &Listing) -> String {
    let names = |listing: &Listing| {
        listing.items.iter().filter_map(name_of).map(str::to_owned).collect::<Vec<_>>()
    };
    let (one, other) = (names(first), names(second));
    let only = |these: &[String], those: &[String]| {
        let only = these.iter().find(|name| !those.contains(name));
        only.map(|name| shown_text(name))
    };
    if let Some(name) = only(&one, &other) {
        return format!("`{name}` is only in the first listing");
    }
    if let Some(name) = only(&other, &one) {
        return format!("`{name}` is only in the second listing");
    }
    let changed = first.items.iter().find(|tool| {
        let twin = second.items.iter().find(|twin| name_of(twin) == name_of(tool));
        twin != Some(tool)
    });
    match changed.and_then(name_of) {
        Some(name) => format!("`{}` differs", shown_text(name)),
        None => "the tools are in another order".to_owned(),
    }
}

/// The finding for a request without a response.
pub(crate) fn no_response(error: &RequestError, what: &str) -> ProbeFinding {
    let rule = match error {
        RequestError::Timeout(_) => &rules::CALL_TIMEOUT,
        RequestError::Lost(_) | RequestError::NotSent(_) => &rules::CALL_LOST,
        RequestError::TooLarge(_) => &rules::CALL_TOO_LARGE,
        RequestError::Protocol(_) | RequestError::Malformed { .. } | RequestError::Rpc(_) => {
            &rules::CALL_UNREADABLE
        }
    };
    ProbeFinding::new(rule, format!("{what}: {}", shown_text(&error.to_string())))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn listing(items: &Value) -> Listing {
        Listing { items: items.as_array().unwrap().clone(), ..Listing::default() }
    }

    #[test]
    fn differences_are_described() {
        let first = listing(&json!([{ "name": "a" }, { "name": "b" }]));
        for (second, words) in [
            (json!([{ "name": "a" }]), "`b` is only in the first listing"),
            (
                json!([{ "name": "a" }, { "name": "b" }, { "name": "c" }]),
                "`c` is only in the second listing",
            ),
            (json!([{ "name": "a", "title": "A" }, { "name": "b" }]), "`a` differs"),
            (json!([{ "name": "b" }, { "name": "a" }]), "the tools are in another order"),
        ] {
            assert_eq!(difference(&first, &listing(&second)), words);
        }
    }
}
