//! Checks for `toolgate doctor` whether the search service can be used.

use guard::net::HttpResponse;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    failure::HOW_TO_CONFIGURE,
    plain_text,
    service::{SearchRequestError, SearchService},
};
use crate::settings::{SearchProvider, SearchSettings};

/// The most search tools of a service that are shown.
const MAX_SHOWN_TOOLS: usize = 20;
/// The most that is shown of the name of one, in characters.
const MAX_SHOWN_CHARACTERS: usize = 100;

/// The state of the search service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchDiagnosis {
    /// True if searches will be answered.
    pub usable: bool,
    /// True if there is a service at all.
    pub configured: bool,
    /// The finding, in a sentence.
    pub message: String,
    /// The next step for the operator.
    pub hint: Option<String>,
}

/// Asks the service something that costs nothing. No key is part of what this says.
pub async fn diagnose(settings: &SearchSettings) -> SearchDiagnosis {
    let service = match SearchService::new(settings) {
        Ok(Some(service)) => service,
        Ok(None) => {
            let none = unusable("no search service is configured", HOW_TO_CONFIGURE);
            return SearchDiagnosis { configured: false, ..none };
        }
        Err(problem) => return unusable(problem, "mend `tools.search`"),
    };
    let provider = settings.provider.map_or("the service", SearchProvider::title);
    let place = format!("{provider} at {}", settings.base_url.as_deref().unwrap_or_default());
    let request = match service.probe() {
        Ok(request) => request,
        Err(SearchRequestError::Key(words)) => {
            return unusable(words, "set it where the server is started");
        }
        Err(SearchRequestError::TooLong) => {
            return unusable("the address is too long", "mend `base_url`");
        }
    };
    match service.client.send(request, &CancellationToken::new()).await {
        Err(error) if error.on_redirect() => {
            let message = format!("{place} leads elsewhere, which is not followed");
            unusable(message, "set `tools.search.base_url` to where it leads (https, most often)")
        }
        Err(error) => {
            let message = format!("{place} cannot be reached: {error}");
            unusable(message, "start it, or mend `tools.search.base_url`")
        }
        Ok(response) => match settings.provider {
            Some(SearchProvider::Searxng) => searxng(&place, &response),
            _ => litellm(&place, &response, settings),
        },
    }
}

fn litellm(place: &str, response: &HttpResponse, settings: &SearchSettings) -> SearchDiagnosis {
    match response.status.as_u16() {
        200 => match (tools(&response.body), &settings.search_tool) {
            (Some(tools), Some(wanted)) if !tools.contains(wanted) => {
                let message = format!("{place} has no search tool `{wanted}`");
                unusable(message, format!("set `tools.search.search_tool`; {}", offer(&tools)))
            }
            (Some(tools), None) => unusable(
                format!("{place} needs the name of a search tool"),
                format!("set `tools.search.search_tool`; {}", offer(&tools)),
            ),
            _ => usable(format!("{place} answers")),
        },
        // It says 400 of a key that it does not know where it has no database.
        status @ (400 | 401 | 403) => {
            let hint = match &settings.api_key_env {
                Some(name) => format!("look at the key in `{name}`"),
                None => "name the variable with its key: `tools.search.api_key_env`".into(),
            };
            unusable(format!("{place} refuses the key (status {status})"), hint)
        }
        404 | 405 => usable(format!("{place} answers, and does not say which tools it has")),
        status => failing(place, status),
    }
}

fn searxng(place: &str, response: &HttpResponse) -> SearchDiagnosis {
    match response.status.as_u16() {
        200 | 400 => usable(format!("{place} answers")),
        403 => unusable(
            format!("{place} refuses to answer in JSON (status 403)"),
            "add `json` to `search.formats` in its settings.yml",
        ),
        429 => unusable(
            format!("{place} answers that there were too many requests (status 429)"),
            "let this machine pass its limiter",
        ),
        status => failing(place, status),
    }
}

/// The names of the search tools that LiteLLM lists.
fn tools(body: &[u8]) -> Option<Vec<String>> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let names = answer.get("data")?.as_array()?.iter();
    let names = names.filter_map(|tool| tool.get("search_tool_name")?.as_str());
    Some(names.map(str::to_owned).collect())
}

/// The names, as text of somebody else that is shown on a terminal.
fn offer(tools: &[String]) -> String {
    if tools.is_empty() {
        return "it has none".into();
    }
    let shown = tools.iter().take(MAX_SHOWN_TOOLS);
    let shown = shown.map(|name| {
        plain_text::visible(&name.chars().take(MAX_SHOWN_CHARACTERS).collect::<String>())
    });
    let more = if tools.len() > MAX_SHOWN_TOOLS { ", …" } else { "" };
    format!("it has {}{more}", shown.collect::<Vec<_>>().join(", "))
}

fn failing(place: &str, status: u16) -> SearchDiagnosis {
    unusable(format!("{place} answers with status {status}"), "look at its log")
}

fn usable(message: String) -> SearchDiagnosis {
    SearchDiagnosis { usable: true, configured: true, message, hint: None }
}

fn unusable(message: impl Into<String>, hint: impl Into<String>) -> SearchDiagnosis {
    let hint = Some(hint.into());
    SearchDiagnosis { usable: false, configured: true, message: message.into(), hint }
}
