//! Parses the answer of a search service, without trusting any of it.
//!
//! No value is copied before it is known to be wanted: one that is not looked at stays text,
//! however deep or long it is.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The most results of an answer that are read.
const MAX_LOOKED_AT: usize = 1_000;

/// A result as it came, each field the first that is there of its several names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RawSearchResult {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) snippet: String,
    /// A text or a number.
    pub(super) date: String,
}

/// The results, or why there are none.
pub(super) fn read(body: &[u8]) -> Result<Vec<RawSearchResult>, &'static str> {
    let text = std::str::from_utf8(body).map_err(|_| "it is not UTF-8")?;
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err("it is empty");
    }
    if !text.starts_with('{') {
        return Err("it is not a JSON object");
    }
    let answer: Envelope = serde_json::from_str(text).map_err(|_| "it is not a JSON object")?;
    let is_list = |raw: &&RawValue| raw.get().starts_with('[');
    let list = answer.results.filter(is_list).or_else(|| answer.data.filter(is_list));
    let list = list.ok_or("it has no list of results")?;
    let mut entries: Vec<&RawValue> =
        serde_json::from_str(list.get()).map_err(|_| "its list is broken")?;
    entries.truncate(MAX_LOOKED_AT);
    let found: Vec<RawSearchResult> = entries.iter().filter_map(|entry| found(entry)).collect();
    if found.is_empty() && !entries.is_empty() {
        return Err("its list holds no results");
    }
    Ok(found)
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    results: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

fn found(entry: &RawValue) -> Option<RawSearchResult> {
    let fields: HashMap<String, &RawValue> = serde_json::from_str(entry.get()).ok()?;
    let first = |names: &[&str], read: fn(&RawValue) -> Option<String>| {
        let texts = names.iter().filter_map(|name| read(fields.get(*name)?));
        texts.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default()
    };
    // The names that LiteLLM, SearXNG and others have for the same thing.
    Some(RawSearchResult {
        title: first(&["title", "name"], text),
        url: first(&["url", "link"], text),
        snippet: first(&["snippet", "description", "content"], text),
        date: first(&["date", "publishedDate", "published_date"], text_or_number),
    })
}

/// A text; anything else is as good as nothing.
fn text(raw: &RawValue) -> Option<String> {
    // Half of a surrogate pair is a mistake of the service in one field and not in all of them.
    serde_json::from_str(raw.get()).ok()
}

fn text_or_number(raw: &RawValue) -> Option<String> {
    let is_number = raw.get().bytes().all(|one| one.is_ascii_digit() || one == b'.');
    if is_number {
        return raw.get().split('.').next().map(str::to_owned);
    }
    text(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(body: &str) -> RawSearchResult {
        let mut found = read(body.as_bytes()).unwrap();
        assert_eq!(found.len(), 1, "{body}");
        found.remove(0)
    }

    #[test]
    fn every_service_has_its_own_names() {
        let expected = RawSearchResult {
            title: "T".into(),
            url: "https://a.example".into(),
            snippet: "S".into(),
            date: "2025-01-01".into(),
        };
        for body in [
            r#"{"object":"search","results":[{"title":"T","url":"https://a.example","snippet":"S","date":"2025-01-01","last_updated":null}]}"#,
            r#"{"query":"q","number_of_results":1,"results":[{"url":"https://a.example","title":"T","content":"S","publishedDate":"2025-01-01","engine":"x","score":1.5}],"answers":[]}"#,
            r#"{"data":[{"name":"T","link":"https://a.example","description":"S","published_date":"2025-01-01"}]}"#,
            r#"{"results":null,"data":[{"title":"","name":"T","url":null,"link":"https://a.example","snippet":5,"description":"S","date":{},"publishedDate":"2025-01-01"}]}"#,
            "\u{feff} {\"results\":[{\"title\":\"T\",\"url\":\"https://a.example\",\"snippet\":\"S\",\"date\":\"2025-01-01\"}]} \n",
        ] {
            assert_eq!(first(body), expected, "{body}");
        }
        assert_eq!(first(r#"{"results":[{"date":1735689600.5}]}"#).date, "1735689600");
        assert_eq!(
            first(r#"{"results":[{"title":"\ud83d","url":"https://a.example"}]}"#).title,
            ""
        );
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for body in [
            "",
            "   ",
            "5",
            "null",
            "true",
            "[]",
            "[{\"url\":\"https://a.example\"}]",
            "\"text\"",
            "{}",
            "{",
            "{\"results\":[",
            "{\"results\":[]} x",
            "{\"results\":null}",
            "{\"results\":{}}",
            "{\"results\":\"none\"}",
            "{\"results\":5,\"data\":false}",
            "{\"results\":[1,\"a\",null,[]]}",
            "{\"error\":{\"message\":\"no\"}}",
            "<html><body>502 Bad Gateway</body></html>",
            "not json",
        ] {
            assert!(read(body.as_bytes()).is_err(), "{body}");
        }
        assert!(read(b"{\"results\":[{\"title\":\"\xff\"}]}").is_err());
    }

    #[test]
    fn nothing_found_is_an_answer() {
        assert_eq!(read(b"{\"results\":[]}"), Ok(Vec::new()));
        assert_eq!(read(br#"{"data":[]}"#), Ok(Vec::new()));
    }

    #[test]
    fn depth_and_length_cost_nothing() {
        let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        let body = format!(r#"{{"x":{deep},"results":[{{"url":{deep},"title":"T"}}]}}"#);
        assert_eq!(first(&body).title, "T");
        let many = format!(r#"{{"results":[{}{{}}]}}"#, "{},".repeat(1_000_000));
        assert_eq!(read(many.as_bytes()).unwrap().len(), MAX_LOOKED_AT);
    }
}
