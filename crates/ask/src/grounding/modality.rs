//! Whether something is so, may be so, must be so, or would be so if something else were.

mod open;

use super::{
    Ungrounded, clauses, polarity,
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
        not_supposed(claim, part)?;
        not_unless(claim, part)?;
        only_those(claim, part)?;
    }
    same_tense(claim, passage)?;
    not_done(claim, passage)?;
    open::check(claim, passage)?;
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

/// `The manager may approve it` does not say that the manager approved it.
fn not_done(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    let words = &claim.words;
    let said = |at: usize| words[..at].iter().rev().find(|word| word.is_content());
    for at in (1..words.len()).filter(|at| clauses::is_past(&words[*at].key)) {
        let is_passive = clauses::is_auxiliary(&words[at - 1].key);
        let Some(subject) = said(at).filter(|_| words[at].is_content() && !is_passive) else {
            continue;
        };
        for part in &passage.parts {
            let quote = part.quote();
            let mut verbs =
                (0..quote.len()).filter(|place| words[at].is_like(&quote[*place])).peekable();
            // The subject, then `may`, then the verb.
            let is_ahead = |place: usize| {
                let modal = (0..place).rev().take_while(|before| !quote[*before].is_content());
                let modal = modal.into_iter().find(|before| {
                    vocabulary::modal(&quote[*before].key).is_some() || quote[*before].key == "will"
                });
                let doer = modal
                    .and_then(|modal| quote[..modal].iter().rev().find(|word| word.is_content()));
                !clauses::is_past(&quote[place].key)
                    && doer.is_some_and(|doer| doer.is_form_of(subject))
            };
            if verbs.peek().is_some() && verbs.all(is_ahead) {
                return Err(Ungrounded::Modality(words[at].text.clone()));
            }
        }
    }
    Ok(())
}

/// What is so unless something happens is not so if it happens. One more or one fewer `not` makes
/// `if` of `unless`.
fn not_unless(claim: &Claim, part: &Part) -> Result<(), Ungrounded> {
    let is_unless = |word: &Word| word.key == "unless";
    let is_if = |word: &Word| {
        matches!(
            &*word.key,
            "if" | "when" | "whenever" | "once" | "where" | "provided" | "while" | "with"
        )
    };
    let count = |words: &[Word]| {
        words.iter().filter(|word| word.denial().is_some() && !is_unless(word)).count()
    };
    let Some(unless) = part.words.iter().find(|word| is_unless(word)) else { return Ok(()) };
    let is_turned = claim.words.iter().any(is_if) && !part.words.iter().any(is_if);
    if is_turned
        && !claim.words.iter().any(is_unless)
        && count(&claim.words) % 2 == count(&part.words) % 2
    {
        return Err(Ungrounded::ConditionLost(unless.text.clone()));
    }
    Ok(())
}

/// `Only members with a card may enter` says nothing of other members, nor of anybody else.
fn only_those(claim: &Claim, part: &Part) -> Result<(), Ungrounded> {
    let words = &part.words;
    for at in (0..words.len()).filter(|at| matches!(&*words[*at].key, "only" | "solely")) {
        let behind = || words[at + 1..].iter().take_while(|word| word.gap == Gap::None);
        let end = behind().position(|word| clauses::is_auxiliary(&word.key));
        let begins =
            at == 0 || words[at].gap >= Gap::Comma || vocabulary::is_break(&words[at - 1].key);
        // Only of who may do it; `only if it is so` is a condition.
        let is_who = behind().next().is_some_and(|word| !vocabulary::is_condition(&word.key));
        let Some(end) = end.filter(|_| begins && is_who) else { continue };
        let rest = behind().skip(end + 1).filter(|word| word.is_content());
        let is_said = |one: &Word| claim.words.iter().any(|word| word.is_like(one));
        let is_about = rest.into_iter().any(is_said);
        let those: Vec<&Word> = behind().take(end).filter(|word| word.is_content()).collect();
        // `The Legal team` is Legal.
        let is_name = |word: &Word| word.text.starts_with(char::is_uppercase);
        let has_name = those.iter().any(|word| is_name(word));
        let is_lost = |word: &&Word| (!has_name || is_name(word)) && !is_said(word);
        if is_about && those.iter().any(is_lost) {
            return Err(Ungrounded::ConditionLost(words[at].text.clone()));
        }
    }
    Ok(())
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

/// `If the pump leaks, the valve closes` does not say that the pump leaks: a condition alone is
/// nothing that is so.
fn not_supposed(claim: &Claim, part: &Part) -> Result<(), Ungrounded> {
    if claim.words.iter().any(|word| vocabulary::is_condition(&word.key)) {
        return Ok(());
    }
    let words = &part.words;
    for (at, word) in words.iter().enumerate() {
        let is_case = word.key == "case" && at > 0 && words[at - 1].key == "in";
        if !(vocabulary::opens_condition(&word.key) || word.key == "unless" || is_case) {
            continue;
        }
        let is_over = |place: &usize| words[*place].gap >= Gap::Comma;
        let end = (at + 1..words.len()).find(is_over).unwrap_or(words.len());
        let has = |there: &[Word], word: &Word| there.iter().any(|one| word.is_like(one));
        let is_there = |word: &&Word| word.is_content() && has(words, word);
        let is_supposed = |word: &Word| {
            has(&words[at + 1..end], word) && !has(&words[..at], word) && !has(&words[end..], word)
        };
        let said: Vec<&Word> = claim.words.iter().filter(is_there).collect();
        let supposed = said.iter().filter(|word| is_supposed(word)).count();
        // What the rest names, too, may be said of it: `the pump` that leaks, and that is stopped.
        if supposed > 0 && said.iter().all(|word| has(&words[at + 1..end], word)) {
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
