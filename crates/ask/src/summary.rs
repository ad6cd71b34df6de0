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
    let mut dropped = Vec::new();
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

/// Whether a question asks for a summary.
pub fn is_asked_for(question: &str) -> bool {
    let words = ["summarize", "summarise", "summary", "summarized", "summarised", "tl;dr"];
    let question = policy::normal(question);
    let mut tokens = question.split(|one: char| !one.is_alphanumeric() && one != ';');
    tokens.any(|token| words.contains(&token))
}
