//! One word in the place of another: `in staging` must not become `in production`, nor `slower
//! than` become `faster than`. Most of such a claim is in its evidence, and it is wrong.
//!
//! No list could hold all words that are not the same, so any word will do that the evidence does
//! not have, where the words around it are those around a word that the claim does not have.

use super::{
    Ungrounded,
    support::{Claim, Passage},
    vocabulary,
    words::{Gap, Kind, Word},
};

/// How many characters two forms of a word begin with, at least.
const MIN_SAME_START: usize = 5;
/// How much of the longer one these are, at least, in percent.
const MIN_SAME_PERCENT: usize = 50;

/// Whether no word of a claim took the place of one of its evidence.
pub(super) fn check(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    for (at, word) in claim.words.iter().enumerate() {
        if word.kind != Kind::Content || passage.said(claim).any(|one| word.is_form_of(one)) {
            continue;
        }
        for part in &passage.parts {
            let is_place = |place: &usize| {
                let other = &part.words[*place];
                let is_left_out = || !claim.words.iter().any(|one| one.is_like(other));
                (other.is_content() || other.number().is_some())
                    && is_left_out()
                    && !vocabulary::is_synonym(&word.stem, &other.stem)
                    && !has_same_start(&word.key, &other.key)
                    && is_same_place(&claim.words, at, &part.words, *place)
            };
            if let Some(place) = part.quoted.clone().find(is_place) {
                let quoted = part.words[place].text.clone();
                return Err(Ungrounded::Replaced { claimed: word.text.clone(), quoted });
            }
        }
    }
    Ok(())
}

/// Whether two words are likely forms of one, though their stems differ: `zurückgeben` and
/// `zurückgegeben`.
fn has_same_start(one: &str, other: &str) -> bool {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let longer = one.chars().count().max(other.chars().count());
    same >= MIN_SAME_START && same * 100 >= longer * MIN_SAME_PERCENT
}

/// Whether the same words stand around two words: one before and one behind, or, where a claim
/// ends, two before.
fn is_same_place(claim: &[Word], at: usize, quoted: &[Word], place: usize) -> bool {
    let is_same = |ours: Option<usize>, theirs: Option<usize>| match (ours, theirs) {
        (Some(one), Some(other)) => claim[one].is_like(&quoted[other]),
        (one, other) => one == other,
    };
    let (last, there) = (before(claim, at), before(quoted, place));
    let next = behind(claim, at);
    if !is_same(last, there) {
        return false;
    }
    if is_same(next, behind(quoted, place)) && (last.is_some() || next.is_some()) {
        return true;
    }
    let (None, Some(last), Some(there)) = (next, last, there) else { return false };
    let second = before(claim, last);
    second.is_some() && is_same(second, before(quoted, there))
}

/// The word before another in the same clause; articles come and go.
fn before(words: &[Word], at: usize) -> Option<usize> {
    let mut place = at;
    while place > 0 && words[place].gap < Gap::Comma {
        place -= 1;
        if !is_article(&words[place]) {
            return Some(place);
        }
    }
    None
}

/// The word behind another in the same clause.
fn behind(words: &[Word], at: usize) -> Option<usize> {
    let is_within = |place: &usize| words[*place].gap < Gap::Comma;
    (at + 1..words.len()).take_while(is_within).find(|place| !is_article(&words[*place]))
}

fn is_article(word: &Word) -> bool {
    matches!(
        &*word.key,
        "a" | "an"
            | "the"
            | "der"
            | "die"
            | "das"
            | "le"
            | "la"
            | "les"
            | "l"
            | "el"
            | "los"
            | "las"
    )
}
