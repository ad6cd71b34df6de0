//! Texts, and what is left of them: the lists of `sentences.yaml` and of `formats.yaml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::clean;
use crate::TranscriptFormat;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(default = "plain")]
    format: TranscriptFormat,
    text: String,
    /// All of `text` where it is not given.
    clean: Option<String>,
}

fn plain() -> TranscriptFormat {
    TranscriptFormat::Plain
}

fn check(file: &str) {
    let lists: BTreeMap<String, Vec<Row>> = serde_saphyr::from_str(file).unwrap();
    let mut failures = Vec::new();
    for (list, rows) in &lists {
        for Row { format, text, clean: expected } in rows {
            let expected = (*format, expected.as_ref().unwrap_or(text).clone());
            let left = clean(text).map(|found| (found.counts.format, found.text));
            if left.as_ref() != Ok(&expected) {
                failures.push(format!("{list}: {text:?}\n-> {left:?}\n!= {expected:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn sentences_become_what_is_meant() {
    check(include_str!("sentences.yaml"));
}

#[test]
fn every_format_is_recognised_and_read() {
    check(include_str!("formats.yaml"));
}

#[test]
fn a_recogniser_that_hangs_is_cut() {
    let cue = |n: usize| format!("{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\nThank you.\n\n");
    let file: String = (1..20).map(cue).collect();
    let file = format!("{file}20\n00:01:00,000 --> 00:01:01,000\nThe end.\n");
    assert_eq!(super::cleaned(&file), "Thank you. The end.");
    let text = format!("We start. {}Then we stop.", "I'm going to go there. ".repeat(30));
    assert_eq!(super::cleaned(&text), "We start. I'm going to go there. Then we stop.");
}
