//! A table of all elements: how much text each holds, of what kind, and among which others
//! it stands.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use super::{element_names, text_stats::TextStats};
use crate::{
    blocks::PageBlock,
    dom::{DomTree, NodeData, NodeId, Tag, WalkStep},
};

/// Sums over all blocks in an element.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ElementSums {
    pub(super) blocks: u32,
    pub(super) chars: u32,
    pub(super) words: u32,
    pub(super) link_chars: u32,
    pub(super) long: u32,
    pub(super) long_chars: u32,
    pub(super) sentences: u32,
    pub(super) headings: u32,
    pub(super) paragraphs: u32,
    pub(super) items: u32,
}

impl ElementSums {
    fn add(&mut self, other: &ElementSums) {
        self.blocks += other.blocks;
        self.chars += other.chars;
        self.words += other.words;
        self.link_chars += other.link_chars;
        self.long += other.long;
        self.long_chars += other.long_chars;
        self.sentences += other.sentences;
        self.headings += other.headings;
        self.paragraphs += other.paragraphs;
        self.items += other.items;
    }

    pub(super) fn link_density(&self) -> f32 {
        ratio(self.link_chars, self.chars)
    }
}

/// The position of an element among its siblings.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SiblingPosition {
    pub(super) index: u32,
    pub(super) siblings: u32,
    /// The number of those that look like it.
    pub(super) alike: u32,
}

pub(super) struct ElementTable {
    pub(super) sums: Vec<ElementSums>,
    pub(super) names: Vec<u64>,
    pub(super) places: Vec<SiblingPosition>,
    /// A hash of the structure of each; nothing of what is not shown.
    pub(super) looks: Vec<Option<u64>>,
    /// Scores as a reader's eye would give them: where the running text is.
    pub(super) scores: Vec<f32>,
    pub(super) best: NodeId,
}

pub(super) fn ratio(part: u32, whole: u32) -> f32 {
    if whole == 0 { 0.0 } else { part as f32 / whole as f32 }
}

pub(super) fn gather(tree: &DomTree, blocks: &[PageBlock], looks: &[TextStats]) -> ElementTable {
    let count = tree.nodes.len();
    let mut elements = ElementTable {
        sums: vec![ElementSums::default(); count],
        names: vec![0; count],
        places: vec![SiblingPosition::default(); count],
        looks: vec![None; count],
        scores: vec![0.0; count],
        best: NodeId::NONE,
    };
    for (block, look) in blocks.iter().zip(looks) {
        let tag = tree.tag(block.node);
        let long = block.is_long();
        elements.sums[block.node.index()].add(&ElementSums {
            blocks: 1,
            chars: block.chars,
            words: block.words,
            link_chars: block.link_chars,
            long: u32::from(long),
            long_chars: if long { block.chars } else { 0 },
            sentences: look.sentences,
            headings: u32::from(tag.heading() > 0),
            paragraphs: u32::from(tag == Tag::P),
            items: u32::from(tag == Tag::Li),
        });
        if long {
            let points =
                1.0 + (look.commas as f32).min(10.0) + (block.chars as f32 / 100.0).min(3.0);
            for (level, above) in
                std::iter::once(block.node).chain(tree.ancestors(block.node)).take(5).enumerate()
            {
                let share = [0.3, 1.0, 0.6, 0.35, 0.2][level];
                elements.scores[above.index()] += points * share;
            }
        }
    }
    elements.sum_up(tree);
    elements
}

impl ElementTable {
    /// Every element has what its children have; its names and its place are noted on the way.
    fn sum_up(&mut self, tree: &DomTree) {
        let mut alike: HashMap<u64, u32> = HashMap::new();
        let mut best = 0.0;
        tree.walk(NodeId::DOCUMENT, |step| match step {
            WalkStep::Enter(id) => {
                if let NodeData::Element(element) = &tree.node(id).data {
                    if element.tag.is_never_shown() || element.tag == Tag::Br {
                        return false;
                    }
                    self.names[id.index()] = element_names::of(element);
                }
                self.note_places(tree, id, &mut alike);
                true
            }
            WalkStep::Leave(id) => {
                let (sums, parent) = (self.sums[id.index()], tree.node(id).parent);
                let score = &mut self.scores[id.index()];
                *score *= 1.0 - sums.link_density();
                if *score > best {
                    best = *score;
                    self.best = id;
                }
                if parent.is_some() && sums.blocks > 0 {
                    self.sums[parent.index()].add(&sums);
                }
                true
            }
        });
    }

    fn note_places(&mut self, tree: &DomTree, parent: NodeId, alike: &mut HashMap<u64, u32>) {
        alike.clear();
        let mut count = 0;
        for child in tree.children(parent) {
            self.looks[child.index()] = looks_like(tree, child);
            if let Some(hash) = self.looks[child.index()] {
                *alike.entry(hash).or_default() += 1;
                count += 1;
            }
        }
        let mut index = 0;
        for child in tree.children(parent) {
            if let Some(hash) = self.looks[child.index()] {
                self.places[child.index()] =
                    SiblingPosition { index, siblings: count, alike: alike[&hash] };
                index += 1;
            }
        }
    }
}

/// Two elements of the same kind with the same classes look alike.
fn looks_like(tree: &DomTree, id: NodeId) -> Option<u64> {
    let element = tree.element(id)?;
    if element.tag.is_never_shown() || element.tag == Tag::Br {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    element.name.local.hash(&mut hasher);
    element.attribute("class").and_then(|class| class.split_whitespace().next()).hash(&mut hasher);
    Some(hasher.finish())
}
