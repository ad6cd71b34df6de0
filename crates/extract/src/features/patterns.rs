//! Blocks that are made alike: the same elements with the same classes all the way up.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use super::text_stats::TextStats;
use crate::{
    blocks::PageBlock,
    dom::{DomTree, NodeId, Tag},
};

/// The levels above two blocks that have to be the same for them to be nearly alike.
const COARSE_LEVELS: usize = 3;
/// And those that are alike.
const FINE_LEVELS: usize = 12;

/// Sums over blocks that are made alike.
#[derive(Debug, Default, Clone)]
pub(crate) struct PatternGroup {
    pub(crate) count: u32,
    pub(crate) words: u32,
    pub(crate) chars: u32,
    pub(crate) link_chars: u32,
    pub(crate) sentences: u32,
    pub(crate) first: u32,
}

/// Groups of blocks that are alike.
#[derive(Debug, Default)]
pub(crate) struct BlockPattern {
    /// The group of each block.
    pub(crate) of: Vec<u32>,
    pub(crate) groups: Vec<PatternGroup>,
}

/// Groups of blocks that are alike, and of those that nearly are.
#[derive(Debug, Default)]
pub(crate) struct BlockPatterns {
    pub(crate) fine: BlockPattern,
    pub(crate) coarse: BlockPattern,
}

pub(crate) fn of(tree: &DomTree, blocks: &[PageBlock], looks: &[TextStats]) -> BlockPatterns {
    let mut patterns = BlockPatterns::default();
    let (mut fine, mut coarse) = (HashMap::new(), HashMap::new());
    for (index, (block, look)) in blocks.iter().zip(looks).enumerate() {
        for (kind, known, levels, classes) in [
            (&mut patterns.fine, &mut fine, FINE_LEVELS, true),
            (&mut patterns.coarse, &mut coarse, COARSE_LEVELS, false),
        ] {
            let hash = path(tree, block.node, levels, classes);
            let next = u32::try_from(kind.groups.len()).unwrap_or(u32::MAX);
            let group = *known.entry(hash).or_insert(next);
            if group == next {
                let first = u32::try_from(index).unwrap_or(u32::MAX);
                kind.groups.push(PatternGroup { first, ..PatternGroup::default() });
            }
            kind.of.push(group);
            let sums = &mut kind.groups[group as usize];
            sums.count += 1;
            sums.words += block.words;
            sums.chars += block.chars;
            sums.link_chars += block.link_chars;
            sums.sentences += look.sentences;
        }
    }
    patterns
}

/// The elements above a block, as one number.
fn path(tree: &DomTree, id: NodeId, levels: usize, classes: bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    for above in std::iter::once(id).chain(tree.ancestors(id)).take(levels) {
        let Some(element) = tree.element(above) else { break };
        if element.tag == Tag::Body {
            break;
        }
        (element.tag as u8).hash(&mut hasher);
        if classes {
            // Numbers in names count siblings.
            for one in element.attribute("class").unwrap_or("").bytes() {
                if !one.is_ascii_digit() {
                    one.hash(&mut hasher);
                }
            }
        }
    }
    hasher.finish()
}
