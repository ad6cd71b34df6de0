//! Groups of words, all of which are found in one pass.

use aho_corasick::{AhoCorasick, Match};

pub(super) struct WordGroups {
    automaton: AhoCorasick,
    /// The group of each word.
    groups: Vec<u8>,
}

impl WordGroups {
    /// The words of each group, in the order of the groups.
    pub(super) fn new<Words>(table: impl Iterator<Item = Words>) -> Self
    where
        Words: Iterator<Item: AsRef<[u8]>>,
    {
        let (mut needles, mut groups) = (Vec::new(), Vec::new());
        for (group, words) in table.enumerate() {
            needles.extend(words);
            groups.resize(needles.len(), u8::try_from(group).unwrap_or(u8::MAX));
        }
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(needles)
            // The words are our own.
            .unwrap_or_else(|error| unreachable!("{error}"));
        Self { automaton, groups }
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.groups.last().map_or(0, |last| usize::from(*last) + 1)
    }

    /// The groups whose words a text has, a bit each, as far as a rule takes them.
    pub(super) fn groups(&self, text: &str, takes: impl Fn(u64, &Match) -> bool) -> u64 {
        let group = |found: &Match| 1 << self.groups[found.pattern().as_usize()];
        let found = self.automaton.find_overlapping_iter(text);
        found.filter(|found| takes(group(found), found)).fold(0, |bits, found| bits | group(&found))
    }
}
