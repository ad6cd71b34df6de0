//! Who says no to what: a claim must deny what its evidence denies, and nothing else.
//!
//! Judged is the whole sentence of the result, not only the part that was quoted: `log secrets`
//! is a quote of `Never log secrets`, but it does not say what that says.

mod home;

use home::Home;

use super::{
    Ungrounded, clauses,
    support::{Claim, Part, Passage, bigrams},
    vocabulary::{self, Denial, Failure},
    words::{Gap, Kind, Word},
};

/// Whether claim and evidence deny the same.
pub(super) fn check(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    let ours = denials(&claim.words);
    for part in relevant(claim, passage) {
        let theirs = denials(&part.words);
        let lead = lead_denial(part);
        let home = Home::of(&claim.words, &part.words);
        let is_aside = home == Home::Free || is_aside(&claim.words, &part.words, &theirs);
        let meant = theirs.first().filter(|_| !is_aside);
        match (ours.first(), meant.map(|at| &part.words[*at]).or(lead)) {
            // What is rejected was refused.
            (None, Some(denial)) if claim.words.iter().any(|word| rejects(word, denial)) => {}
            (None, Some(denial)) => return Err(Ungrounded::NegationLost(denial.text.clone())),
            (None, None) => {}
            (Some(first), _) if lead.is_none() && home.says_yes() => {
                let added = claim.words[*first].text.clone();
                return Err(Ungrounded::NegationAdded(added));
            }
            (Some(first), _) => {
                let quoted = theirs.iter().filter(|at| part.quoted.contains(at)).count()
                    + usize::from(lead.is_some() && part.lead_quoted);
                if quoted < ours.len() {
                    let added = ours.get(quoted).unwrap_or(first);
                    return Err(Ungrounded::NegationAdded(claim.words[*added].text.clone()));
                }
                if lead.is_none() {
                    same_scope(&claim.words, &part.words)?;
                    same_scope(&part.words, &claim.words)?;
                }
            }
        }
        same_failures(&claim.words, part)?;
    }
    Ok(())
}

fn rejects(word: &Word, denial: &Word) -> bool {
    denial.denial() == Some(Denial::Sentence)
        && vocabulary::failure(&word.key) == Some(Failure::Around)
        && word.is_like(denial)
}

/// The sentences that a claim is about: of those that the quote touches, the ones that have most
/// of its words.
pub(super) fn relevant<'a>(claim: &Claim, passage: &'a Passage<'_>) -> Vec<&'a Part> {
    let shared = |part: &Part| -> usize {
        let weight = |word: &Word| match &word.kind {
            Kind::Run => {
                let there: Vec<_> =
                    part.quote().iter().flat_map(|one| bigrams(&one.text)).collect();
                bigrams(&word.text).iter().filter(|pair| there.contains(pair)).count()
            }
            Kind::Number(number) => {
                2 * usize::from(
                    part.quote().iter().filter_map(Word::number).any(|one| number.is(one)),
                )
            }
            _ => {
                2 * usize::from(
                    word.is_content() && part.quote().iter().any(|one| word.is_like(one)),
                )
            }
        };
        claim.words.iter().map(weight).sum()
    };
    let counts: Vec<usize> = passage.parts.iter().map(shared).collect();
    let most = counts.iter().max().copied().unwrap_or(0);
    passage
        .parts
        .iter()
        .zip(counts)
        .filter(|(_, count)| *count == most)
        .map(|(part, _)| part)
        .collect()
}

/// Which words deny. `ne … pas` denies once.
fn denials(words: &[Word]) -> Vec<usize> {
    let is_half = |word: &Word| matches!(&*word.key, "ne" | "n");
    let mut found: Vec<usize> =
        (0..words.len()).filter(|at| words[*at].denial().is_some()).collect();
    if found.iter().any(|at| !is_half(&words[*at])) {
        found.retain(|at| !is_half(&words[*at]));
    }
    found
}

/// Whether all denials stand in later clauses than anything that a claim says: `The trial is free,
/// and no card is needed` says without any `no` that the trial is free.
fn is_aside(claim: &[Word], words: &[Word], denials: &[usize]) -> bool {
    let Some(first) = denials.first() else { return true };
    let begins = |at: &usize| words[*at].gap >= Gap::Comma || vocabulary::is_break(&words[*at].key);
    let Some(clause) = (1..=*first).rev().find(begins) else { return false };
    let (before, aside) = words.split_at(clause);
    let is_saying = |word: &&Word| {
        word.is_content() || matches!(word.kind, Kind::Number(_) | Kind::Date(_) | Kind::Run)
    };
    // Some reach back over the whole sentence. So does one that denies no other verb: `Backups are
    // encrypted, but not in Asia`.
    let reaches_back = |at: &usize| {
        let has_object = match (words[*at].denial(), words.get(at + 1)) {
            (Some(Denial::Noun), next) => words[*at].key == "free" || next.is_some(),
            (_, Some(next)) => next.is_content() || matches!(&*next.key, "be" | "been"),
            (_, None) => false,
        };
        !has_object
            || words[*at].denial() == Some(Denial::Sentence)
            || vocabulary::is_exception(&words[*at].key)
    };
    // `But this does not hold for tapes` speaks of all that stands before it.
    let takes_up = aside
        .windows(2)
        .take(2)
        .any(|two| matches!(&*two[0].key, "this" | "that") && clauses::is_auxiliary(&two[1].key));
    let is_in = |word: &Word, there: &[Word]| there.iter().any(|one| word.is_like(one));
    !takes_up
        && !denials.iter().any(reaches_back)
        && !before.iter().any(|word| vocabulary::opens_condition(&word.key))
        && claim.iter().filter(is_saying).all(|word| is_in(word, before) && !is_in(word, aside))
}

