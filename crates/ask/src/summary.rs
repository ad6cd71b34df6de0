//! Summaries: a few quotes of a result, picked and ordered by a model.

mod prompt;
mod read;

use serde::Serialize;

pub use read::{SummaryDraft, read};

pub(crate) use prompt::{RULES, ShownSource};

use crate::{
    quotation::{DraftBullet, Quote, QuoteSource, Quotes},
    text,
};

/// How many bullets a summary has at most.
pub const MAX_BULLETS: usize = 5;
/// How many risks, and how many recommendations.
pub const MAX_OTHERS: usize = 3;

/// A summary. Everything in it stands in the result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Always `summary`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The quotes.
    pub bullets: Vec<Quote>,
    /// Quotes about what could go wrong.
    pub risks: Vec<Quote>,
    /// Quotes about what to do.
    pub recommendations: Vec<Quote>,
    /// How many bullets of the model are no quotes of the result.
    pub dropped: usize,
    /// Whether the model saw only the beginning of the result.
    pub source_truncated: bool,
}

impl Summary {
    /// All quotes.
    pub fn quotes(&self) -> impl Iterator<Item = &Quote> {
        self.bullets.iter().chain(&self.risks).chain(&self.recommendations)
    }
}

/// A bullet of the model that is not delivered, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DroppedBullet {
    /// The claim, or the evidence where there is none.
    pub claim: String,
    /// The reason.
    pub reason: String,
}

/// Keeps the bullets that are quotes of the result. Where none is left, returns all that were dropped.
pub fn ground(
    draft: &SummaryDraft,
    source: &QuoteSource,
) -> Result<(Summary, Vec<DroppedBullet>), Vec<DroppedBullet>> {
    let mut dropped = draft.malformed.clone();
    let mut quotes = Quotes::new(source);
    let mut keep = |bullets: &[DraftBullet]| {
        let mut kept = Vec::new();
        for bullet in bullets {
            match quotes.take(bullet) {
                Ok(quote) => kept.push(quote),
                Err(ungrounded) => {
                    let claim = bullet.claim.as_ref().unwrap_or(&bullet.evidence).clone();
                    dropped.push(DroppedBullet { claim, reason: ungrounded.to_string() });
                }
            }
        }
        kept
    };
    let bullets = keep(&draft.bullets);
    let risks = keep(&draft.risks);
    let recommendations = keep(&draft.recommendations);
    if bullets.is_empty() {
        return Err(dropped);
    }
    let summary = Summary {
        kind: "summary",
        bullets,
        risks,
        recommendations,
        dropped: dropped.len(),
        source_truncated: false,
    };
    Ok((summary, dropped))
}

/// Words that ask for a summary, and words before them that do not want one.
const WANTING: [&str; 9] = [
    "summarize",
    "summarise",
    "summarizing",
    "summarising",
    "tl;dr",
    "tldr",
    "zusammenfassen",
    "résume",
    "résumer",
];
const NOT_WANTING: [&str; 6] = ["not", "don't", "dont", "without", "never", "no"];

/// Whether a question asks for a summary.
pub fn is_asked_for(question: &str) -> bool {
    let question = text::normal(question);
    let is_part = |one: char| one.is_alphanumeric() || matches!(one, ';' | '\'');
    let words: Vec<&str> =
        question.split(|one: char| !is_part(one)).filter(|word| !word.is_empty()).collect();
    let has = |at: usize, word: &str| words.get(at).is_some_and(|found| *found == word);
    (0..words.len()).any(|at| {
        let asks = WANTING.contains(&words[at])
            || words[at] == "sum" && has(at + 1, "up")
            || words[at] == "summary"
                && (has(at + 1, "of") || has(at + 1, "please") || at + 1 == words.len())
            || matches!(words[at], "fass" | "fasse") && words.contains(&"zusammen");
        let before = at.checked_sub(1).map(|before| words[before]);
        asks && !before.is_some_and(|word| NOT_WANTING.contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_says_whether_it_wants_a_summary() {
        for wants in [
            "Summarize policy-002",
            "please summarise it",
            "give me a SUMMARY of policy-002",
            "sum up sp-001",
            "policy-002, tl;dr",
            "I want a summary",
            "Fasse policy-002 zusammen",
            "How about summarizing it?",
        ] {
            assert!(is_asked_for(wants), "{wants}");
        }
        for does_not in [
            "Do not summarize policy-002",
            "don't summarize it",
            "Find the summary field of policy-002",
            "what is the sum of it",
            "show policy-002",
            "the result without summary",
        ] {
            assert!(!is_asked_for(does_not), "{does_not}");
        }
    }
}
