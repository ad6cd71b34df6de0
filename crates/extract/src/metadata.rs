//! Title, byline, date and language of a page: one file each.

pub(crate) mod byline;
pub(crate) mod language;
pub(crate) mod published;
pub(crate) mod title;

use std::collections::HashSet;

use url::Url;

use crate::{
    blocks::PageBlocks,
    dom::{DomTree, NodeId, Tag, WalkStep},
    head::HeadMetadata,
};

/// The parts of a page that its metadata is found in.
pub(crate) struct MetadataSource<'a> {
    pub(crate) tree: &'a DomTree,
    pub(crate) head: &'a HeadMetadata,
    pub(crate) blocks: &'a PageBlocks,
    /// The blocks that are content.
    pub(crate) belongs: &'a [bool],
    pub(crate) url: Option<&'a Url>,
    pub(crate) text: &'a str,
    /// The elements that the first large heading stands in.
    pub(crate) around_title: HashSet<NodeId>,
}

/// The elements that the first large heading stands in.
pub(crate) fn around_title(tree: &DomTree, blocks: &PageBlocks) -> HashSet<NodeId> {
    let heading = blocks.list.iter().find(|block| tree.tag(block.node) == Tag::H1);
    heading.map(|block| tree.ancestors(block.node).collect()).unwrap_or_default()
}

impl MetadataSource<'_> {
    /// The text of an element as far as the page shows it.
    fn shown_text(&self, id: NodeId) -> String {
        let skipped = &self.blocks.skipped;
        if self.tree.ancestors(id).any(|above| skipped.contains(&above)) {
            return String::new();
        }
        tidy(&self.tree.text(id, |inner| skipped.contains(&inner)))
    }

    /// The first element that a rule likes, in the order of the page.
    fn element<T>(
        &self,
        mut rule: impl FnMut(NodeId, &crate::dom::Element) -> Option<T>,
    ) -> Option<T> {
        let mut found = None;
        self.tree.walk(NodeId::DOCUMENT, |step| {
            if found.is_some() {
                return false;
            }
            if let WalkStep::Enter(id) = step
                && let Some(element) = self.tree.element(id)
            {
                found = rule(id, element);
            }
            true
        });
        found
    }
}

/// Text of a page in one line, without what cannot be seen.
pub(crate) fn tidy(text: &str) -> String {
    let visible = |one: &char| !one.is_control() || one.is_whitespace();
    let text: String = text.chars().filter(visible).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
