//! Names of a claim: they must be in the evidence, and who does what to whom must stay so.

use super::{
    Ungrounded, clauses, roles,
    support::{Claim, Passage},
    vocabulary,
    words::{Gap, Kind, Word},
};

/// Whether the evidence has the names of a claim, in their places.
pub(super) fn check(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    named(claim, passage)?;
    in_order(claim, passage)?;
    not_moved(claim, passage)?;
    not_compared(claim, passage)?;
    not_turned(claim, passage)
}

fn named(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    for (at, word) in claim.words.iter().enumerate() {
        let is_there = match (name(word, at == 0), &word.kind) {
            (Named::Not, _) => true,
            (Named::Maybe, _) => {
                vocabulary::is_opener(&word.key) || passage.said(claim).any(|one| word.is_like(one))
            }
            (Named::Surely, Kind::Code) => passage.quote().any(|one| word.key == one.key),
            // `US` is not `us`.
            (Named::Surely, _) if vocabulary::is_stop(&word.key) => {
                passage.quote().any(|one| word.text == one.text)
            }
            (Named::Surely, _) => {
                let label = passage.label(claim).iter();
                passage.quote().chain(label).any(|one| word.is_form_of(one))
            }
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
    // `In Oslo, A replaced B` begins with what may stand anywhere.
    let named: Vec<(&Word, Vec<usize>)> = claim.words[clauses::fronted(&claim.words)..]
        .iter()
        .filter(|word| word.kind == Kind::Content && has_capital(word))
        .map(|word| (word, places(word)))
        .filter(|(_, places)| !places.is_empty())
        .collect();
    // Nor does it matter which comes first of what a word such as `after` ties to each other.
    let tie = claim.words.iter().find(|word| clauses::is_subordinator(&word.key));
    let tie = tie.filter(|tie| passage.quote().any(|one| one.key == tie.key));
    let comma = claim.words.iter().skip(1).find(|word| word.gap == Gap::Comma);
    let parting = match (tie, comma) {
        (Some(tie), Some(comma)) if tie.range.start == 0 => comma.range.start,
        (Some(tie), _) => tie.range.start,
        (None, _) => 0,
    };
    for two in named.windows(2) {
        let ((one, ones), (other, others)) = (&two[0], &two[1]);
        if one.range.start < parting && parting <= other.range.start {
            continue;
        }
        let first = ones.iter().min();
        let in_order = others.iter().any(|place| first.is_some_and(|first| first < place));
        if !in_order && one.key != other.key {
            return Err(Ungrounded::Order(one.text.clone(), other.text.clone()));
        }
    }
    Ok(())
}

/// `Reports to Ann and mentors Bob` must not become `Reports to Bob`.
fn not_moved(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    let is_name = |word: &Word| word.kind == Kind::Content && has_capital(word);
    let is_plain = |word: &Word| word.kind == Kind::Content && !has_capital(word);
    if claim.words.iter().any(|word| vocabulary::is_german(&word.key)) {
        return Ok(());
    }
    for (at, name) in claim.words.iter().enumerate().filter(|(_, word)| is_name(word)) {
        let before = claim.words[..at].iter().rev().find(|word| word.kind != Kind::Stop);
        let Some(governor) = before.filter(|word| !is_name(word) && word.is_content()) else {
            continue;
        };
        // `Marta was interviewed by Enzo` is Enzo that interviewed Marta.
        if roles::is_changed(claim, passage, governor) {
            continue;
        }
        // What the evidence says behind each place of the word before the name.
        let mut found = Vec::new();
        for part in &passage.parts {
            let quote = part.quote();
            let places = (0..quote.len()).filter(|place| quote[*place].is_form_of(governor));
            found.extend(places.map(|place| {
                let behind = quote[place + 1..].iter().take_while(|word| !is_plain(word));
                behind.filter(|word| is_name(word)).collect::<Vec<_>>()
            }));
        }
        let is_other =
            |names: &Vec<&Word>| !names.is_empty() && !names.iter().any(|one| one.is_form_of(name));
        if !found.is_empty() && found.iter().all(is_other) {
            let other = found[0][0].text.clone();
            return Err(Ungrounded::Replaced { claimed: name.text.clone(), quoted: other });
        }
    }
    Ok(())
}

/// `Ann is faster than Bob` must not become `Bob is faster than Ann`.
fn not_compared(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    let than = |words: &[Word]| words.iter().position(|word| word.key == "than");
    let Some(ours) = than(&claim.words) else { return Ok(()) };
    let compared = claim.words[ours + 1..].iter().find(|word| word.is_content());
    for part in &passage.parts {
        let quote = part.quote();
        let (Some(theirs), Some(compared)) = (than(quote), compared) else { continue };
        let has = |words: &[Word]| words.iter().any(|word| word.is_form_of(compared));
        if has(&quote[..theirs]) && !has(&quote[theirs + 1..]) {
            let than = claim.words[ours].text.clone();
            return Err(Ungrounded::Order(than, compared.text.clone()));
        }
    }
    Ok(())
}

/// `Admins delete users` must not become `Users delete admins`.
fn not_turned(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    // `Contracts that Ann signs`
    let is_relative = |word: &Word| matches!(&*word.key, "that" | "which" | "que" | "che");
    if claim.words.iter().any(is_relative) != passage.quote().any(is_relative) {
        return Ok(());
    }
    let said = claim.words[clauses::fronted(&claim.words)..].iter();
    let said: Vec<&Word> = said.filter(|word| word.is_content()).collect();
    for part in &passage.parts {
        let quoted: Vec<&Word> = part.quote().iter().filter(|word| word.is_content()).collect();
        for at in 1..said.len() {
            let (subject, verb) = (said[at - 1], said[at]);
            let is_straight = |two: &[&Word]| two[0].is_form_of(subject) && is_verb(verb, two[1]);
            let is_changed = || roles::is_changed(claim, passage, verb);
            if !can_turn(verb) || quoted.windows(2).any(is_straight) || is_changed() {
                continue;
            }
            for object in &said[at + 1..] {
                let is_turned = |place: usize| {
                    is_verb(verb, quoted[place])
                        && quoted[place - 1].is_form_of(object)
                        && quoted[place + 1..].iter().any(|one| one.is_form_of(subject))
                };
                if !object.is_form_of(subject) && (1..quoted.len()).any(is_turned) {
                    return Err(Ungrounded::Order(subject.text.clone(), object.text.clone()));
                }
            }
        }
    }
    Ok(())
}

/// Whether a word may be what one thing does to another. `Hired by Acme` is Acme that hired.
fn can_turn(word: &Word) -> bool {
    !word.key.ends_with("ed") || word.key.ends_with("eed")
}

/// Whether both are the same form of a verb: `require` and `requires`.
fn is_verb(one: &Word, other: &Word) -> bool {
    let plain = |word: &Word| word.key.trim_end_matches('s').to_owned();
    plain(one) == plain(other)
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
