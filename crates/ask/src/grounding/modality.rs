//! Whether something is so, may be so, must be so, or would be so if something else were.

use super::{
    Ungrounded, polarity,
    support::{Claim, Part, Passage},
    vocabulary::{self, Modal},
    words::{Gap, Word},
};

/// Whether a claim says it as strongly as its evidence, under the same conditions.
pub(super) fn check(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    for part in polarity::relevant(claim, passage) {
        if part.is_question {
            return Err(Ungrounded::Question);
        }
        same_condition(claim, part)?;
    }
    same_strength(claim, passage)
}

/// May must not become must, nor must may. What is denied is denied either way.
fn same_strength(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    if claim.words.iter().any(|word| word.denial().is_some()) {
        return Ok(());
    }
    let quoted: Vec<Modal> =
        passage.quote().filter_map(|word| vocabulary::modal(&word.key)).collect();
    for word in &claim.words {
        let Some(modal) = vocabulary::modal(&word.key) else { continue };
        let is_other = match modal {
            _ if quoted.contains(&modal) => false,
            Modal::Duty => !quoted.is_empty(),
            Modal::Advice => !quoted.is_empty() && !quoted.contains(&Modal::Duty),
            Modal::Choice => quoted.contains(&Modal::Duty),
        };
        if is_other {
            return Err(Ungrounded::Modality(word.text.clone()));
        }
    }
    Ok(())
}

/// A condition must leave a trace in the claim: a word of its own, or another condition.
fn same_condition(claim: &Claim, part: &Part) -> Result<(), Ungrounded> {
    if claim.words.iter().any(|word| vocabulary::is_condition(&word.key)) {
        return Ok(());
    }
    for (at, word) in part.words.iter().enumerate() {
        if !matches!(&*word.key, "if" | "provided" | "assuming" | "wenn" | "falls" | "sofern") {
            continue;
        }
        let is_within = |one: &&Word| one.gap == Gap::None;
        let condition = part.words[at + 1..].iter().take_while(is_within);
        let mut said =
            condition.filter(|one| one.is_content() || one.number().is_some()).peekable();
        let is_said = |one: &Word| claim.words.iter().any(|word| word.is_like(one));
        if said.peek().is_some() && !said.any(is_said) {
            return Err(Ungrounded::ConditionLost(word.text.clone()));
        }
    }
    Ok(())
}
