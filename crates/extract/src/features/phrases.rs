//! Phrases that pages everywhere say around their content: `words/phrases.txt`.

use std::sync::LazyLock;

use super::word_groups::WordGroups;

/// The number of groups.
pub(super) const GROUPS: usize = 24;
/// The groups that say something about what comes below a heading.
pub(super) const OF_HEADINGS: [usize; 12] = [3, 6, 7, 11, 12, 13, 14, 15, 16, 18, 19, 23];
/// The most of a text that is looked at, in bytes.
const MAX_BYTES: usize = 400;

static PHRASES: LazyLock<WordGroups> = LazyLock::new(|| {
    let lines = include_str!("../../words/phrases.txt").lines();
    let groups =
        lines.filter_map(|line| line.split_once(": ")).filter(|(name, _)| !name.starts_with('#'));
    WordGroups::new(
        groups.map(|(_, phrases)| phrases.split(", ").map(|phrase| phrase.replace('_', " "))),
    )
});

/// The groups whose phrases a text has near its start, a bit each.
pub(super) fn of(text: &str) -> u64 {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    PHRASES.groups(&text[..end], |_, _| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_of_the_file_is_found() {
        assert_eq!(PHRASES.count(), GROUPS);
        assert_eq!(of("Share this"), 1);
        assert_eq!(of("two days ago"), 1 << 9);
        assert_eq!(of("agog"), 0);
        assert_eq!(of("Is the author of it"), 1 << 8 | 1 << 23);
    }
}
