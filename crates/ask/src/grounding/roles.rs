//! Who does it, and to whom it is done: `The tenant was sued by the landlord` does not say that the
//! tenant sued, nor that the landlord was sued.

use super::{
    Ungrounded, clauses,
    stem::is_irregular,
    support::{Claim, Passage},
    vocabulary,
    words::{Gap, Word},
};

/// How far from a verb those are looked for who do it, or to whom it is done, in words.
const MAX_NAMED_WORDS: usize = 24;

/// What is done at one place of a text.
struct Deed<'a> {
    verb: &'a Word,
    /// What is named as doing it.
    doers: Vec<&'a Word>,
    /// What is named as that which it is done to.
    objects: Vec<&'a Word>,
    is_passive: bool,
}

impl Deed<'_> {
    /// Whether another says it the other way round. Who does it counts only where `by` names them:
    /// `Restores tested every quarter` test nothing.
    fn is_turned(&self, other: &Deed<'_>) -> bool {
        // `Node 3 was replaced by node 9` has a node on both sides.
        let is_one = |word: &&&Word, there: &[&Word]| there.iter().any(|one| word.is_form_of(one));
        let crosses = |ours: &[&Word], theirs: &[&Word], right: &[&Word], wrong: &[&Word]| {
            let own: Vec<&Word> =
                ours.iter().filter(|word| !is_one(word, theirs)).copied().collect();
            !right.is_empty() && shares(&own, wrong) && !shares(&own, right)
        };
        (self.is_passive && crosses(&self.doers, &self.objects, &other.doers, &other.objects))
            || crosses(&self.objects, &self.doers, &other.objects, &other.doers)
    }
}

fn shares(ones: &[&Word], others: &[&Word]) -> bool {
    ones.iter().any(|one| others.iter().any(|other| one.is_form_of(other)))
}

/// Whether those who do something in a claim are not those to whom it is done in the evidence.
pub(super) fn check(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    let quoted: Vec<Deed<'_>> = passage.parts.iter().flat_map(|part| deeds(part.quote())).collect();
    for deed in deeds(&claim.words) {
        let mut same = quoted.iter().filter(|other| other.verb.is_form_of(deed.verb)).peekable();
        let has_passive = deed.is_passive || same.clone().any(|other| other.is_passive);
        if has_passive && same.peek().is_some() && same.all(|other| deed.is_turned(other)) {
            let one = deed.doers.first().or(deed.objects.first()).copied().unwrap_or(deed.verb);
            return Err(Ungrounded::Order(one.text.clone(), deed.verb.text.clone()));
        }
    }
    Ok(())
}

/// Whether one side says in the passive voice what the other says of the same doer without it.
pub(super) fn is_changed(claim: &Claim, passage: &Passage<'_>, verb: &Word) -> bool {
    let quoted: Vec<Deed<'_>> = passage.parts.iter().flat_map(|part| deeds(part.quote())).collect();
    deeds(&claim.words).iter().filter(|deed| deed.verb.range == verb.range).any(|deed| {
        quoted.iter().any(|other| {
            other.verb.is_form_of(verb)
                && other.is_passive != deed.is_passive
                && shares(&deed.doers, &other.doers)
        })
    })
}

/// All that is done in a text.
fn deeds(words: &[Word]) -> Vec<Deed<'_>> {
    (1..words.len()).filter_map(|at| deed(words, at)).collect()
}

