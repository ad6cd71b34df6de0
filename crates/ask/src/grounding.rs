//! Whether the result of a tool bears out what a model says about it.
//!
//! A summary is a list of bullets, each a claim and the evidence for it. Nobody trusts the model
//! that wrote them, and no other model is asked: a bullet is delivered only if the rules below say
//! so. The evidence must stand in one string of the result, whole words of it. Everything of the
//! claim that could be wrong in a way that hurts must be in the evidence: numbers with their
//! units, dates, names, negations, absolutes, words that have an opposite, and most of the rest.
//!
//! The rules know no grammar. Where they are in doubt they refuse: a bullet that is missing costs
//! a person a look at the result, a wrong one costs more.
//!
//! Pure: no file, no network, no clock.

mod clauses;
mod dates;
mod fold;
mod hedges;
mod label;
mod letters;
mod measures;
mod modality;
mod names;
mod numbers;
mod polarity;
mod replaced;
mod roles;
mod source;
mod stem;
mod support;
mod together;
mod units;
mod vocabulary;
mod words;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use source::Source;

/// A longer claim is refused at once, in bytes.
pub const MAX_CLAIM_BYTES: usize = 2_000;
/// Longer evidence is refused at once, in bytes.
pub const MAX_EVIDENCE_BYTES: usize = 4_000;
/// How many words a claim may have.
pub const MAX_CLAIM_WORDS: usize = 12;
/// Evidence with fewer words must be a whole value, line or sentence.
pub const MIN_EVIDENCE_WORDS: usize = 3;
/// How much of what a claim says must be in its evidence, in percent of its content words.
pub const MIN_COVERED_PERCENT: usize = 60;
/// How many places are tried at which the evidence stands.
pub const MAX_OCCURRENCES: usize = 32;
/// How much text these places may have together, in bytes. Two are tried in any case.
pub const MAX_TRIED_BYTES: usize = 32_000;
/// How much of a sentence is read before and behind the evidence, in bytes.
pub const MAX_CONTEXT_BYTES: usize = 2_000;

/// What a model wrote: a claim, and the words of the result that it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Bullet {
    /// What is said about the result.
    pub claim: String,
    /// What the result is said to say.
    pub evidence: String,
}

/// A bullet that the result bears out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Grounded {
    /// What is said about the result, as the model wrote it.
    pub claim: String,
    /// The words of the result, as they stand there and not as the model typed them.
    pub evidence: String,
    /// Where they stand.
    pub location: Location,
}

/// A part of one string of the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Location {
    /// The string, as a JSON pointer.
    pub pointer: String,
    /// The first character (Unicode scalar value) of the part.
    pub start: usize,
    /// The character behind its last one.
    pub end: usize,
}

