//! How often each tool has each term, while a catalogue is read, and what that says (BM25).

use std::collections::HashMap;

use super::ToolIndex;

/// How soon more of the same term stops to count (the `k1` of BM25).
const SATURATION: f32 = 1.2;
/// How much a long text counts less than a short one (the `b` of BM25).
const LENGTH_PENALTY: f32 = 0.75;
/// How many terms of one tool are counted.
pub const MAX_TERMS_PER_TOOL: usize = 2_000;

/// What was counted so far.
#[derive(Debug, Default)]
pub(super) struct TermCounts {
    terms: HashMap<Box<str>, u32>,
    /// Of each term, where its latest count is.
    latest: Vec<usize>,
    /// One list for all, because thousands of small ones that grow cost more than the counting.
    all: Vec<TermCount>,
    /// The weight of all terms of each tool.
    lengths: Vec<f32>,
    /// How many terms the tool at hand may still have.
    left: usize,
}

#[derive(Debug)]
struct TermCount {
    term: u32,
    tool: u32,
    weight: f32,
}

impl TermCounts {
    /// Goes on to the next tool.
    pub fn begin(&mut self) {
        self.lengths.push(0.0);
        self.left = MAX_TERMS_PER_TOOL;
    }

    /// Counts a term of the tool at hand, and says whether more may come.
    pub fn add(&mut self, term: &str, weight: f32) -> bool {
        let Some(length) = self.lengths.last_mut().filter(|_| self.left > 0) else { return false };
        self.left -= 1;
        *length += weight;
        let tool = number(self.lengths.len() - 1);
        // Most terms were seen before, and then nothing is copied.
        if let Some(term) = self.terms.get(term).copied() {
            let latest = &mut self.latest[term as usize];
            if self.all[*latest].tool == tool {
                self.all[*latest].weight += weight;
            } else {
                *latest = self.all.len();
                self.all.push(TermCount { term, tool, weight });
            }
        } else {
            let known = number(self.latest.len());
            self.terms.insert(term.into(), known);
            self.latest.push(self.all.len());
            self.all.push(TermCount { term: known, tool, weight });
        }
        self.left > 0
    }

    /// Sorts the counts by term and turns them into what they say, so that a question has only sums to
    /// make.
    pub fn index(self, tokens: Vec<usize>) -> ToolIndex {
        let mut starts = vec![0_u32; self.latest.len() + 1];
        for count in &self.all {
            starts[count.term as usize + 1] += 1;
        }
        for term in 1..starts.len() {
            starts[term] += starts[term - 1];
        }
        let tools = real(self.lengths.len());
        let average = (self.lengths.iter().sum::<f32>() / tools.max(1.0)).max(1.0);
        let damping =
            |length: &f32| SATURATION * (1.0 - LENGTH_PENALTY + LENGTH_PENALTY * length / average);
        let damping: Vec<f32> = self.lengths.iter().map(damping).collect();
        let rarity = |range: &[u32]| {
            let having = real((range[1] - range[0]) as usize);
            (1.0 + (tools - having + 0.5) / (having + 0.5)).ln()
        };
        let rarity: Vec<f32> = starts.windows(2).map(rarity).collect();
        let mut next = starts.clone();
        let mut postings = vec![(0, 0.0); self.all.len()];
        for TermCount { term, tool, weight } in self.all {
            let place = &mut next[term as usize];
            let says = weight * (SATURATION + 1.0) / (weight + damping[tool as usize]);
            postings[*place as usize] = (tool, rarity[term as usize] * says);
            *place += 1;
        }
        ToolIndex { tokens, terms: self.terms, starts, postings }
    }
}

/// A place in a list as it is kept, which is half as large.
fn number(place: usize) -> u32 {
    u32::try_from(place).expect("a catalogue has fewer than four billion terms")
}

/// A count as a number to reckon with.
#[expect(clippy::cast_precision_loss, reason = "counts of tools are far below 2^24")]
fn real(count: usize) -> f32 {
    count as f32
}
