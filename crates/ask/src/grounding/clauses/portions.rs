//! The figures of a list: `9 EUR for members and 5 EUR for guests` says two things, each with what
//! stands before the first figure, and no figure is that of another member.

use std::ops::Range;

use super::{Clause, MAX_CLAUSES, verbs};
use crate::grounding::words::{Gap, Kind, Word};

/// A member of such a list, by the places in its clause.
struct Portion {
    /// Where its figure stands.
    figure: usize,
    /// Where it says whom or what the figure is for: `for members`.
    whom: usize,
    /// Where it ends.
    end: usize,
}

/// Parts a clause into one for each figure of a list, if it has such a list.
pub(super) fn part(sentence: &[Word], clause: Clause) -> Vec<Clause> {
    let words: Vec<&Word> = clause.words.iter().map(|at| &sentence[*at]).collect();
    let Some(portions) = portions(&words).filter(|portions| portions.len() <= MAX_CLAUSES) else {
        return vec![clause];
    };
    let (first, end) = (&portions[0], portions.last().map_or(0, |last| last.end));
    let tail = tail(&words, &portions).unwrap_or(end);
    let make = |portion: &Portion| {
        let mut places: Vec<usize> = (0..first.figure).collect();
        places.push(portion.figure);
        // `20 seats on Monday, 30 on Tuesday` counts seats both times.
        let has_unit = portion.whom > portion.figure + 1;
        let unit = if has_unit { portion } else { first };
        places.extend(unit.figure + 1..unit.whom);
        places.extend(portion.whom..portion.end.min(tail));
        places.extend(tail..words.len());
        Clause {
            words: places.into_iter().map(|place| clause.words[place]).collect(),
            subject: clause.subject.clone(),
            verb: clause.verb,
            shares: clause.shares,
        }
    };
    portions.iter().map(make).collect()
}

/// The members of a list of figures, if there are two at least.
fn portions(words: &[&Word]) -> Option<Vec<Portion>> {
    let is_sum = |word: &&Word| {
        matches!(&*word.key, "respectively" | "between" | "both" | "together" | "combined")
    };
    if words.iter().any(is_sum) {
        return None;
    }
    let mut found: Vec<Portion> = Vec::new();
    for item in items(words) {
        let figure = item.clone().find(|at| is_figure(words[*at]));
        match (figure, found.last_mut()) {
            (None, None) => {}
            (None, Some(last)) => last.end = item.end,
            (Some(figure), last) => {
                let is_first =
                    last.is_none() || item.clone().all(|at| at >= figure || is_light(words[at]));
                let whom = (figure + 1..item.end).find(|at| is_whom(words, *at, item.end));
                let Some(whom) = whom.filter(|_| is_first) else { break };
                found.push(Portion { figure, whom, end: item.end });
            }
        }
    }
    (found.len() > 1).then_some(found)
}

/// What stands between commas and conjunctions.
fn items(words: &[&Word]) -> Vec<Range<usize>> {
    let begins = |at: &usize| {
        let is_joined = |at: usize| matches!(&*words[at].key, "and" | "or" | "but" | "plus");
        *at == 0 || (words[*at].gap >= Gap::Comma || is_joined(*at)) && !is_joined(*at - 1)
    };
    let starts: Vec<usize> = (0..words.len()).filter(begins).collect();
    let ends = starts.iter().skip(1).copied().chain([words.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Where what holds for all members begins: `per night`, said once at the end.
fn tail(words: &[&Word], portions: &[Portion]) -> Option<usize> {
    let is_per = |at: &usize| matches!(&*words[*at].key, "per" | "each" | "every");
    let (last, before) = portions.split_last()?;
    let is_own = before.iter().any(|portion| (portion.figure..portion.end).any(|at| is_per(&at)));
    (last.whom + 1..last.end).find(is_per).filter(|_| !is_own)
}

/// Whether a preposition at a place says whom or what a figure is for.
fn is_whom(words: &[&Word], at: usize, end: usize) -> bool {
    let names = |word: &&Word| word.is_content() || is_figure(word);
    (verbs::is_preposition(&words[at].key) || words[at].key == "to")
        && words[at + 1..end].iter().any(names)
}

fn is_figure(word: &Word) -> bool {
    matches!(word.kind, Kind::Number(_) | Kind::Date(_))
}

/// Whether a word may stand before the figure of a member.
fn is_light(word: &Word) -> bool {
    word.kind == Kind::Stop
        || matches!(&*word.key, "but" | "and" | "or" | "plus" | "about" | "only")
}
