//! Selects the blocks of the page by their scores, and those that cannot be left out.

use std::collections::HashSet;

use crate::{
    blocks::{PageBlock, PageBlocks},
    dom::{DomTree, NodeId, Tag},
    features::FeatureRows,
    scoring::BlockScores,
};

/// A page of so many words is about something besides the comments on it.
const SUBJECT_WORDS: u32 = 50;
/// So much of what is kept has to stand outside of the comments, where a page may be made of
/// them; on a page that calls itself an article any share is enough.
const SUBJECT_SHARE: f32 = 0.15;
/// So much of what is kept has to stand outside of margins.
const CENTRE_SHARE: f32 = 0.6;

/// The levels below an element that count as near.
const NEAR: usize = 8;
/// Two blocks of so many words with the same text are one that was printed twice.
const TWICE_WORDS: u32 = 20;

pub(crate) fn choose(
    tree: &DomTree,
    blocks: &PageBlocks,
    rows: &FeatureRows,
    scores: &BlockScores,
) -> Vec<bool> {
    let mut kept: Vec<bool> =
        scores.sureties.iter().map(|surety| *surety >= scores.enough).collect();
    if !kept.contains(&true) {
        // A page that is nothing but what usually stands around content.
        kept.fill(true);
        return kept;
    }
    drop_apart(&blocks.list, rows, &mut kept);
    fill_gaps(tree, &blocks.list, &mut kept);
    drop_copies(blocks, &mut kept);
    kept
}

/// Comments are content where there is nothing else, and so is what stands in a margin.
fn drop_apart(list: &[PageBlock], rows: &FeatureRows, kept: &mut [bool]) {
    let share = if rows.nature.article && !rows.nature.forum { 0.0 } else { SUBJECT_SHARE };
    drop_where(list, kept, share, |index| rows.apart[index].comments);
    drop_where(list, kept, CENTRE_SHARE, |index| rows.apart[index].margin);
}

/// Drops what stands apart, if enough is left then.
fn drop_where(list: &[PageBlock], kept: &mut [bool], share: f32, apart: impl Fn(usize) -> bool) {
    let (mut inside, mut outside) = (0, 0);
    for (index, block) in list.iter().enumerate().filter(|(index, _)| kept[*index]) {
        *(if apart(index) { &mut inside } else { &mut outside }) += block.words;
    }
    if outside >= SUBJECT_WORDS && outside as f32 >= share * (inside + outside) as f32 {
        for (index, kept) in kept.iter_mut().enumerate() {
            *kept &= !apart(index);
        }
    }
}

/// Code, tables, quotes and headings between paragraphs that are kept belong to them.
fn fill_gaps(tree: &DomTree, list: &[PageBlock], kept: &mut [bool]) {
    let mut before: Option<usize> = None;
    for index in 0..list.len() {
        if !kept[index] {
            continue;
        }
        if let Some(before) = before
            && index - before > 1
        {
            let holder = common(tree, list[before].node, list[index].node);
            for gap in before + 1..index {
                kept[gap] = is_figure(tree, list[gap].node, holder);
            }
            // A heading is kept with what it is the heading of.
            let above = list[index - 1].node;
            if tree.tag(above).heading() > 1 && tree.node(above).parent == holder {
                kept[index - 1] = true;
            }
        }
        before = Some(index);
    }
}

/// The nearest element that holds both.
fn common(tree: &DomTree, one: NodeId, other: NodeId) -> NodeId {
    let above: HashSet<NodeId> = tree.ancestors(one).collect();
    tree.ancestors(other).find(|id| above.contains(id)).unwrap_or(NodeId::DOCUMENT)
}

/// True if a block is in code, a table or a quote that stands near in an element.
fn is_figure(tree: &DomTree, node: NodeId, holder: NodeId) -> bool {
    let mut figure = false;
    for id in std::iter::once(node).chain(tree.ancestors(node)).take(NEAR) {
        if id == holder {
            return figure;
        }
        match tree.tag(id) {
            Tag::Pre | Tag::Table | Tag::Blockquote => figure = true,
            Tag::Aside | Tag::Nav | Tag::Form | Tag::Footer => return false,
            _ => {}
        }
    }
    false
}

/// Of a text that stands on the page more than once the first is enough.
fn drop_copies(blocks: &PageBlocks, kept: &mut [bool]) {
    let mut seen = HashSet::new();
    for (index, block) in blocks.list.iter().enumerate() {
        if kept[index] && blocks.copies[index] > 1 && block.words >= TWICE_WORDS {
            kept[index] = seen.insert(&block.text);
        }
    }
}