fn deed(words: &[Word], at: usize) -> Option<Deed<'_>> {
    let verb = &words[at];
    let is_verb = clauses::is_verb_form(verb) || matches!(&*verb.key, "hit" | "hurt");
    if !is_verb || is_determiner(&words[at - 1].key) {
        return None;
    }
    let helper = (0..at).rev().find(|place| !is_adverb(&words[*place])).filter(|_| is_done(verb));
    let helper = helper.filter(|place| is_be(&words[*place].key));
    let agent = agent(words, at).filter(|_| is_done(verb));
    let is_passive = helper.is_some() || agent.is_some();
    // `Has been sued` has two helpers.
    let is_helper = |place: &usize| clauses::is_auxiliary(&words[*place].key);
    let first = (0..helper.unwrap_or(at)).rev().take_while(is_helper).last();
    let before = named_before(words, first.or(helper).unwrap_or(at));
    if is_passive {
        let doers = agent.map(|by| named_behind(words, by + 1)).unwrap_or_default();
        return Some(Deed { verb, doers, objects: before, is_passive });
    }
    let objects = named_behind(words, at + 1);
    // `Backups stored in Oslo` are stored by somebody, and `access reviews take place` has another
    // verb.
    let is_other = words.get(at + 1).is_some_and(|next| {
        clauses::is_auxiliary(&next.key) || (next.gap == Gap::None && clauses::is_verb_form(next))
    });
    (!objects.is_empty() && !is_other).then_some(Deed { verb, doers: before, objects, is_passive })
}

/// Where `by` stands behind what is done, in the same clause: not `by 5 %`, nor `by Friday`.
fn agent(words: &[Word], verb: usize) -> Option<usize> {
    let is_within = |place: &usize| words[*place].gap == Gap::None && !is_over(&words[*place]);
    let by = (verb + 1..words.len())
        .take(MAX_NAMED_WORDS)
        .take_while(is_within)
        .take_while(|place| !clauses::is_verb_form(&words[*place]))
        .find(|place| words[*place].key == "by")?;
    let next = words[by + 1..].iter().find(|word| !is_determiner(&word.key))?;
    (next.is_content() && !next.key.ends_with("ing")).then_some(by)
}

/// What is named before a place, back to where its clause begins.
fn named_before(words: &[Word], end: usize) -> Vec<&Word> {
    let mut found = Vec::new();
    for at in (0..end).rev().take(MAX_NAMED_WORDS) {
        if is_over(&words[at]) || clauses::is_auxiliary(&words[at].key) {
            break;
        }
        if words[at].is_content() {
            found.push(&words[at]);
        }
        if words[at].gap >= Gap::Comma {
            break;
        }
    }
    found
}

/// What is named behind a place, up to where its clause or the next preposition begins.
fn named_behind(words: &[Word], start: usize) -> Vec<&Word> {
    let is_within = |at: &usize| {
        let word = &words[*at];
        // `Tested every quarter` says when.
        let is_when = matches!(&*word.key, "every" | "each" | "last" | "next" | "to");
        word.gap == Gap::None && !is_when && !is_over(word) && !clauses::is_preposition(&word.key)
    };
    (start..words.len())
        .take(MAX_NAMED_WORDS)
        .take_while(is_within)
        .map(|at| &words[at])
        .filter(|word| word.is_content())
        .collect()
}

fn is_over(word: &Word) -> bool {
    vocabulary::is_break(&word.key) || clauses::is_tie(&word.key)
}

/// Whether a form of a verb may say what was done to something.
fn is_done(verb: &Word) -> bool {
    clauses::is_past(&verb.key)
        || is_irregular(&verb.key)
        || matches!(&*verb.key, "hit" | "cut" | "put" | "set" | "hurt" | "read" | "shut" | "beat")
}

fn is_be(key: &str) -> bool {
    matches!(
        key,
        "is" | "are"
            | "was"
            | "were"
            | "be"
            | "been"
            | "being"
            | "got"
            | "gets"
            | "get"
            | "isn't"
            | "aren't"
            | "wasn't"
            | "weren't"
    )
}

/// Whether a word may stand between `was` and what was done.
fn is_adverb(word: &Word) -> bool {
    word.denial().is_some()
        || word.key.ends_with("ly")
        || matches!(&*word.key, "also" | "already" | "then" | "now" | "later" | "often" | "soon")
}

fn is_determiner(key: &str) -> bool {
    matches!(key, "the" | "a" | "an" | "this" | "these" | "those" | "its" | "their" | "his" | "her")
}
