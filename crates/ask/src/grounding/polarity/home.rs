//! The clause that a claim comes from: what another clause denies says nothing of it.

use crate::grounding::{
    clauses::{self, Clause},
    vocabulary::{self, Denial},
    words::{Kind, Word},
};

/// What the clause says that has all words of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    /// There is no such clause, or the sentence has only one, or a denial may reach it.
    Unknown,
    /// It denies something.
    Denied,
    /// It denies nothing, but what another clause denies may be meant of it: `but not in Asia`.
    Plain,
    /// It denies nothing, and the clauses that do speak of something else.
    Free,
}

impl Home {
    /// The clause of a sentence that has all words of a claim that the sentence has.
    pub fn of(claim: &[Word], sentence: &[Word]) -> Self {
        let clauses = clauses::read(sentence);
        if clauses.len() < 2 {
            return Self::Unknown;
        }
        let is_there = |word: &Word| sentence.iter().any(|one| is_same(word, one));
        let said: Vec<&Word> =
            claim.iter().filter(|word| is_said(word) && is_there(word)).collect();
        let holds = |clause: &&Clause| {
            let has = |word: &&Word| clause.words.iter().any(|at| is_same(word, &sentence[*at]));
            said.iter().all(has)
        };
        let homes: Vec<&Clause> = clauses.iter().filter(holds).collect();
        if homes.is_empty() || said.is_empty() {
            return Self::Unknown;
        }
        let denies = |clause: &Clause| clause.words.iter().any(|at| is_denial(&sentence[*at]));
        if homes.iter().any(|home| denies(home)) {
            return Self::Denied;
        }
        // `Passwords are never, under any circumstances, stored`: the denial is of the verb that
        // comes later.
        let is_behind = |home: &&Clause| {
            home.shares && clauses.iter().take_while(|one| !std::ptr::eq(*one, *home)).any(denies)
        };
        if homes.iter().any(is_behind) {
            return Self::Unknown;
        }
        let is_apart = |clause: &Clause| {
            !denies(clause) || (clause.names_subject(sentence) && !reaches_back(clause, sentence))
        };
        let is_bound = sentence.iter().any(|word| vocabulary::opens_condition(&word.key));
        let is_free = homes.iter().all(|home| home.names_subject(sentence))
            && !is_bound
            && clauses.iter().all(is_apart);
        if is_free { Self::Free } else { Self::Plain }
    }

    /// Whether the clause denies nothing.
    pub fn says_yes(self) -> bool {
        matches!(self, Self::Plain | Self::Free)
    }
}

/// Whether something in a clause may take back what another one says: `the board denied it`,
/// `except on Sundays`, `exceptions are not listed`.
fn reaches_back(clause: &Clause, sentence: &[Word]) -> bool {
    clause.words.iter().map(|at| &sentence[*at]).any(|word| {
        word.denial() == Some(Denial::Sentence)
            || vocabulary::is_exception(&word.key)
            || vocabulary::is_pronoun(&word.key)
            || matches!(&*word.key, "that" | "so" | "such")
            || word.key.starts_with("exception")
    })
}

fn is_denial(word: &Word) -> bool {
    word.denial().is_some()
}

fn is_said(word: &Word) -> bool {
    word.is_content() || matches!(word.kind, Kind::Number(_) | Kind::Date(_))
}

fn is_same(word: &Word, other: &Word) -> bool {
    match (&word.kind, &other.kind) {
        (Kind::Number(one), Kind::Number(other)) => one.is(other),
        _ => word.is_like(other),
    }
}
