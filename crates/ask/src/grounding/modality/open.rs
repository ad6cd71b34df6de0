//! What may happen or is meant to happen did not happen: `may cause dizziness` is not `causes
//! dizziness`, and `plans to migrate` is not `migrated`.

use std::{collections::HashSet, sync::LazyLock};

use crate::grounding::{
    Ungrounded, clauses,
    stem::stem,
    support::{Claim, Passage},
    vocabulary::{self, Denial},
    words::{Gap, Word},
};

/// How far before `to` the word may stand that makes it open: `asked the two clerks to lock it`.
const MAX_WORDS_BEFORE_TO: usize = 4;

/// Words behind which `to` says what is not yet so, or never was.
const OPENING: &str = "
about advise agree aim ask attempt consider decide due encourage expect forecast forget hesitate hope intend invite likely
neglect offer order plan pledge predict prepare project promise propose ready recommend request schedule seek sought
suppose tell threaten tried tries try trying unable unlikely unwilling urge vow want willing wish
";

/// Those that say by themselves that something is not yet so: `closure planned for June`.
const AHEAD: &str = "expect forecast intend likely pending plan predict propose schedule";

static OPENING_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| stems(OPENING));
static AHEAD_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| stems(AHEAD));

/// The stems of words and of their forms with a `d`, which are others for `agree`.
fn stems(list: &str) -> HashSet<String> {
    let forms = |word: &str| [word.to_owned(), stem(word), stem(&format!("{word}d"))];
    list.split_whitespace().flat_map(forms).collect()
}

/// Words with which a claim says, too, that it is not yet so, or not surely.
const OPEN: &[&str] = &[
    "will",
    "would",
    "possible",
    "possibly",
    "potential",
    "potentially",
    "risk",
    "risks",
    "perhaps",
    "maybe",
    "allowed",
    "permitted",
    "able",
    "eligible",
    "entitled",
    "option",
    "allows",
    "permits",
    "permission",
    "free",
    "if",
    "when",
    "sometimes",
    "soon",
];

/// Whether a claim does not say as a fact what its evidence leaves open.
pub(super) fn check(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    let leaves_open = |word: &Word| {
        matches!(word.denial(), Some(Denial::Behind | Denial::Noun))
            || (vocabulary::modal(&word.key).is_some() && !is_month(word))
            || OPEN.contains(&&*word.key)
            || AHEAD_STEMS.contains(&word.stem)
    };
    if claim.words.iter().any(leaves_open) {
        return Ok(());
    }
    for at in 1..claim.words.len() {
        let word = &claim.words[at];
        let has_subject = claim.words[..at].iter().any(Word::is_content);
        // `Ban` denies, and is something that is done.
        let says = word.is_content() || word.denial().is_some();
        if !says || !has_subject || claim.words[at - 1].key == "to" || is_noun(word) {
            continue;
        }
        let mut places = passage.parts.iter().flat_map(|part| {
            let quote = part.quote();
            let is_same = |one: &Word| {
                one.is_form_of(word)
                    || (word.denial().is_some() && stem(&one.key) == stem(&word.key))
            };
            let same = (0..quote.len()).filter(move |place| is_same(&quote[*place]));
            same.map(move |place| is_open(quote, place))
        });
        let mut has_place = false;
        if places.all(|is_open| {
            has_place = true;
            is_open
        }) && has_place
        {
            return Err(Ungrounded::Modality(word.text.clone()));
        }
    }
    Ok(())
}

/// Whether a word is the month and does not begin a text.
fn is_month(word: &Word) -> bool {
    word.text == "May" && word.range.start > 0
}

/// Whether a word is what is done as a thing: `the migration of the ledger is planned`.
fn is_noun(word: &Word) -> bool {
    ["ing", "ion", "ions", "ment", "ments"].iter().any(|ending| word.key.ends_with(ending))
}

/// Whether what stands at a place only may be, or is only meant to be.
fn is_open(words: &[Word], place: usize) -> bool {
    let before = (0..place).rev().find(|at| !is_between(&words[*at]));
    let Some(before) = before else { return false };
    if words[before + 1..=place].iter().any(|word| word.gap != Gap::None) {
        return false;
    }
    match &*words[before].key {
        "may" | "might" | "could" => !is_month(&words[before]),
        "to" => {
            let is_verb = clauses::is_verb_form(&words[place])
                || words[place].denial().is_some()
                || has_object(words, place);
            let is_near = |at: &usize| words[*at + 1].gap == Gap::None;
            let mut near = (0..before).rev().take(MAX_WORDS_BEFORE_TO).take_while(is_near);
            is_verb && near.any(|at| OPENING_STEMS.contains(&words[at].stem))
        }
        _ => false,
    }
}

fn has_object(words: &[Word], place: usize) -> bool {
    words
        .get(place + 1)
        .is_some_and(|next| matches!(&*next.key, "the" | "a" | "an" | "its" | "their"))
}

/// Whether a word may stand between `may` and what may be.
fn is_between(word: &Word) -> bool {
    word.key.ends_with("ly")
        || matches!(&*word.key, "be" | "been" | "have" | "also" | "still" | "even" | "then")
}
