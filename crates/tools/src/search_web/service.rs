//! The service that is asked: where it is, what is sent to it, and whether it can be asked at all.

use std::time::Duration;

use guard::net::{
    HeaderValue, HttpClient, HttpRequest, MAX_URL_BYTES, NetRules, RequestLimits, Url, header,
};
use serde_json::json;

use crate::settings::{SearchProvider, SearchSettings, SearchToolIn};

/// A service that the settings name.
pub(super) struct SearchService {
    provider: SearchProvider,
    /// Without a slash at its end.
    base: String,
    settings: SearchSettings,
    /// It reaches this service and nothing else.
    pub(super) client: HttpClient,
}

/// The reason why no request was made.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SearchRequestError {
    /// The query does not fit into one.
    TooLong,
    /// The key is not there, or is none: a sentence for callers and the operator.
    Key(String),
}

impl SearchService {
    /// The service, nothing where the settings name none, or what is wrong with them.
    pub(super) fn new(settings: &SearchSettings) -> Result<Option<Self>, String> {
        let (Some(provider), Some(base_url)) = (settings.provider, &settings.base_url) else {
            return Ok(None);
        };
        // As it is read, not as it is spelled: blanks around it are no part of it.
        let base_url = Url::parse(base_url).map_err(|error| format!("`base_url`: {error}"))?;
        let base = base_url.as_str().trim_end_matches('/');
        // People give the base that clients of the OpenAI interface want.
        let base = match provider {
            SearchProvider::Litellm => base.strip_suffix("/v1").unwrap_or(base),
            SearchProvider::Searxng => base,
        };
        let rules = NetRules::only(base_url.as_str()).map_err(|error| error.to_string())?;
        // A key goes to nobody but whom it is for, so a redirect is an answer like any other.
        let rules = NetRules { max_redirects: 0, ..rules };
        let timeout = Duration::from_millis(settings.timeout_ms);
        let client = HttpClient::new(&guard::net::HttpClientSettings {
            rules,
            connect_timeout: timeout,
            idle_timeout: timeout,
            // A connection that is kept may be closed by the service at the moment when it is used
            // again, and a `POST` is not sent twice. Beside a search a new one costs nothing.
            max_idle_per_host: 0,
            extra_ca: settings.extra_ca.clone(),
            stand_in: settings.stand_in.clone(),
            ..guard::net::HttpClientSettings::default()
        });
        Ok(Some(Self { provider, base: base.to_owned(), settings: settings.clone(), client }))
    }

    /// The request for a search.
    pub(super) fn search(
        &self,
        query: &str,
        max_results: usize,
    ) -> Result<HttpRequest, SearchRequestError> {
        let request = match self.provider {
            SearchProvider::Litellm => {
                let mut body = json!({ "query": query, "max_results": max_results });
                let mut url = format!("{}/v1/search", self.base);
                match (&self.settings.search_tool, self.settings.search_tool_in) {
                    (Some(tool), SearchToolIn::Path) => {
                        url.push('/');
                        url.push_str(&segment(tool));
                    }
                    (Some(tool), SearchToolIn::Body) => body["search_tool_name"] = json!(tool),
                    (None, _) => {}
                }
                HttpRequest::post_json(url, body.to_string())
            }
            SearchProvider::Searxng => {
                let mut url = self.parsed("/search");
                url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
                HttpRequest::get(url)
            }
        };
        self.finish(request)
    }

    /// A request that costs nothing and shows whether the service can be used.
    pub(super) fn probe(&self) -> Result<HttpRequest, SearchRequestError> {
        self.finish(HttpRequest::get(match self.provider {
            SearchProvider::Litellm => self.parsed("/v1/search/tools"),
            // Without a query it says 400, and 403 where it does not speak JSON.
            SearchProvider::Searxng => {
                let mut url = self.parsed("/search");
                url.query_pairs_mut().append_pair("format", "json");
                url
            }
        }))
    }

    fn parsed(&self, path: &str) -> Url {
        let text = format!("{}{path}", self.base);
        Url::parse(&text).expect("the settings were read as a URL, and a path keeps it one")
    }

    fn finish(&self, mut request: HttpRequest) -> Result<HttpRequest, SearchRequestError> {
        if request.url.len() > MAX_URL_BYTES {
            return Err(SearchRequestError::TooLong);
        }
        let json = HeaderValue::from_static("application/json");
        request.headers.insert(header::ACCEPT, json);
        if let Some(name) = &self.settings.api_key_env {
            let key = key(name).map_err(SearchRequestError::Key)?;
            request.headers.insert(header::AUTHORIZATION, key);
        }
        Ok(request.within(RequestLimits {
            max_body_bytes: self.settings.max_answer_bytes,
            total: Duration::from_millis(self.settings.timeout_ms),
        }))
    }
}

/// The header with the key that this variable holds.
fn key(name: &str) -> Result<HeaderValue, String> {
    let key = guard::variables::get(name).unwrap_or_default();
    let key = key.trim();
    if key.is_empty() {
        return Err(format!(
            "the environment variable `{name}` (tools.search.api_key_env) is not set"
        ));
    }
    let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| {
        format!(
            "the environment variable `{name}` (tools.search.api_key_env) holds characters that \
             no key has"
        )
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// A name as a part of a path.
fn segment(name: &str) -> String {
    let mut url = Url::parse("http://localhost").expect("this is a URL");
    if let Ok(mut path) = url.path_segments_mut() {
        path.clear().push(name);
    }
    url.path().trim_start_matches('/').to_owned()
}
