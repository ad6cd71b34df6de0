//! The tools that a planner gets to see where they do not all fit into its prompt.
//!
//! A search by words over names, descriptions and properties (BM25) ranks the tools by the question,
//! and the best of them are taken until the budget is used up. It is local, needs no model, and gives
//! the same answer every time. Where all tools fit, nothing is searched and all are taken.
//!
//! What servers say of their tools is not trusted to be short: texts, terms, depth and properties are
//! all counted within limits.

mod counts;
mod fields;
mod stem;
mod terms;
#[cfg(test)]
mod tests;

pub(crate) use stem::{is_stop_word, stem};
pub(crate) use terms::each_shape;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

pub use counts::MAX_TERMS_PER_TOOL;
use counts::TermCounts;

/// How many different terms of a question are looked for.
pub const MAX_QUESTION_TERMS: usize = 500;
/// How much of a question is read, in bytes.
pub const MAX_QUESTION_BYTES: usize = 16_384;

/// A tool as the search sees it.
#[derive(Debug, Clone, Copy)]
pub struct ShortlistEntry<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it says of itself.
    pub description: &'a str,
    /// Its input schema.
    pub schema: &'a Value,
    /// What it costs in the prompt.
    pub tokens: usize,
}

/// What a question gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortlist {
    /// The tools, by their places in the catalogue and in its order.
    pub chosen: Vec<usize>,
    /// How many others there are.
    pub left_out: usize,
}

/// The tools of a catalogue, ready to be searched. Made once for a catalogue.
#[derive(Debug, Default)]
pub struct ToolIndex {
    /// What each tool costs.
    tokens: Vec<usize>,
    /// The number of each term.
    terms: HashMap<Box<str>, u32>,
    /// Where the postings of each term begin, and at last where all end.
    starts: Vec<u32>,
    /// The tools that have a term and how much it says for them, term by term.
    postings: Vec<(u32, f32)>,
}

impl ToolIndex {
    /// Reads a catalogue.
    pub fn new<'a>(entries: impl IntoIterator<Item = ShortlistEntry<'a>>) -> Self {
        let mut counts = TermCounts::default();
        let mut tokens = Vec::new();
        for entry in entries {
            counts.begin();
            fields::terms(&entry, &mut |term, weight| counts.add(term, weight));
            tokens.push(entry.tokens);
        }
        counts.index(tokens)
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The tools that fit the question best, within a budget. Those that do not fit into what is left
    /// are passed over; those that have nothing to do with the question come last.
    pub fn pick(&self, question: &str, budget_tokens: usize) -> Shortlist {
        let all = self.tokens.iter().fold(0_usize, |sum, tokens| sum.saturating_add(*tokens));
        if all <= budget_tokens {
            return Shortlist { chosen: (0..self.len()).collect(), left_out: 0 };
        }
        let mut left = budget_tokens;
        let mut chosen = self.ranked(question);
        chosen.retain(|tool| {
            let fits = self.tokens[*tool] <= left;
            if fits {
                left -= self.tokens[*tool];
            }
            fits
        });
        chosen.sort_unstable();
        let left_out = self.len() - chosen.len();
        Shortlist { chosen, left_out }
    }

    /// All tools, the best first; equals in the order of the catalogue.
    fn ranked(&self, question: &str) -> Vec<usize> {
        let mut scores = vec![0.0_f32; self.len()];
        let mut seen = HashSet::new();
        let read = &question[..question.floor_char_boundary(MAX_QUESTION_BYTES)];
        terms::each(read, &mut |term| {
            let number = self.terms.get(term).map(|number| *number as usize);
            if let Some(number) = number.filter(|number| seen.insert(*number)) {
                let range = self.starts[number] as usize..self.starts[number + 1] as usize;
                for (tool, says) in &self.postings[range] {
                    scores[*tool as usize] += says;
                }
            }
            seen.len() < MAX_QUESTION_TERMS
        });
        let mut ranked: Vec<usize> = (0..self.len()).collect();
        ranked.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]));
        ranked
    }
}
