//! Which model is asked, and how.

use std::path::PathBuf;

use guard::net::{base_url_problem, key_variable_problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The language model that tools may ask: an endpoint that has `/chat/completions`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LlmSettings {
    /// Where it is: `http://127.0.0.1:8080/v1`; `/v1` is added where there is no path. It may be on a
    /// private address; that host and port are all that is reached. Where this is left out, there is none.
    pub base_url: Option<String>,
    /// The name of the model at that endpoint. Left out where the endpoint has only one.
    #[schemars(length(min = 1, max = 500))]
    pub model: Option<String>,
    /// The environment variable that holds the key, sent as a bearer token. None is sent where
    /// this is left out.
    #[schemars(length(min = 1))]
    pub api_key_env: Option<String>,
    /// Files of certificates (PEM) that are trusted beside those of the machine.
    pub extra_ca: Vec<PathBuf>,
    /// How long it may take to connect, in milliseconds.
    #[schemars(range(min = 1, max = 600_000))]
    pub connect_timeout_ms: u64,
    /// How long the endpoint may send nothing, in milliseconds. Before the first word it reads the
    /// whole question, and perhaps loads the model.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub stall_timeout_ms: u64,
    /// The largest answer, in bytes as they are sent: a word may take 300 of them.
    #[schemars(range(min = 1_024, max = 67_108_864))]
    pub max_answer_bytes: usize,
}

impl Default for LlmSettings {
    fn default() -> Self {
        Self {
            base_url: None,
            model: None,
            api_key_env: None,
            extra_ca: Vec::new(),
            connect_timeout_ms: 10_000,
            stall_timeout_ms: 120_000,
            max_answer_bytes: 8_388_608,
        }
    }
}

impl LlmSettings {
    /// What is wrong beyond the schema: where, and in what words.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let mut mistakes = Vec::new();
        let mut mistake = |place: &str, words: &str| {
            mistakes.push((place.to_owned(), words.to_owned()));
        };
        match &self.base_url {
            Some(base_url) => {
                if let Some(words) = problem(base_url) {
                    mistake("base_url", words);
                }
            }
            None if self.model.is_some() => mistake("model", "`base_url` is missing"),
            None => {}
        }
        if let Some(words) = self.api_key_env.as_deref().and_then(key_variable_problem) {
            mistake("api_key_env", words);
        }
        mistakes
    }
}

fn problem(base_url: &str) -> Option<&'static str> {
    let is_whole = base_url.trim_end_matches('/').ends_with("/chat/completions");
    base_url_problem(base_url)
        .or(is_whole.then_some("ends before `/chat/completions`, which is added"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_endpoint_is_a_mistake() {
        let check = |json: &str, expected: &[&str]| {
            let settings: LlmSettings = serde_json::from_str(json).unwrap();
            let places: Vec<_> = settings.mistakes().into_iter().map(|(place, _)| place).collect();
            assert_eq!(places, expected, "{json}");
        };
        check("{}", &[]);
        check(r#"{"base_url":"http://127.0.0.1:8080/v1","model":"qwen"}"#, &[]);
        check(r#"{"base_url":"https://models.example"}"#, &[]);
        check(r#"{"model":"qwen"}"#, &["model"]);
        for base_url in [
            "",
            "127.0.0.1:8080",
            "ftp://a",
            "http://u:p@a",
            "http://a?q=1",
            "http://a#x",
            "http://a/v1/chat/completions",
        ] {
            check(&format!(r#"{{"base_url":"{base_url}"}}"#), &["base_url"]);
        }
        check(r#"{"api_key_env":"sk-local-test"}"#, &["api_key_env"]);
        check(r#"{"api_key_env":"MODEL_KEY"}"#, &[]);
    }
}
