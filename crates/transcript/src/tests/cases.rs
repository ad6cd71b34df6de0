//! The collected cases, each with what it requires.

use regex::Regex;
use serde_json::Value;

use super::{cleaned, is_subsequence, words};

const CASES: &str = include_str!("cases.json");
const HOMELAB: &str = include_str!("homelab.jsonl");

#[test]
fn the_collected_cases_hold() {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let mut failures = Vec::new();
    // The others are for a model.
    for case in cases["cases"].as_array().unwrap().iter().filter(|case| case["mode"] == "both") {
        let text = case["input"]["text"].as_str().unwrap();
        let clean = cleaned(text);
        for complaint in complaints(&case["require"], text, &clean) {
            failures.push(format!("{} {complaint}: {clean:?}", case["id"]));
        }
        assert_eq!(cleaned(&clean), clean, "{} is not stable", case["id"]);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_homelab_cases_hold() {
    for line in HOMELAB.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        if case["tool"] != "transcript.clean" {
            continue; // It is about the answers of a model.
        }
        let text = case["input"]["text"].as_str().unwrap();
        if text.is_empty() {
            continue; // The schema refuses it.
        }
        let clean = cleaned(text);
        let id = &case["id"];
        assert!(is_subsequence(&words(&clean), &words(text)), "{id} adds a word: {clean:?}");
        assert!(clean.starts_with(char::is_uppercase), "{id} has no capital: {clean:?}");
        assert!(clean.ends_with('.'), "{id} has no end: {clean:?}");
        for word in words(text) {
            let may_go = matches!(word.as_str(), "uh" | "um" | "i");
            assert!(may_go || words(&clean).contains(&word), "{id} lacks {word:?}: {clean:?}");
        }
        for gone in ["uh", "um"] {
            assert!(!words(&clean).contains(&gone.to_owned()), "{id} has {gone:?}: {clean:?}");
        }
    }
}

fn complaints(require: &Value, text: &str, clean: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut want = |holds: bool, complaint: String| {
        if !holds {
            all.push(complaint);
        }
    };
    let low = clean.to_lowercase();
    for (key, value) in require.as_object().unwrap() {
        let list = value.as_array().cloned().unwrap_or_default();
        let list: Vec<&str> = list.iter().map(|item| item.as_str().unwrap()).collect::<Vec<_>>();
        match key.as_str() {
            "contains" | "not_contains" | "icontains" | "not_icontains" | "not_regex" => {
                for x in &list {
                    let found = match key.as_str() {
                        "contains" | "not_contains" => clean.contains(x),
                        "not_regex" => Regex::new(x).unwrap().is_match(clean),
                        _ => low.contains(&x.to_lowercase()),
                    };
                    want(found != key.starts_with("not_"), format!("{key} {x:?} does not hold"));
                }
            }
            "order" => {
                let mut at = 0;
                for x in &list {
                    let found = clean[at..].find(x);
                    want(found.is_some(), format!("lacks {x:?} in order"));
                    at += found.unwrap_or(0);
                }
            }
            "count" => {
                for (x, count) in value.as_object().unwrap() {
                    let found = low.matches(&x.to_lowercase()).count();
                    want(Some(found as u64) == count.as_u64(), format!("has {found} of {x:?}"));
                }
            }
            "equals" => {
                let others = require["alt"].as_array().into_iter().flatten();
                let is_other = others
                    .map(|other| Regex::new(other.as_str().unwrap()).unwrap())
                    .any(|other| other.is_match(clean));
                want(value == clean || is_other, "is not equal".into());
            }
            "same_words" => want(words(clean) == words(text), "changes words".into()),
            "min_words" => {
                let count = clean.split_whitespace().count() as u64;
                want(count >= value.as_u64().unwrap(), format!("has {count} words"));
            }
            "paragraphs" => {
                let count = clean.lines().filter(|line| !line.trim().is_empty()).count() as u64;
                want(count >= value.as_u64().unwrap(), format!("has {count} paragraphs"));
            }
            "idempotent" | "alt" | "note" => {}
            other => panic!("a requirement that is not checked: {other}"),
        }
    }
    all
}
