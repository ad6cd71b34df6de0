//! What a result says, in a few claims that each carry a quote.

mod prompt;
mod read;

use std::collections::HashSet;

use serde::Serialize;

pub use read::{Draft, read};

pub(crate) use prompt::{Shown, shape, system, user};

use crate::{
    grounding::{Bullet, Grounded, Source},
    policy,
};

/// How many bullets a summary has at most.
pub const MAX_BULLETS: usize = 5;
/// How many risks, and how many recommendations.
pub const MAX_OTHERS: usize = 3;

/// What a result says. Everything in it was found in the result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Always `summary`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The claims.
    pub bullets: Vec<Grounded>,
    /// What could go wrong.
    pub risks: Vec<Grounded>,
    /// What to do.
    pub recommendations: Vec<Grounded>,
    /// How many claims were dropped because the result does not bear them out.
    pub dropped: usize,
    /// Whether the model saw only the beginning of the result.
    pub source_truncated: bool,
}

impl Summary {
    /// How many claims there are.
    pub fn claims(&self) -> usize {
        self.bullets.len() + self.risks.len() + self.recommendations.len()
    }
}

/// A claim that was dropped, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// The claim.
    pub claim: String,
    /// Why.
    pub reason: String,
}

/// Keeps what the source bears out. Where no bullet is left, all that was dropped.
pub fn ground(draft: &Draft, source: &Source) -> Result<(Summary, Vec<Dropped>), Vec<Dropped>> {
    let mut dropped = draft.malformed.clone();
    let mut said = HashSet::new();
    let mut keep = |bullets: &[Bullet]| {
        let mut kept = Vec::new();
        for bullet in bullets {
            let reason = if said.contains(&policy::normal(&bullet.claim)) {
                "it was said before".to_owned()
            } else {
                match source.ground(bullet) {
                    Ok(grounded) => {
                        said.insert(policy::normal(&bullet.claim));
                        kept.push(grounded);
                        continue;
                    }
                    Err(ungrounded) => ungrounded.to_string(),
                }
            };
            dropped.push(Dropped { claim: bullet.claim.clone(), reason });
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
    let question = policy::normal(question);
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