/// What denies the items below a line: anything in a line with a colon, or a heading that says
/// nothing else, such as `Not allowed`.
fn lead_denial(part: &Part) -> Option<&Word> {
    let says_more =
        |word: &Word| word.is_content() && !matches!(&*word.stem, "allow" | "permit" | "following");
    if !part.lead_opens && part.lead.iter().any(says_more) {
        return None;
    }
    part.lead.iter().find(|word| word.denial().is_some())
}

/// The word that each denial of one side stands before must be denied on the other side too, if
/// it is there.
fn same_scope(one: &[Word], other: &[Word]) -> Result<(), Ungrounded> {
    let (ours, theirs) = (denials(one), denials(other));
    // Where one side denies more often, what denies a whole sentence there cannot stand for all.
    let is_fair =
        |at: &usize| ours.len() <= theirs.len() || other[*at].denial() != Some(Denial::Sentence);
    let scopes: Vec<Vec<usize>> =
        theirs.iter().copied().filter(is_fair).map(|at| scope(other, at)).collect();
    for denial in ours {
        if one[denial].denial() == Some(Denial::Sentence) {
            continue;
        }
        let Some(denied) = scope(one, denial).into_iter().find(|at| *at > denial) else { continue };
        let word = &one[denied];
        let mut places = (0..other.len()).filter(|at| word.is_like(&other[*at])).peekable();
        let is_there = places.peek().is_some();
        if one[denial].denial() == Some(Denial::Noun) && is_never(one, denial, other) {
            continue;
        }
        if is_there && !places.any(|at| scopes.iter().any(|scope| scope.contains(&at))) {
            return Err(Ungrounded::NegationMoved(word.text.clone()));
        }
    }
    Ok(())
}

/// Whether `no passwords are stored` is said as `passwords are never stored`.
fn is_never(one: &[Word], denial: usize, other: &[Word]) -> bool {
    if one[..denial].iter().any(Word::is_content) {
        return false;
    }
    let mut behind = one[denial + 1..].iter().filter(|word| word.is_content());
    let (Some(noun), Some(verb)) = (behind.next(), behind.next()) else { return false };
    denials(other).into_iter().filter(|at| other[*at].denial() == Some(Denial::Behind)).any(|at| {
        let is_within =
            |place: &usize| other[*place + 1..=at].iter().all(|word| word.gap == Gap::None);
        let subject = (0..at).rev().find(|place| other[*place].is_content());
        let denied = other[at + 1..].iter().find(|word| word.is_content());
        subject.filter(is_within).is_some_and(|place| noun.is_form_of(&other[place]))
            && denied.is_some_and(|word| verb.is_form_of(word))
    })
}

/// The words of content that a denial reaches.
fn scope(words: &[Word], denial: usize) -> Vec<usize> {
    let is_content = |at: &usize| words[*at].is_content();
    let kind = words[denial].denial();
    if kind == Some(Denial::Sentence) {
        return (0..words.len()).filter(is_content).collect();
    }
    let mut reached = Vec::new();
    for at in denial + 1..words.len() {
        let has_or = words[at..]
            .iter()
            .any(|word| matches!(&*word.key, "or" | "nor" | "oder" | "ou" | "o" | "ni" | "noch"));
        let is_over = match words[at].gap {
            Gap::Clause | Gap::Open | Gap::Colon => true,
            Gap::Comma => !has_or,
            Gap::None => vocabulary::is_break(&words[at].key),
        };
        if is_over {
            break;
        }
        reached.push(at);
    }
    // `Log no secrets`: what is done to the noun is not done.
    if kind == Some(Denial::Noun) {
        reached.extend((0..denial).rev().find(is_content));
    }
    reached.retain(is_content);
    reached
}

/// What failed, was prevented or replaced must not come out as done.
fn same_failures(claim: &[Word], part: &Part) -> Result<(), Ungrounded> {
    let is_no = |word: &Word| word.denial().is_some() || vocabulary::failure(&word.key).is_some();
    if claim.iter().any(is_no) {
        return Ok(());
    }
    for (at, word) in part.words.iter().enumerate() {
        let Some(failure) = vocabulary::failure(&word.key) else { continue };
        let is_content = |other: &&Word| other.is_content();
        // A neighbour in the same clause.
        let is_near = |other: &Word| other.gap == Gap::None && !vocabulary::is_break(&other.key);
        let behind =
            part.words[at + 1..].iter().take_while(|other| is_near(other)).find(is_content);
        let first = (0..=at).rev().find(|from| !is_near(&part.words[*from])).unwrap_or(0);
        let before = part.words[first..at].iter().rev().find(is_content);
        let before = before.filter(|_| failure == Failure::Around);
        let is_claimed = |other: &Word| claim.iter().any(|one| one.is_like(other));
        if behind.into_iter().chain(before).any(is_claimed) {
            return Err(Ungrounded::NegationLost(word.text.clone()));
        }
    }
    Ok(())
}
