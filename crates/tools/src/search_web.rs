//! `search.web`: asks the search service that the operator has chosen.
//!
//! What comes back is text of strangers by way of a service of somebody's own. Nothing of it is
//! passed on that was not looked at: the number of results, their addresses, the text in them.

mod clean;
mod date;
mod diagnosis;
mod failure;
mod listing;
mod markup;
mod results;
mod service;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use gate::{Answer, BoxFuture, Clock, Provider, Running, ToolError};
use guard::net::{Choice, Judge, Request, Response};
use serde_json::{Value, json};

use crate::{printed_size::printed, settings::Search};
pub use diagnosis::{Diagnosis, diagnose};
use results::SearchResult;
use service::Service;

pub(crate) struct SearchWeb {
    settings: Search,
    clock: Arc<dyn Clock>,
    /// Made when it is first asked.
    service: OnceLock<Result<Option<Service>, String>>,
}

impl SearchWeb {
    pub(crate) fn new(settings: &Search, clock: &Arc<dyn Clock>) -> Self {
        Self { settings: settings.clone(), clock: clock.clone(), service: OnceLock::new() }
    }

    async fn search(&self, call: &Running) -> Result<Answer, ToolError> {
        let query = call.text("query").trim();
        self.check(query)?;
        let wanted = call.input.get("max_results").and_then(whole);
        let max_results = wanted.unwrap_or(self.settings.max_results);
        let service = self.service()?;
        let mut request =
            service.search(query, max_results).map_err(|why| failure::no_request(&why))?;
        let limit = Duration::from_millis(call.limits.timeout_ms);
        request.limits.total = request.limits.total.min(limit);
        let response = self.ask(service, request, call).await?;
        let found = listing::read(&response.body).map_err(failure::bad_answer)?;
        let (count, now) = (found.len(), self.now());
        // Text of megabytes is cleaned elsewhere than where calls are answered.
        let chosen =
            tokio::task::spawn_blocking(move || results::chosen(found, max_results, now)).await;
        let chosen =
            chosen.map_err(|error| ToolError::internal("the search failed", error.to_string()))?;
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

    fn service(&self) -> Result<&Service, ToolError> {
        match self.service.get_or_init(|| Service::new(&self.settings)) {
            Ok(Some(service)) => Ok(service),
            Ok(None) => Err(failure::not_configured()),
            Err(problem) => Err(failure::misconfigured(problem)),
        }
    }

    async fn ask(
        &self,
        service: &Service,
        request: Request,
        call: &Running,
    ) -> Result<Response, ToolError> {
        // What a service says about its failure may hold anything, our key included.
        let judge =
            Judge::new(|status, _| if status.is_success() { Choice::Read } else { Choice::Skip });
        let response = service
            .client
            .send(request.judged(judge), &call.stop)
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
    fn run<'a>(&'a self, call: &'a Running) -> BoxFuture<'a, Result<Answer, ToolError>> {
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

fn answer(results: &[SearchResult], found: usize) -> Answer {
    let count = results.len();
    let mut answer = Answer::new(json!({ "results": results }));
    answer.summary = Some(format!("Found {count} result(s)."));
    answer.metrics.insert("results".into(), json!(count));
    answer.metrics.insert("results_of_service".into(), json!(found));
    answer
}

/// JSON Schema takes `2.0` for an integer too. The contract bounds it to 1..=25.
fn whole(value: &Value) -> Option<usize> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let number = value.as_u64().or_else(|| value.as_f64().map(|number| number as u64));
    number.and_then(|number| usize::try_from(number).ok())
}
