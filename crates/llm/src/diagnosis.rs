//! Diagnosis for the operator: tells if the model can be asked.

use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::{ChatPrompt, Error, LlmSettings, Model};

/// The most models of an endpoint that are shown.
const MAX_SHOWN: usize = 20;
/// The most characters of a name that are shown.
const MAX_SHOWN_CHARACTERS: usize = 100;

/// The state of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// True if it can be asked.
    pub usable: bool,
    /// The finding, in a sentence.
    pub message: String,
    /// The next step.
    pub hint: Option<String>,
}

/// Asks the endpoint what it has and, where it does not say, for one token. Nothing where no model is
/// configured. No key is part of what this says.
pub async fn diagnose(settings: &LlmSettings) -> Option<Diagnosis> {
    let model = match Model::new(settings) {
        Ok(None) => return None,
        Ok(Some(model)) => model,
        Err(error) => return Some(unusable(error.to_string(), "mend `llm`")),
    };
    let stop = CancellationToken::new();
    let found = match model.models(&stop).await {
        Ok(body) => Ok(names(&body)),
        // Not everybody has that page.
        Err(Error::Status { status: 404 | 405 | 501, .. }) => Ok(None),
        Err(error) => Err(error),
    };
    let is_listed = |names: &Vec<String>| match &settings.model {
        Some(wanted) => names.contains(wanted),
        None => !names.is_empty(),
    };
    // Where the list does not have it, or is none, only an answer tells: names may have short forms.
    let found = match found {
        Ok(names) if !names.as_ref().is_some_and(is_listed) => {
            let question = ChatPrompt { max_tokens: Some(1), ..ChatPrompt::new("", "Hi") };
            match model.answer(&question, &stop).await {
                Ok(_) => Ok(None),
                // The list says what there is instead.
                Err(Error::Status { status: 400 | 404, .. } | Error::Unreadable { .. })
                    if names.is_some() =>
                {
                    Ok(names)
                }
                Err(error) => Err(error),
            }
        }
        found => found,
    };
    let place = format!("the endpoint at {}", settings.base_url.as_deref().unwrap_or_default());
    Some(match found {
        Ok(names) => listed(&place, names, settings),
        Err(error) => failing(&place, &error, settings),
    })
}

fn listed(place: &str, names: Option<Vec<String>>, settings: &LlmSettings) -> Diagnosis {
    match (names, &settings.model) {
        (Some(names), Some(wanted)) if !names.is_empty() && !names.contains(wanted) => {
            let message = format!("{place} has no model `{wanted}`");
            unusable(message, format!("set `llm.model`; {}", offer(&names)))
        }
        (_, Some(wanted)) => usable(format!("{place} answers, with `{wanted}`")),
        (Some(names), None) if names.len() > 1 => unusable(
            format!("{place} has several models"),
            format!("set `llm.model`; {}", offer(&names)),
        ),
        (_, None) => usable(format!("{place} answers")),
    }
}

fn failing(place: &str, error: &Error, settings: &LlmSettings) -> Diagnosis {
    match error {
        Error::NotConfigured(words) => {
            unusable(words.clone(), "set it where the server is started")
        }
        Error::Status { status: status @ (401 | 403), .. } => {
            let hint = match &settings.api_key_env {
                Some(name) => format!("look at the key in `{name}`"),
                None => "name the variable with its key: `llm.api_key_env`".into(),
            };
            unusable(format!("{place} refuses the key (status {status})"), hint)
        }
        Error::Status { status, .. } => {
            unusable(format!("{place} answers with status {status}"), "look at its log")
        }
        Error::Unreachable { reason, operator } => unusable(
            match operator {
                Some(more) => format!("{place} cannot be reached ({reason}): {more}"),
                None => format!("{place} cannot be reached ({reason})"),
            },
            "start it, or mend `llm.base_url`",
        ),
        error => unusable(format!("{place}: {error}"), "look at its log"),
    }
}

/// The models that an endpoint lists.
fn names(body: &[u8]) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct ModelListing {
        data: Vec<ListedModel>,
    }
    #[derive(Deserialize)]
    struct ListedModel {
        id: String,
    }
    let listing: ModelListing = serde_json::from_slice(body).ok()?;
    Some(listing.data.into_iter().map(|one| one.id).collect())
}

/// The names, as text of somebody else that is shown on a terminal.
fn offer(names: &[String]) -> String {
    let shown = names.iter().take(MAX_SHOWN).map(|name| {
        let name = name.chars().take(MAX_SHOWN_CHARACTERS);
        name.map(|one| if one.is_control() { '?' } else { one }).collect::<String>()
    });
    let more = if names.len() > MAX_SHOWN { ", …" } else { "" };
    format!("it has {}{more}", shown.collect::<Vec<_>>().join(", "))
}

fn usable(message: String) -> Diagnosis {
    Diagnosis { usable: true, message, hint: None }
}

fn unusable(message: impl Into<String>, hint: impl Into<String>) -> Diagnosis {
    Diagnosis { usable: false, message: message.into(), hint: Some(hint.into()) }
}
