//! Groups of words, all of which are found in one pass.

use aho_corasick::{AhoCorasick, Match};

/// Words in groups.
pub(super) struct Lexicon {
    automaton: AhoCorasick,
    /// The group of each word.
    groups: Vec<u8>,
}

impl Lexicon {
    pub(super) fn new(table: &[&[&str]]) -> Self {
        let (mut needles, mut groups) = (Vec::<&str>::new(), Vec::new());
        for (group, words) in table.iter().enumerate() {
            needles.extend(*words);
            groups.resize(needles.len(), u8::try_from(group).unwrap_or(u8::MAX));
        }
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(needles)
            // The words are our own.
            .unwrap_or_else(|error| unreachable!("{error}"));
        Self { automaton, groups }
    }

    /// The groups whose words a text has, a bit each, as far as a rule takes them.
    pub(super) fn groups(&self, text: &str, takes: impl Fn(&Match) -> bool) -> u64 {
        let found = self.automaton.find_overlapping_iter(text).filter(takes);
        found.fold(0, |bits, found| bits | 1 << self.groups[found.pattern().as_usize()])
    }
}
