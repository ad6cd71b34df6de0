//! Names of a claim: they must be in the evidence, and who does what to whom must stay so.

use super::{
    Ungrounded,
    support::{Claim, Passage},
    vocabulary,
    words::{Kind, Word},
};

/// Whether the evidence has the names of a claim, in their places.
pub(super) fn check(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    named(claim, passage)?;
    in_order(claim, passage)?;
    not_turned(claim, passage)
}

fn named(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    for (at, word) in claim.words.iter().enumerate() {
        let is_there = match (name(word, at == 0), &word.kind) {
            (Named::Not, _) => true,
            (Named::Maybe, _) => {
                vocabulary::is_opener(&word.key) || passage.quote().any(|one| word.is_like(one))
            }
            (Named::Surely, Kind::Code) => passage.quote().any(|one| word.key == one.key),
            // `US` is not `us`.
            (Named::Surely, _) if vocabulary::is_stop(&word.key) => {
                passage.quote().any(|one| word.text == one.text)
            }
            (Named::Surely, _) => passage.quote().any(|one| word.is_form_of(one)),
        };
        if !is_there {
            return Err(Ungrounded::Name(word.text.clone()));
        }
    }
    Ok(())
}

/// Two names must not change places, unless one side says it in the passive voice.
fn in_order(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    if claim.words.iter().any(|word| vocabulary::is_german(&word.key)) {
        return Ok(());
    }
    let is_by = |word: &Word| matches!(&*word.key, "by" | "par" | "por" | "da");
    if claim.words.iter().any(is_by) != passage.quote().any(is_by) {
        return Ok(());
    }
    let places = |name: &Word| -> Vec<usize> {
        let quote = passage.quote().enumerate();
        let same = quote.filter(|(_, one)| one.is_form_of(name) && has_capital(one));
        same.map(|(at, _)| at).collect()
    };
    let named: Vec<(&Word, Vec<usize>)> = claim
        .words
        .iter()
        .filter(|word| word.kind == Kind::Content && has_capital(word))
        .map(|word| (word, places(word)))
        .filter(|(_, places)| !places.is_empty())
        .collect();
    for two in named.windows(2) {
        let ((one, ones), (other, others)) = (&two[0], &two[1]);
        let first = ones.iter().min();
        let in_order = others.iter().any(|place| first.is_some_and(|first| first < place));
        if !in_order && one.key != other.key {
            return Err(Ungrounded::Order(one.text.clone(), other.text.clone()));
        }
    }
    Ok(())
}

/// `Admins delete users` must not become `Users delete admins`.
fn not_turned(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    let said: Vec<&Word> = claim.words.iter().filter(|word| word.is_content()).collect();
    let quoted: Vec<&Word> = passage.quote().filter(|word| word.is_content()).collect();
    for ours in said.windows(3) {
        let is_turned = |theirs: &[&Word]| {
            // `Hired by Acme` is Acme that hired.
            ours[1].key == theirs[1].key
                && !ours[1].key.ends_with("ed")
                && ours[0].is_form_of(theirs[2])
                && ours[2].is_form_of(theirs[0])
                && !ours[0].is_form_of(ours[2])
        };
        let is_straight =
            |theirs: &[&Word]| ours.iter().zip(theirs).all(|(one, other)| one.is_form_of(other));
        if quoted.windows(3).any(is_turned) && !quoted.windows(3).any(is_straight) {
            return Err(Ungrounded::Order(ours[0].text.clone(), ours[2].text.clone()));
        }
    }
    Ok(())
}

/// Whether a word is a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Not,
    /// It has a capital, but so does every first word.
    Maybe,
    Surely,
}

fn name(word: &Word, is_first: bool) -> Named {
    match word.kind {
        Kind::Code => Named::Surely,
        Kind::Content if has_capital(word) => {
            let inner = word.text.chars().skip(1).any(char::is_uppercase);
            if is_first && !inner { Named::Maybe } else { Named::Surely }
        }
        _ => Named::Not,
    }
}

fn has_capital(word: &Word) -> bool {
    word.text.chars().any(char::is_uppercase)
}
