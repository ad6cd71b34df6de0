//! What a word such as `after` or `who` ties to a sentence has a subject and a verb of its own:
//! `Ann sang after Bob left` does not say that Ann left.

use std::ops::Range;

use super::{MAX_CLAUSES, Segment, is_named, is_relative, is_subordinator, read, segments, verbs};
use crate::grounding::words::{Gap, Word};

/// How many words of a sentence are tried that may tie a clause to it.
const MAX_TIES: usize = 16;

/// A part of a sentence that is read by itself.
struct Part {
    words: Range<usize>,
    /// Where a noun before it is who or what it speaks of: `the nurse who …`.
    bearer: Range<usize>,
}

/// The clauses of a sentence by the places of their words, with what is tied to others apart.
pub(in crate::grounding) fn read_apart(sentence: &[Word]) -> Vec<Vec<usize>> {
    let mut parts = Vec::new();
    part(sentence, 0..sentence.len(), &mut parts);
    let mut found = Vec::new();
    for own in &parts {
        let words = &sentence[own.words.clone()];
        for clause in read(words) {
            let mut places: Vec<usize> = own.bearer.clone().collect();
            places.extend(clause.words.iter().map(|at| own.words.start + at));
            if parts.len() > 1 && (0..words.len()).any(|at| is_named(words, at)) {
                // `Kim left because she was ill`
                let others = parts.iter().filter(|other| other.words != own.words);
                places.extend(others.flat_map(|other| things(sentence, &other.words)));
            }
            found.push(places);
        }
    }
    found
}

/// Whether a word may tie a clause to another.
pub(in crate::grounding) fn is_tie(key: &str) -> bool {
    is_subordinator(key) || is_relative(key) || key == "or"
}

/// What a part of a sentence names.
fn things(sentence: &[Word], part: &Range<usize>) -> Vec<usize> {
    let verb = verbs::find(sentence, part.clone());
    part.clone().filter(|at| sentence[*at].is_content() && Some(*at) != verb).collect()
}

/// Parts a range of a sentence at its first tie, and then what is left of it.
fn part(sentence: &[Word], range: Range<usize>, parts: &mut Vec<Part>) {
    if parts.len() >= MAX_CLAUSES {
        parts.push(Part { words: range, bearer: 0..0 });
        return;
    }
    if let Some((who, verb)) = embedded(sentence, &range) {
        let bearer = range.start..who;
        parts.push(Part { words: who + 1..verb, bearer: bearer.clone() });
        parts.push(Part { words: verb..range.end, bearer });
        return;
    }
    let mut places = range.clone().filter(|at| is_tie(&sentence[*at].key)).take(MAX_TIES);
    let tie = places.find_map(|at| {
        let tied = tied(sentence, &range, at).or_else(|| related(sentence, &range, at))?;
        Some((at, tied))
    });
    let Some((at, Part { words: tied, bearer })) = tie else {
        parts.push(Part { words: range, bearer: 0..0 });
        return;
    };
    if at > range.start {
        parts.push(Part { words: range.start..at, bearer: 0..0 });
    }
    let end = tied.end;
    if bearer.is_empty() {
        part(sentence, tied, parts);
    } else {
        parts.push(Part { words: tied, bearer });
    }
    if end < range.end {
        part(sentence, end..range.end, parts);
    }
}

/// What a subordinator at a place ties, if it is a clause with a subject.
fn tied(sentence: &[Word], range: &Range<usize>, at: usize) -> Option<Part> {
    let key = &*sentence[at].key;
    let key_at = |at: usize| sentence.get(at).map_or("", |word| &*word.key);
    let before = if at > range.start { key_at(at - 1) } else { "" };
    if !(is_subordinator(key) || key == "or") || matches!(before, "such" | "same" | "well" | "as") {
        return None;
    }
    // `as soon as`
    let is_long = key == "as" && key_at(at + 2) == "as";
    let start = if is_long { at + 3 } else { at + 1 };
    // `Node 18 or newer is required`, behind a clause that has a verb.
    let begins = |place: &usize| sentence[*place].gap >= Gap::Comma;
    let own = (range.start + 1..=at).rev().find(begins).unwrap_or(range.start);
    let from = if key == "or" { own } else { range.start };
    if start >= range.end || (at > range.start && verbs::find(sentence, from..at).is_none()) {
        return None;
    }
    // With the word that ties, which wants a verb behind it.
    let end = end(sentence, start - 1..range.end, at == range.start)?;
    Some(Part { words: start..end, bearer: 0..0 })
}

