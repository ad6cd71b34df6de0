//! From what a service found to what the contract promises.

use std::collections::HashSet;

use guard::net::Url;
use jiff::Timestamp;
use serde::Serialize;

use super::{
    date,
    listing::RawSearchResult,
    plain_text::{is_hidden, plain_text},
};

/// The longest title, in characters.
const MAX_TITLE_CHARACTERS: usize = 1_000;
/// The longest snippet, in characters.
const MAX_SNIPPET_CHARACTERS: usize = 10_000;
/// The longest address, in bytes.
const MAX_URL_BYTES: usize = 8_192;

/// A result as callers get it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct SearchResult {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) snippet: String,
    pub(super) date: Option<String>,
}

/// The first so many that can be used, in their order.
pub(super) fn chosen(
    found: Vec<RawSearchResult>,
    max_results: usize,
    now: Timestamp,
) -> Vec<SearchResult> {
    let mut seen = HashSet::new();
    let usable = found.into_iter().filter_map(|one| {
        let (url, shown) = address(&one.url)?;
        seen.insert(url).then(|| SearchResult {
            title: plain_text(&one.title, MAX_TITLE_CHARACTERS),
            url: shown,
            snippet: plain_text(&one.snippet, MAX_SNIPPET_CHARACTERS),
            date: date::normalised(&one.date, now),
        })
    });
    usable.take(max_results).collect()
}

/// The address in its one spelling and in the one that is shown: what the service wrote, unless
/// there is something in it that nobody can see. One with a user name in it is there to deceive.
fn address(text: &str) -> Option<(Url, String)> {
    let text = text.trim();
    if text.len() > MAX_URL_BYTES {
        return None;
    }
    let url = Url::parse(text).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
    if !is_web || !url.username().is_empty() || url.password().is_some() {
        return None;
    }
    let odd = |one: char| one.is_control() || one.is_whitespace() || is_hidden(one) || one == '\\';
    let shown = if text.contains(odd) { url.to_string() } else { text.to_owned() };
    Some((url, shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-15T12:00:00Z".parse().unwrap()
    }

    fn found(title: &str, url: &str) -> RawSearchResult {
        RawSearchResult { title: title.into(), url: url.into(), ..RawSearchResult::default() }
    }

    #[test]
    fn only_addresses_of_the_web_stay() {
        for url in [
            "https://a.example",
            "http://a.example/x?y=1&z#f",
            "HTTPS://A.example/",
            "https://例え.example/日本",
            "https://a.example:8443/",
            "http://[2001:db8::1]/",
        ] {
            assert_eq!(address(url).unwrap().1, url);
        }
        for url in [
            "",
            "a.example",
            "/relative",
            "//a.example/x",
            "ftp://a.example/file",
            "javascript:alert(1)",
            " java\nscript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "mailto:a@b.example",
            "http://",
            "https://user:pw@a.example/",
            "https://bank.example@evil.example/",
            "http://a b/",
            "http://a.example:99999/",
        ] {
            assert_eq!(address(url), None, "{url}");
        }
        assert_eq!(address(&format!("https://a.example/{}", "a".repeat(10_000))), None);
    }

    #[test]
    fn an_address_shows_all_that_is_in_it() {
        for (given, shown) in [
            ("  https://a.example/x \n", "https://a.example/x"),
            ("https://a.exa\nmple/x", "https://a.example/x"),
            ("https://a.example/\u{202e}gpj.exe", "https://a.example/%E2%80%AEgpj.exe"),
            ("https://a.example/a b", "https://a.example/a%20b"),
            ("https:\\\\a.example\\x", "https://a.example/x"),
        ] {
            assert_eq!(address(given).unwrap().1, shown, "{given}");
        }
    }

    #[test]
    fn the_first_of_the_same_stays_and_the_order_does() {
        let all = vec![
            found("1", "https://a.example"),
            found("2", "https://b.example/"),
            found("3", "https://a.example/"),
            found("4", "ftp://c.example/"),
            found("5", "https://a.example/#part"),
            found("6", "https://d.example/"),
        ];
        let titles: Vec<_> = chosen(all, 3, now()).into_iter().map(|one| one.title).collect();
        assert_eq!(titles, ["1", "2", "5"]);
    }

    #[test]
    fn a_result_is_clean() {
        let one = RawSearchResult {
            title: " <b>Rust</b> &amp; more ".into(),
            url: "https://a.example".into(),
            snippet: "line one\nline two".into(),
            date: "Jan 1, 2025".into(),
        };
        let expected = SearchResult {
            title: "Rust & more".into(),
            url: "https://a.example".into(),
            snippet: "line one line two".into(),
            date: Some("2025-01-01".into()),
        };
        assert_eq!(chosen(vec![one], 25, now()), [expected]);
    }
}
