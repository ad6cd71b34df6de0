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
    same_tense(claim, passage)?;
    same_strength(claim, passage)
}

/// What will be or must be was not yet.
fn same_tense(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    let is_ahead = |word: &Word| {
        vocabulary::modal(&word.key).is_some()
            || matches!(&*word.key, "will" | "planned" | "scheduled" | "soon" | "proposed")
    };
    let is_done = |part: &Part| past(part.quote()).is_some();
    if claim.words.iter().any(is_ahead) || passage.parts.iter().any(is_done) {
        return Ok(());
    }
    match past(&claim.words) {
        Some(word) if passage.quote().any(is_ahead) => Err(Ungrounded::Modality(word.text.clone())),
        _ => Ok(()),
    }
}

/// The word that puts a sentence into the past: `was`, or `has` before `reviewed`.
fn past(words: &[Word]) -> Option<&Word> {
    let is_was = |key: &str| {
        matches!(key, "was" | "were" | "been" | "had" | "did" | "wurde" | "wurden" | "worden")
    };
    let has_done = |at: usize| {
        matches!(&*words[at].key, "has" | "have")
            && words.get(at + 1).is_some_and(|next| next.key.ends_with("ed"))
    };
    (0..words.len()).find(|at| is_was(&words[*at].key) || has_done(*at)).map(|at| &words[at])
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
        let next = part.words.get(at + 1).map_or("", |next| &*next.key);
        if !limits(&word.key, next) {
            continue;
        }
        let is_within = |one: &&Word| one.gap == Gap::None;
        let is_saying = |one: &&Word| one.is_content() || one.number().is_some();
        let behind = part.words[at + 1..].iter().take_while(is_within);
        let mut condition: Vec<&Word> = behind.filter(is_saying).collect();
        if condition.is_empty() {
            // `Available on weekdays only`
            condition.extend(part.words[..at].iter().rev().find(is_saying));
        }
        // A German clause ends with what is so.
        if condition.len() > 1 && part.words.iter().any(|one| vocabulary::is_german(&one.key)) {
            condition.pop();
        }
        let is_said = |one: &&Word| claim.words.iter().any(|word| word.is_like(one));
        if !condition.is_empty() && !condition.iter().any(is_said) {
            return Err(Ungrounded::ConditionLost(word.text.clone()));
        }
    }
    Ok(())
}

/// Whether what stands behind a word limits what is said.
fn limits(key: &str, next: &str) -> bool {
    vocabulary::opens_condition(key)
        || (key == "subject" && next == "to")
        || vocabulary::is_exception(key)
}
