//! What concerns a server as a whole.

use serde_json::json;

use super::{
    Check, Finding, Suite,
    call_result::{self, Kind},
    connection::{Attempt, Over, Session, call},
    listed_tool::name_of,
    report::told,
    rules, suspicious_text,
};
use upstream::connection::{Listing, RequestError, RequestOptions, ServerDescription};

/// JSON-RPC's number for parameters that do not fit.
pub(crate) const INVALID_PARAMS: i64 = -32_602;
/// JSON-RPC's number for a method that there is not.
const UNKNOWN_METHOD: i64 = -32_601;
/// A method that no server has.
const NO_METHOD: &str = "toolgate/no_such_method";
/// A tool that no server has.
const NO_TOOL: &str = "toolgate_no_such_tool";

/// What can be said once everything is listed.
pub(crate) fn listed(listing: &Listing, server: &ServerDescription) -> Vec<Check> {
    let cut = listing.cut.iter().map(|why| Finding::new(&rules::LISTING_CUT, why));
    let mut checks = vec![Check::of("the listing ends", cut.collect())];
    checks.extend(server.instructions.as_deref().map(suspicious_text::of_instructions));
    checks
}

/// Asks what no client would, and lists again.
pub(crate) async fn ask(
    first: &Listing,
    suite: &mut Suite,
    session: &mut Session<'_>,
) -> Option<Over> {
    let asked = async {
        suite.checks.push(unknown_tool(first, session).await?);
        suite.checks.push(unknown_method(session).await?);
        suite.checks.push(listed_again(first, session).await?);
        Ok(())
    };
    asked.await.err()
}

async fn unknown_tool(first: &Listing, session: &mut Session<'_>) -> Result<Check, Over> {
    let mut name = NO_TOOL.to_owned();
    while first.items.iter().any(|tool| name_of(tool) == Some(&name)) {
        name.push('_');
    }
    let params = call(&name, &json!({}));
    let timeout = session.call_timeout();
    let options = RequestOptions { name: Some(&name), ..RequestOptions::new(timeout) };
    let attempt = session.request("tools/call", &params, options).await?;
    let finding = match &attempt.ended {
        Err(RequestError::Rpc(_)) => None,
        Err(error) => Some(broken(error, &format!("a call of `{name}`"))),
        Ok(reply) => match call_result::read(reply.json(), None).kind {
            Kind::Error(_) => None,
            _ => {
                let message = format!("a call of `{name}` was answered with a result");
                Some(Finding::new(&rules::UNKNOWN_TOOL_ACCEPTED, message))
            }
        },
    };
    Ok(check("an unknown tool is refused", &attempt, finding))
}

async fn unknown_method(session: &mut Session<'_>) -> Result<Check, Over> {
    let timeout = session.call_timeout();
    let attempt = session.request(NO_METHOD, "{}", RequestOptions::new(timeout)).await?;
    let finding = match &attempt.ended {
        Err(RequestError::Rpc(error)) if error.code == UNKNOWN_METHOD => None,
        Err(RequestError::Rpc(error)) => {
            let message = format!("`{NO_METHOD}` was answered with {}", told(&error.to_string()));
            Some(Finding::new(&rules::UNKNOWN_METHOD_CODE, message))
        }
        Err(error) => Some(broken(error, &format!("the method `{NO_METHOD}`"))),
        Ok(_) => {
            let message = format!("`{NO_METHOD}` was answered with a result");
            Some(Finding::new(&rules::UNKNOWN_METHOD, message))
        }
    };
    Ok(check("an unknown method is refused", &attempt, finding))
}

async fn listed_again(first: &Listing, session: &mut Session<'_>) -> Result<Check, Over> {
    let title = "two listings are the same";
    let finding = match session.list_again().await? {
        Err(error) => Some(broken(&error, "the second `tools/list`")),
        Ok(second) if second.items == first.items => None,
        Ok(second) => Some(Finding::new(&rules::LISTING_CHANGES, difference(first, &second))),
    };
    Ok(Check::of(title, finding.into_iter().collect()))
}

fn check(title: &str, attempt: &Attempt, finding: Option<Finding>) -> Check {
    Check { took: attempt.took, ..Check::of(title, finding.into_iter().collect()) }
}

/// What is different about two listings, as far as a few words say it.
fn difference(first: &Listing, second: &Listing) -> String {
    let names = |listing: &Listing| {
        listing.items.iter().filter_map(name_of).map(str::to_owned).collect::<Vec<_>>()
    };
    let (one, other) = (names(first), names(second));
    let only = |these: &[String], those: &[String]| {
        let only = these.iter().find(|name| !those.contains(name));
        only.map(|name| told(name))
    };
    if let Some(name) = only(&one, &other) {
        return format!("`{name}` is only in the first");
    }
    if let Some(name) = only(&other, &one) {
        return format!("`{name}` is only in the second");
    }
    let changed = first.items.iter().find(|tool| {
        let twin = second.items.iter().find(|twin| name_of(twin) == name_of(tool));
        twin != Some(tool)
    });
    match changed.and_then(name_of) {
        Some(name) => format!("`{}` is not the same", told(name)),
        None => "the tools come in another order".to_owned(),
    }
}

/// What a request means that came to nothing.
pub(crate) fn broken(error: &RequestError, what: &str) -> Finding {
    let rule = match error {
        RequestError::Timeout(_) => &rules::CALL_TIMEOUT,
        RequestError::Lost(_) | RequestError::NotSent(_) => &rules::CALL_LOST,
        RequestError::TooLarge(_) => &rules::CALL_TOO_LARGE,
        RequestError::Protocol(_) | RequestError::Rpc(_) => &rules::CALL_UNREADABLE,
    };
    Finding::new(rule, format!("{what}: {}", told(&error.to_string())))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn listing(items: &Value) -> Listing {
        Listing { items: items.as_array().unwrap().clone(), ..Listing::default() }
    }

    #[test]
    fn differences_are_in_words() {
        let first = listing(&json!([{ "name": "a" }, { "name": "b" }]));
        for (second, words) in [
            (json!([{ "name": "a" }]), "`b` is only in the first"),
            (
                json!([{ "name": "a" }, { "name": "b" }, { "name": "c" }]),
                "`c` is only in the second",
            ),
            (json!([{ "name": "a", "title": "A" }, { "name": "b" }]), "`a` is not the same"),
            (json!([{ "name": "b" }, { "name": "a" }]), "the tools come in another order"),
        ] {
            assert_eq!(difference(&first, &listing(&second)), words);
        }
    }
}
