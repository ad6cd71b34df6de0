//! Sentences that were written down as people speak, and sentences that only look like that.
//!
//! A row says what should be left (`wanted`). A row that the rules do not handle yet also says what they
//! leave today (`now`). It fails when that changes, for the better too: then the row is to be brought up to date.

use serde::Deserialize;

use super::cleaned;

const DISFLUENT: &str = include_str!("disfluent.jsonl");
const FLUENT: &str = include_str!("fluent.jsonl");

#[derive(Deserialize)]
struct Sentence {
    said: String,
    /// All of `said` in a fluent sentence.
    wanted: Option<String>,
    now: Option<String>,
}

/// The words without case and punctuation: which of two equal ones was removed does not matter to a reader.
fn words(text: &str) -> Vec<String> {
    let bare = |piece: &str| piece.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    text.replace('\u{ad}', "")
        .split_whitespace()
        .map(bare)
        .filter(|word| !word.is_empty())
        .collect()
}

fn check(file: &str) {
    let mut failures = Vec::new();
    for line in file.lines() {
        let Sentence { said, wanted, now } = serde_json::from_str(line).unwrap();
        let wanted = words(wanted.as_ref().unwrap_or(&said));
        let left = cleaned(&said);
        match now {
            None if words(&left) != wanted => failures.push(format!("{said:?} -> {left:?}")),
            Some(now) if now != left => {
                failures.push(format!("{said:?} -> {left:?}, which was {now:?}"));
            }
            Some(now) if words(&now) == wanted => {
                failures.push(format!("{said:?} is as wanted: remove `now`"));
            }
            _ => {}
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_is_not_meant_goes_and_what_is_meant_stays() {
    check(DISFLUENT);
}

#[test]
fn fluent_sentences_keep_their_words() {
    check(FLUENT);
}
