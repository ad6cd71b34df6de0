//! Every block as a row of numbers, from which it is judged whether it belongs to the content.
//!
//! The numbers know nothing of sites or languages: how a text looks, in what it stands, what the
//! authors called that, what stands beside it, and what kind of page it is on.

mod address;
mod element_names;
mod elements;
mod outline;
mod page_features;
mod patterns;
mod phrases;
mod roots;
mod row_writer;
mod tags;
pub(crate) mod text_stats;
pub(crate) mod tokens;
pub(crate) mod vocabulary;
mod word_groups;

use url::Url;

use crate::{
    blocks::{PageBlock, PageBlocks},
    dom::{DomTree, NodeId},
    head::HeadMetadata,
};
use outline::PageOutline;
use row_writer::RowWriter;
use text_stats::TextStats;

/// The levels above a block that are described one by one.
const LEVELS: usize = 6;
/// The farthest that an element above a block is looked for, in levels.
const FAR: usize = 24;

pub(crate) use page_features::words as words_of;

/// The rows of a page, one after the other.
pub(crate) struct FeatureRows {
    pub(crate) values: Vec<f32>,
    pub(crate) width: usize,
    /// Of each block, what it stands in besides the content.
    pub(crate) apart: Vec<BlockSurroundings>,
    pub(crate) nature: PageNature,
}

/// The surroundings of a block: comments, or a part that is around the content by its tag.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct BlockSurroundings {
    /// The element that holds the outermost comments that it is in.
    pub(crate) comments: Option<NodeId>,
    pub(crate) margin: bool,
}

/// The kind of page that a page says it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PageNature {
    pub(crate) article: bool,
    pub(crate) forum: bool,
}

impl FeatureRows {
    pub(crate) fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.width..(index + 1) * self.width]
    }
}

pub(crate) fn of(
    tree: &DomTree,
    blocks: &PageBlocks,
    head: &HeadMetadata,
    url: Option<&Url>,
) -> FeatureRows {
    let list = &blocks.list;
    // A copy of a page still says where it belongs.
    let url = head.home.as_ref().or(url);
    let looks: Vec<TextStats> = list.iter().map(|block| text_stats::look(&block.text)).collect();
    let elements = elements::gather(tree, list, &looks);
    let page = page_features::look(tree, list, &looks, &elements, head, url);
    let phrases: Vec<u64> = list.iter().map(|block| phrases::of(&block.text)).collect();
    let roots = roots::find(tree, list, &elements);
    let patterns = patterns::of(tree, list, &looks);
    let outline = PageOutline::of(tree, list, &looks, &elements);
    let scribe = RowWriter {
        tree,
        blocks,
        looks: &looks,
        phrases: &phrases,
        patterns: &patterns,
        roots: &roots,
        outline: &outline,
        elements: &elements,
        page: &page,
    };
    let words = vocabulary::of(tree, list).unwrap_or_default();
    let mut values = Vec::new();
    let mut seen = PrecedingBlocks::default();
    for index in 0..list.len() {
        scribe.write(index, &seen, &mut values);
        values.extend(words.iter().skip(index * vocabulary::WIDTH).take(vocabulary::WIDTH));
        if index == 0 {
            values.reserve(values.len() * list.len());
        }
        seen.add(index, &list[index], tree.tag(list[index].node).heading(), phrases[index]);
    }
    let width = if list.is_empty() { 0 } else { values.len() / list.len() };
    let apart = list.iter().map(|block| scribe.apart(block)).collect();
    FeatureRows { values, width, apart, nature: page_features::nature(head, url) }
}

/// The blocks before a block.
#[derive(Default)]
struct PrecedingBlocks {
    chars: u32,
    long_chars: u32,
    /// The last heading: where it stands, its level and its phrases.
    heading: Option<(usize, u8, u64)>,
    /// The first headings about comments, and about related pages.
    comments: Option<usize>,
    related: Option<usize>,
}

impl PrecedingBlocks {
    fn add(&mut self, index: usize, block: &PageBlock, heading: u8, phrases: u64) {
        if heading > 0 {
            self.heading = Some((index, heading, phrases));
        }
        if heading > 0 || block.words <= 6 {
            if phrases & 1 << 6 != 0 {
                self.comments.get_or_insert(index);
            }
            if phrases & 1 << 12 != 0 {
                self.related = Some(index);
            }
        }
        self.chars += block.chars;
        if block.is_long() {
            self.long_chars += block.chars;
        }
    }
}
