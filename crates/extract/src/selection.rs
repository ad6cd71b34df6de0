//! Selects the blocks of the page by their scores, and those that cannot be left out.

use std::collections::{HashMap, HashSet};

use crate::{
    blocks::{PageBlock, PageBlocks},
    dom::{DomTree, NodeId, Tag},
    features::FeatureRows,
    scoring::BlockScores,
};

/// A page of so many words is about something besides the comments on it.
const SUBJECT_WORDS: u32 = 50;
/// So much of what is kept has to stand outside of the comments for them to be left out: on a page that may be made of
/// them, on one that calls itself an article, on a forum, and on a forum whose postings have comments of their own.
const SUBJECT_SHARE: f32 = 0.5;
const ARTICLE_SHARE: f32 = 0.03;
const FORUM_SHARE: f32 = 0.6;
const SCATTERED_SHARE: f32 = 0.3;
/// So much of what is kept has to stand outside of margins.
const CENTRE_SHARE: f32 = 0.6;

/// The surety from which on the first heading of a page is kept with the text below it.
const HEADING_SURETY: f32 = 0.3;
/// A table of so many rows is small.
const SMALL_TABLE: usize = 8;
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
    keep_heading(tree, &blocks.list, &scores.sureties, &mut kept);
    fill_gaps(tree, &blocks.list, &mut kept);
    complete_tables(tree, &blocks.list, &mut kept);
    drop_copies(blocks, &mut kept);
    kept
}

/// Comments are content where they hold most of the text, as postings of a forum do; and what stands in a margin
/// is where there is nothing else.
fn drop_apart(list: &[PageBlock], rows: &FeatureRows, kept: &mut [bool]) {
    let share = match (rows.nature.forum, rows.nature.article) {
        (true, _) if are_scattered(list, rows, kept) => SCATTERED_SHARE,
        (true, _) => FORUM_SHARE,
        (false, true) => ARTICLE_SHARE,
        (false, false) => SUBJECT_SHARE,
    };
    drop_where(list, kept, share, |index| rows.apart[index].comments.is_some());
    drop_where(list, kept, CENTRE_SHARE, |index| rows.apart[index].margin);
}

/// True if no element holds most of the comments: each posting has comments of its own.
fn are_scattered(list: &[PageBlock], rows: &FeatureRows, kept: &[bool]) -> bool {
    let mut words: HashMap<NodeId, u32> = HashMap::new();
    for (index, block) in list.iter().enumerate().filter(|(index, _)| kept[*index]) {
        if let Some(holder) = rows.apart[index].comments {
            *words.entry(holder).or_default() += block.words;
        }
    }
    words.values().max().copied().unwrap_or(0) * 2 < words.values().sum()
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

/// A heading of the first level that may belong is kept with the text right below it.
fn keep_heading(tree: &DomTree, list: &[PageBlock], sureties: &[f32], kept: &mut [bool]) {
    for index in 1..list.len() {
        let (above, below) = (list[index - 1].node, list[index].node);
        kept[index - 1] |= kept[index]
            && sureties[index - 1] >= HEADING_SURETY
            && tree.tag(above).heading() == 1
            && tree.node(above).parent == tree.node(below).parent;
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

/// A small table is kept whole, if a row of it is.
fn complete_tables(tree: &DomTree, list: &[PageBlock], kept: &mut [bool]) {
    let table = |block: &PageBlock| {
        let mut above = tree.ancestors(block.node).take(NEAR);
        block.is_row.then(|| above.find(|id| tree.tag(*id) == Tag::Table)).flatten()
    };
    let mut index = 0;
    for run in list.chunk_by(|one, other| table(one) == table(other)) {
        let rows = &mut kept[index..index + run.len()];
        if run.len() <= SMALL_TABLE && table(&run[0]).is_some() && rows.contains(&true) {
            rows.fill(true);
        }
        index += run.len();
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
