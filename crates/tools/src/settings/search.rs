//! The settings of `search.web`.

use std::path::{Path, PathBuf};

use guard::net::{base_url_problem, key_variable_problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The service that searches the web.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SearchSettings {
    /// The kind of service. Without it there is no search.
    #[schemars(with = "SearchProvider")]
    pub provider: Option<SearchProvider>,
    /// Its address: `http://127.0.0.1:4000`. It may be on a private address; that host and port
    /// are all that the tool reaches.
    pub base_url: Option<String>,
    /// LiteLLM: the `search_tool_name` of its configuration.
    #[schemars(length(min = 1, max = 200))]
    pub search_tool: Option<String>,
    /// LiteLLM: whether the name of the search tool stands in the path or in the body.
    pub search_tool_in: SearchToolIn,
    /// The environment variable that holds the key, sent as a bearer token. None is sent where
    /// this is left out.
    #[schemars(length(min = 1))]
    pub api_key_env: Option<String>,
    /// The time that the service may take, in milliseconds.
    #[schemars(range(min = 1, max = 600_000))]
    pub timeout_ms: u64,
    /// The number of results for a caller who does not ask for a number.
    #[schemars(range(min = 1, max = 25))]
    pub max_results: usize,
    /// The longest query, in characters.
    #[schemars(range(min = 1, max = 100_000))]
    pub max_query_characters: usize,
    /// The largest answer of the service, in bytes.
    #[schemars(range(min = 1_024, max = 67_108_864))]
    pub max_answer_bytes: usize,
    /// Files of certificates (PEM) that are trusted beside those of the machine.
    pub extra_ca: Vec<PathBuf>,
    /// A folder that stands in for the network, for trying the tool out.
    #[serde(skip)]
    pub stand_in: Option<PathBuf>,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            provider: None,
            base_url: None,
            search_tool: None,
            search_tool_in: SearchToolIn::Path,
            api_key_env: None,
            timeout_ms: 10_000,
            max_results: 10,
            max_query_characters: 1_000,
            max_answer_bytes: 5_242_880,
            extra_ca: Vec::new(),
            stand_in: None,
        }
    }
}

/// A kind of search service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchProvider {
    /// A LiteLLM proxy, or whatever else has its search routes.
    Litellm,
    /// A SearXNG instance, with `json` among its `search.formats`.
    Searxng,
}

impl SearchProvider {
    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            SearchProvider::Litellm => "LiteLLM",
            SearchProvider::Searxng => "SearXNG",
        }
    }
}

/// The part of a request that names LiteLLM's search tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchToolIn {
    /// `POST /v1/search/NAME`.
    Path,
    /// `POST /v1/search` with `search_tool_name`.
    Body,
}

impl SearchSettings {
    /// A service whose answers are files: `search.example/v1/search` below the folder.
    pub(super) fn of_examples(folder: &Path) -> Self {
        Self {
            provider: Some(SearchProvider::Litellm),
            base_url: Some("http://search.example".to_owned()),
            stand_in: Some(folder.to_owned()),
            ..Self::default()
        }
    }

    /// The mistakes that the schema cannot see: the setting of each, and a message.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let mut mistakes = Vec::new();
        let mut mistake = |place: &str, words: &str| {
            mistakes.push((place.to_owned(), words.to_owned()));
        };
        match (&self.provider, &self.base_url) {
            (Some(_), None) => mistake("provider", "`base_url` is missing"),
            (None, Some(_)) => {
                mistake("base_url", "`provider` is missing: `litellm` or `searxng`");
            }
            (Some(_), Some(base_url)) => {
                if let Some(words) = base_url_problem(base_url) {
                    mistake("base_url", words);
                }
            }
            (None, None) => {}
        }
        if let Some(words) = self.api_key_env.as_deref().and_then(key_variable_problem) {
            mistake("api_key_env", words);
        }
        mistakes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_service_is_a_mistake() {
        let check = |yaml: serde_json::Value, expected: &[&str]| {
            let search: SearchSettings = serde_json::from_value(yaml).unwrap();
            let places: Vec<_> = search.mistakes().into_iter().map(|(place, _)| place).collect();
            assert_eq!(places, expected, "{search:?}");
        };
        let json = |text: &str| serde_json::from_str(text).unwrap();
        check(json("{}"), &[]);
        check(json(r#"{"provider":"litellm","base_url":"http://127.0.0.1:4000"}"#), &[]);
        check(json(r#"{"provider":"searxng","base_url":"https://search.example/sub/"}"#), &[]);
        check(json(r#"{"provider":"litellm"}"#), &["provider"]);
        check(json(r#"{"base_url":"http://127.0.0.1:4000"}"#), &["base_url"]);
        for base_url in
            ["127.0.0.1:4000", "ftp://a", "http://u:p@a", "http://a?q=1", "http://a#x", ""]
        {
            let text = format!(r#"{{"provider":"litellm","base_url":"{base_url}"}}"#);
            check(json(&text), &["base_url"]);
        }
        check(json(r#"{"api_key_env":"sk-local-test"}"#), &["api_key_env"]);
        check(json(r#"{"api_key_env":"LITELLM_KEY"}"#), &[]);
    }
}