/// Why a bullet is not delivered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Ungrounded {
    /// There is nothing to judge.
    #[error("the claim is empty")]
    EmptyClaim,
    /// More than anybody would read as one point.
    #[error("the claim is longer than {MAX_CLAIM_WORDS} words")]
    LongClaim,
    /// Nothing but words that every text has.
    #[error("the claim says nothing")]
    IdleClaim,
    /// What cannot be seen can hide what is said.
    #[error("the claim has a control character or an invisible one")]
    UnseenInClaim,
    /// Letters that look like others.
    #[error("`{0}` of the claim mixes letters of two scripts that look alike")]
    MixedScripts(String),
    /// There is nothing to look for.
    #[error("the evidence is empty")]
    EmptyEvidence,
    /// Longer than a quote should be.
    #[error("the evidence is longer than {MAX_EVIDENCE_BYTES} bytes")]
    LongEvidence,
    /// No string of the result has it.
    #[error("evidence was not found in the result")]
    NotFound,
    /// It begins or ends within a word or a number.
    #[error("the evidence cuts a word or a number of the result")]
    CutsWord,
    /// A word or two could be from anywhere.
    #[error(
        "the evidence has fewer than {MIN_EVIDENCE_WORDS} words and is no whole line or sentence"
    )]
    ShortEvidence,
    /// Nothing but words that every text has.
    #[error("the evidence says nothing")]
    IdleEvidence,
    /// A number that the evidence does not have.
    #[error("`{0}` of the claim is not in its evidence")]
    Number(String),
    /// A date that the evidence does not have.
    #[error("the date `{0}` of the claim is not in its evidence")]
    Date(String),
    /// The evidence counts something else.
    #[error("`{number} {unit}` of the claim is not what its evidence counts")]
    Unit {
        /// The number, as the claim has it.
        number: String,
        /// What it counts there.
        unit: String,
    },
    /// The evidence says the number of something else.
    #[error("`{number}` of the claim belongs to something other than `{word}` in its evidence")]
    Elsewhere {
        /// The number, as the claim has it.
        number: String,
        /// What the claim says it of.
        word: String,
    },
    /// A name, or what looks like one.
    #[error("the name `{0}` of the claim is not in its evidence")]
    Name(String),
    /// Who does it to whom.
    #[error("`{0}` and `{1}` stand the other way round in the evidence")]
    Order(String, String),
    /// The claim says no where the result does not.
    #[error("`{0}` of the claim is not in its evidence, which says it without")]
    NegationAdded(String),
    /// The result says no where the claim does not.
    #[error("the result says `{0}` there, and the claim leaves it out")]
    NegationLost(String),
    /// Both say no, but to different things.
    #[error("`{0}` is denied in the claim or in its evidence, but not in both")]
    NegationMoved(String),
    /// More than the result says.
    #[error("`{0}` of the claim goes further than its evidence")]
    Absolute(String),
    /// A word that has an opposite, or that says what is done.
    #[error("`{0}` of the claim is not what its evidence says")]
    Contrast(String),
    /// Something else stands where the evidence says something.
    #[error("`{claimed}` of the claim stands where its evidence says `{quoted}`")]
    Replaced {
        /// The word of the claim.
        claimed: String,
        /// The word of the evidence.
        quoted: String,
    },
    /// What is said of one thing in the evidence, said of another.
    #[error(
        "`{0}` of the claim stands in another sentence or clause of the evidence than the rest"
    )]
    Apart(String),
    /// May became must, or must became may.
    #[error("`{0}` of the claim is stronger or weaker than its evidence")]
    Modality(String),
    /// What is so only if something else is.
    #[error("the result says it only `{0}` something else is so, and the claim leaves that out")]
    ConditionLost(String),
    /// What is only said, or was so, or holds for some.
    #[error("the result says `{0}` there, and the claim leaves it out")]
    HedgeLost(String),
    /// Nobody is sent to an address by half a sentence.
    #[error("the claim cuts an address out of its sentence")]
    CutAddress,
    /// What asks says nothing.
    #[error("the evidence is a question")]
    Question,
    /// Too little of the claim is in its evidence.
    #[error("less than {MIN_COVERED_PERCENT} % of the claim is in its evidence")]
    Coverage,
}

impl Source<'_> {
    /// Holds a bullet against the result: what is delivered, or why it is not.
    pub fn ground(&self, bullet: &Bullet) -> Result<Grounded, Ungrounded> {
        let claim = support::Claim::read(&bullet.claim)?;
        if bullet.evidence.len() > MAX_EVIDENCE_BYTES {
            return Err(Ungrounded::LongEvidence);
        }
        let evidence = fold::needle(&bullet.evidence);
        if evidence.is_empty() {
            return Err(Ungrounded::EmptyEvidence);
        }
        let mut reason = None;
        let tries = (MAX_TRIED_BYTES / evidence.len()).clamp(2, MAX_OCCURRENCES);
        for range in self.occurrences(&evidence).take(tries) {
            let passage = self.passage(range.clone());
            match passage.check().and_then(|()| claim.check(&passage)) {
                Ok(()) => return Ok(self.grounded(&bullet.claim, range)),
                Err(other) => reason = reason.or(Some(other)),
            }
        }
        Err(reason.unwrap_or(Ungrounded::NotFound))
    }
}
