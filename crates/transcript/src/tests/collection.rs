//! How much of what people did not mean to say goes, and how much of what they meant: sentences that
//! were written down as people speak, and sentences that only look like that.

use std::collections::HashMap;

use serde::Deserialize;

use super::cleaned;

const DISFLUENT: &str = include_str!("disfluent.jsonl");
const FLUENT: &str = include_str!("fluent.jsonl");

/// Of the words that are removed, how many should have been. A wrong one costs more than a filler that stays.
const PRECISION: f64 = 0.985;
/// Of the sentences with nothing to remove, how many may lose a word.
const TOUCHED: f64 = 0.005;

#[derive(Deserialize)]
struct Sentence {
    language: String,
    said: String,
    /// The same for a fluent sentence.
    wanted: Option<String>,
}

/// What was removed, what of that should have been, and what should have been.
#[derive(Default)]
struct Score {
    removed: usize,
    right: usize,
    wanted: usize,
}

impl Score {
    fn precision(&self) -> f64 {
        ratio(self.right, self.removed)
    }

    fn recall(&self) -> f64 {
        ratio(self.right, self.wanted)
    }

    fn f1(&self) -> f64 {
        2.0 * self.precision() * self.recall() / (self.precision() + self.recall())
    }
}

#[allow(clippy::cast_precision_loss)] // There are a few hundred words.
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

fn sentences(file: &str) -> Vec<Sentence> {
    file.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let bare = |piece: &str| piece.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    text.split_whitespace().map(bare).filter(|word| !word.is_empty())
}

/// How often each word was removed. Which of two equal ones it was does not matter to a reader.
fn removed(said: &str, left: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for word in words(said) {
        *counts.entry(word).or_default() += 1;
    }
    for word in words(left) {
        *counts.get_mut(&word).unwrap_or_else(|| panic!("{word:?} was never said: {said:?}")) -= 1;
    }
    counts
}

fn score(sentences: &[Sentence]) -> Score {
    let mut score = Score::default();
    for sentence in sentences {
        let clean = cleaned(&sentence.said);
        let found = removed(&sentence.said, &clean);
        let wanted = removed(&sentence.said, sentence.wanted.as_ref().unwrap());
        let right: usize = found.iter().map(|(word, count)| *count.min(&wanted[word])).sum();
        score.removed += found.values().sum::<usize>();
        score.wanted += wanted.values().sum::<usize>();
        score.right += right;
        if found != wanted {
            println!("{}: {:?}\n    -> {clean:?}", sentence.language, sentence.said);
        }
    }
    score
}

/// Shows with `--nocapture` what is not as wanted.
#[test]
fn what_is_not_meant_goes_and_what_is_meant_stays() {
    let all = sentences(DISFLUENT);
    for (language, f1) in [("en", 0.70), ("de", 0.60), ("fr", 0.68), ("es", 0.60)] {
        let (some, _): (Vec<_>, Vec<_>) =
            sentences(DISFLUENT).into_iter().partition(|sentence| sentence.language == language);
        let score = score(&some);
        println!(
            "{language}: {} sentences, precision {:.3}, recall {:.3}, F1 {:.3}\n",
            some.len(),
            score.precision(),
            score.recall(),
            score.f1()
        );
        assert!(score.precision() >= PRECISION, "{language}: precision {}", score.precision());
        assert!(score.f1() >= f1, "{language}: F1 {}", score.f1());
    }
    assert!(all.len() >= 200);
}

#[test]
fn fluent_sentences_keep_their_words() {
    let all = sentences(FLUENT);
    let touched: Vec<_> = all
        .iter()
        .filter(|sentence| {
            !words(&sentence.said.replace('\u{ad}', "")).eq(words(&cleaned(&sentence.said)))
        })
        .map(|sentence| (&sentence.said, cleaned(&sentence.said)))
        .collect();
    println!("{} of {} touched: {touched:#?}", touched.len(), all.len());
    assert!(ratio(touched.len(), all.len()) <= TOUCHED, "{touched:#?}");
}
