//! Summaries: a few quotes of a result, picked and ordered by a model.

mod prompt;
mod read;

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

pub use read::{SummaryDraft, read};

pub(crate) use prompt::{RULES, ShownSource};

use crate::{
    quotation::{DraftBullet, Quote, QuoteSource},
    text,
};

/// The most bullets of a summary.
pub const MAX_BULLETS: usize = 5;
/// The most risks, and the most recommendations.
pub const MAX_OTHERS: usize = 3;

/// A summary. Everything in it stands in the result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename = "summary")]
pub struct Summary {
    pub bullets: Vec<Quote>,
    /// Quotes about what could go wrong.
    pub risks: Vec<Quote>,
    /// Quotes about what to do.
    pub recommendations: Vec<Quote>,
    /// The number of the model's bullets that are no quotes of the result.
    pub dropped: usize,
    /// True if the model saw only the beginning of the result.
    pub source_truncated: bool,
}

impl Summary {
    pub fn quotes(&self) -> impl Iterator<Item = &Quote> {
        self.bullets.iter().chain(&self.risks).chain(&self.recommendations)
    }
}

/// A bullet of the model that is not delivered, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DroppedBullet {
    /// The claim, or the evidence where there is none.
    pub claim: String,
    pub reason: String,
}

/// Keeps the bullets that are quotes of the result. Where none is left, returns all that were dropped.
pub fn ground(
    draft: &SummaryDraft,
    source: &mut QuoteSource,
) -> Result<(Summary, Vec<DroppedBullet>), Vec<DroppedBullet>> {
    let mut dropped = draft.malformed.clone();
    let mut keep = |bullets: &[DraftBullet]| {
        let mut kept = Vec::new();
        for bullet in bullets {
            match source.take(bullet) {
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
        bullets,
        risks,
        recommendations,
        dropped: dropped.len(),
        source_truncated: false,
    };
    Ok((summary, dropped))
}

/// Words that ask for a summary, and a word before them that does not want one.
static ASKING: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?x) \b (?: (?<not> not | don't | dont | without | never | no ) [^\w;']+ )?
        (?: summari[sz](?: e | ing ) | tl;dr | tldr | zusammenfassen | résumer? | fasse? \b .* \b zusammen
          | sum [^\w;']+ up | summary [^\w;']+ (?: of | please ) | summary [^\w;']* $ ) (?: [^\w;'] | $ )";
    Regex::new(pattern).expect("the pattern is tested")
});

/// True if a question asks for a summary.
pub fn is_asked_for(question: &str) -> bool {
    ASKING.captures_iter(&text::normal(question)).any(|found| found.name("not").is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_says_whether_it_wants_a_summary() {
        for (question, wants) in [
            ("Summarize policy-002", true),
            ("please summarise it", true),
            ("give me a SUMMARY of policy-002", true),
            ("sum up sp-001", true),
            ("policy-002, tl;dr", true),
            ("I want a summary", true),
            ("Is there a summary?", true),
            ("Fasse policy-002 zusammen", true),
            ("How about summarizing it?", true),
            ("no, summarize it", false),
            ("Do not summarize policy-002", false),
            ("don't summarize it", false),
            ("Find the summary field of policy-002", false),
            ("what is the sum of it", false),
            ("show policy-002", false),
            ("the result without summary", false),
        ] {
            assert_eq!(is_asked_for(question), wants, "{question}");
        }
    }
}
