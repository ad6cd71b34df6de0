//! `search.web`: asks the search service that the operator has chosen.
//!
//! The answer is text of strangers by way of a service of somebody's own. Nothing of it is
//! passed on that was not looked at: the number of results, their addresses, the text in them.

mod date;
mod diagnosis;
mod failure;
mod listing;
mod markup;
mod plain_text;
mod results;
mod service;

use std::sync::{Arc, OnceLock};

use gate::{BoxFuture, Clock, Provider, RunningCall, ToolError, ToolOutput};
use guard::net::{BodyAction, BodyFilter, HttpRequest, HttpResponse};
use serde_json::json;

use crate::{integer, json_size::printed, off_thread, settings::SearchSettings};
pub use diagnosis::{SearchDiagnosis, diagnose};
use results::SearchResult;
use service::SearchService;

pub(crate) struct SearchWeb {
    settings: SearchSettings,
    clock: Arc<dyn Clock>,
    /// Made when it is first asked.
    service: OnceLock<Result<Option<SearchService>, String>>,
}

impl SearchWeb {
    pub(crate) fn new(settings: &SearchSettings, clock: &Arc<dyn Clock>) -> Self {
        Self { settings: settings.clone(), clock: clock.clone(), service: OnceLock::new() }
    }

    async fn search(&self, call: &RunningCall) -> Result<ToolOutput, ToolError> {
        let query = call.text("query").trim();
        self.check(query)?;
        let wanted = integer::argument(call, "max_results");
        let wanted = wanted.and_then(|number| usize::try_from(number).ok());
        let max_results = wanted.unwrap_or(self.settings.max_results);
        let service = self.service()?;
        let request =
            service.search(query, max_results).map_err(|why| failure::no_request(&why))?;
        let response = self.ask(service, request, call).await?;
        let now = self.now();
        // An answer of megabytes is read elsewhere than where calls are answered.
        let (count, chosen) = off_thread(move || {
            let found = listing::read(&response.body).map_err(failure::bad_answer)?;
            Ok((found.len(), results::chosen(found, max_results, now)))
        })
        .await?;
        Ok(answer(&fitting(chosen, call.limits.max_output_bytes), count))
    }

    fn check(&self, query: &str) -> Result<(), ToolError> {
        if query.is_empty() {
            return Err(ToolError::invalid_input("the query is blank"));
        }
        let limit = self.settings.max_query_characters;
        if query.chars().nth(limit).is_some() {
            let message = format!(
                "the query has more than {limit} characters (tools.search.max_query_characters)"
            );
            return Err(ToolError::invalid_input(message));
        }
        Ok(())
    }

    fn service(&self) -> Result<&SearchService, ToolError> {
        match self.service.get_or_init(|| SearchService::new(&self.settings)) {
            Ok(Some(service)) => Ok(service),
            Ok(None) => Err(failure::not_configured()),
            Err(problem) => Err(failure::misconfigured(problem)),
        }
    }

    async fn ask(
        &self,
        service: &SearchService,
        request: HttpRequest,
        call: &RunningCall,
    ) -> Result<HttpResponse, ToolError> {
        // What a service says about its failure may hold anything, our key included.
        let judge =
            BodyFilter::new(
                |status, _| if status.is_success() { BodyAction::Read } else { BodyAction::Skip },
            );
        let response = service
            .client
            .send(request.with_body_filter(judge), &call.stop)
            .await
            .map_err(|error| failure::unanswered(&error, &self.settings))?;
        if response.status.is_success() {
            Ok(response)
        } else {
            Err(failure::status(response.status.as_u16(), &self.settings))
        }
    }

    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.clock.now().0).unwrap_or_default()
    }
}

impl Provider for SearchWeb {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.search(call))
    }
}

/// As many results as the caller takes bytes: fewer are still an answer.
fn fitting(mut results: Vec<SearchResult>, max_bytes: u64) -> Vec<SearchResult> {
    while !results.is_empty()
        && printed(&json!({ "results": results })).is_ok_and(|bytes| bytes > max_bytes)
    {
        results.pop();
    }
    results
}

fn answer(results: &[SearchResult], found: usize) -> ToolOutput {
    let count = results.len();
    let mut answer = ToolOutput::new(json!({ "results": results }));
    answer.summary = Some(format!("Found {count} result(s)."));
    answer.metrics.insert("results".into(), json!(count));
    answer.metrics.insert("results_of_service".into(), json!(found));
    answer
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Text that is likely to look like markup, entities, dates and addresses.
    fn soup() -> impl Strategy<Value = String> {
        let pieces = prop_oneof![
            "[ -~]{0,8}",
            "\\PC{0,4}",
            proptest::sample::select(vec![
                "<b>",
                "</b>",
                "<a href=\"",
                "<!--",
                "-->",
                "<script>",
                "</script>",
                "&amp;",
                "&#x202e;",
                "&#",
                ";",
                "https://a.example/",
                "javascript:",
                "2025-01-01",
                "T10:00:00Z",
                "ago",
                "\u{0}",
                "\u{202e}",
                "\u{200d}",
                "\u{feff}",
                "\n",
                "<x y='",
                "'>",
                "\u{e0041}",
                "99999999",
            ])
            .prop_map(str::to_owned),
        ];
        proptest::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn whatever_a_service_says_comes_out_clean(
            fields in proptest::collection::vec((soup(), soup(), soup(), soup()), 0..6),
            max_results in 1_usize..=25,
        ) {
            let found = fields.iter().map(|(title, url, snippet, date)| json!({
                "title": title, "url": format!("https://a.example/{url}"), "snippet": snippet, "date": date,
            }));
            let body = json!({ "results": found.collect::<Vec<_>>() }).to_string();
            let found = listing::read(body.as_bytes()).unwrap();
            prop_assert_eq!(found.len(), fields.len());
            let now = jiff::Timestamp::from_second(1_794_728_868).unwrap();
            let results = results::chosen(found, max_results, now);
            prop_assert!(results.len() <= max_results);
            for one in &results {
                for text in [&one.title, &one.snippet] {
                    prop_assert!(!text.chars().any(|one| one.is_control() || plain_text::is_hidden(one)));
                    prop_assert_eq!(text.trim(), text);
                    prop_assert!(!text.contains("  "));
                }
                prop_assert!(!one.url.chars().any(|one| one.is_control() || one.is_whitespace()));
                prop_assert!(guard::net::Url::parse(&one.url).is_ok());
                if let Some(date) = &one.date {
                    let is_time = date.parse::<jiff::Timestamp>().is_ok();
                    prop_assert!(is_time || date.parse::<jiff::civil::Date>().is_ok(), "{}", date);
                }
            }
        }

        #[test]
        fn no_bytes_make_it_fail(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in soup()) {
            let _ = listing::read(&bytes);
            let _ = listing::read(text.as_bytes());
            let _ = listing::read(format!("{{\"results\":[{{{text}}}]}}").as_bytes());
        }
    }
}