/// Where a clause ends that begins a range: at the next one with a subject of its own. One that
/// comes first ends at a comma behind its verb.
fn end(sentence: &[Word], range: Range<usize>, is_first: bool) -> Option<usize> {
    let segments = segments(&sentence[range.clone()]);
    let (first, rest) = segments.split_first()?;
    if first.verb.is_none() || !first.has_subject {
        return None;
    }
    for Segment { range: own, verb, has_subject } in rest {
        let start = range.start + own.start;
        if (verb.is_some() && *has_subject) || (is_first && sentence[start].gap >= Gap::Comma) {
            return Some(start);
        }
        // What has no subject may share that of the first clause.
        if verb.is_some() && !is_first {
            return None;
        }
    }
    (!is_first).then_some(range.end)
}

/// Where `who` stands behind a subject, and where the verb of that subject comes: `The nurse who
/// treated Emil resigned`.
pub(in crate::grounding) fn embedded(
    sentence: &[Word],
    range: &Range<usize>,
) -> Option<(usize, usize)> {
    let is_who = |at: &usize| matches!(&*sentence[*at].key, "who" | "which" | "that");
    let is_verb = |at: usize| {
        verbs::is_auxiliary(&sentence[at].key)
            || (verbs::is_past(&sentence[at].key) && verbs::is_verb_form(&sentence[at]))
    };
    let who = (range.start + 1..range.end).find(is_who)?;
    let is_within = |at: &usize| sentence[*at].gap == Gap::None;
    let has_subject = sentence[range.start..who].iter().any(Word::is_content);
    if !has_subject
        || !(range.start + 1..=who).all(|at| is_within(&at))
        || verbs::find(sentence, range.start..who).is_some()
    {
        return None;
    }
    let next = who + 1;
    // `That names the minister`
    let has_object = |at: usize| {
        sentence.get(at + 1).is_some_and(|word| matches!(&*word.key, "the" | "a" | "an" | "its"))
    };
    let is_own = |at: usize| {
        is_verb(at) || verbs::is_verb_form(&sentence[at]) || (says(&sentence[at]) && has_object(at))
    };
    if next >= range.end || !is_own(next) {
        return None;
    }
    // Its own verb may have several words: `who have signed up`.
    let goes_on =
        |at: &usize| verbs::is_auxiliary(&sentence[*at - 1].key) || !says(&sentence[*at - 1]);
    let behind = (next + 1..range.end).take_while(is_within);
    let verb = behind.into_iter().find(|at| is_verb(*at) && !goes_on(at))?;
    let has_more = segments(&sentence[verb..range.end]).len() > 1;
    (!has_more).then_some((who, verb))
}

fn says(word: &Word) -> bool {
    word.is_content() || word.number().is_some()
}

/// What `who` at a place says of the noun before it, where a verb stands before that.
fn related(sentence: &[Word], range: &Range<usize>, at: usize) -> Option<Part> {
    let is_who = matches!(&*sentence[at].key, "who" | "which" | "that");
    if !is_who || at == range.start || sentence[at].gap != Gap::None {
        return None;
    }
    let main = verbs::find(sentence, range.start..at)?;
    let bearer = (main + 1..at).rev().take_while(|place| sentence[*place].is_content()).last()?;
    let is_said = sentence[at].key == "that" && verbs::is_verb_form(&sentence[at - 1]);
    let follows = |next: usize| {
        next < range.end
            && (verbs::is_auxiliary(&sentence[next].key) || verbs::is_verb_form(&sentence[next]))
    };
    // `It is the only seal that lives there`: it lives there, too.
    let is_same = matches!(&*sentence[main].key, "is" | "are" | "was" | "were");
    if is_said || is_same || !follows(at + 1) {
        return None;
    }
    // Only up to the end: what comes behind a comma may go on with the first clause.
    let has_more = segments(&sentence[at + 1..range.end])
        .iter()
        .skip(1)
        .any(|segment| segment.verb.is_some() && !segment.has_subject);
    (!has_more).then_some(Part { words: at + 1..range.end, bearer: bearer..at })
}
