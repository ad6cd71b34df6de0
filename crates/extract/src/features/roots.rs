//! Finds the elements that seem to hold all of the content, by several rules of thumb.

use super::elements::ElementTable;
use crate::{
    blocks::PageBlock,
    dom::{DomTree, Element, NodeId, Tag},
};

/// Groups of names that speak against what is in them, as long as it is below the root.
pub(super) const AGAINST: [usize; 24] =
    [5, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 24, 26, 27, 33, 36, 37, 38, 39, 41];
/// The number of roots.
pub(super) const COUNT: usize = 3;

/// Elements that may hold all of the content; `Id::NONE` where a rule finds none.
pub(super) struct ContentRoots {
    pub(super) all: [NodeId; COUNT],
}

pub(super) fn find(tree: &DomTree, blocks: &[PageBlock], elements: &ElementTable) -> ContentRoots {
    let weights = weigh(tree, blocks, elements);
    let semantic = semantic(tree, elements, &weights);
    ContentRoots { all: [semantic, descend(tree, &weights, 0.8), descend(tree, &weights, 0.55)] }
}

/// The amount of possible content in every element.
fn weigh(tree: &DomTree, blocks: &[PageBlock], elements: &ElementTable) -> Vec<f32> {
    let mut weights = vec![0.0_f32; tree.nodes.len()];
    for block in blocks {
        let chars = block.chars as f32;
        let plain = (block.chars - block.link_chars.min(block.chars)) as f32;
        let own = if block.is_long() { chars } else { 0.3 * plain + 0.05 * chars };
        let chain = || std::iter::once(block.node).chain(tree.ancestors(block.node));
        let outside = chain().any(|id| {
            tree.element(id).is_some_and(|element| {
                matches!(element.tag, Tag::Nav | Tag::Footer | Tag::Aside | Tag::Dialog)
                    || is_navigation(element)
                    || (elements.names[id.index()] & OUTSIDE != 0
                        && !matches!(element.tag, Tag::Body | Tag::Html | Tag::Main | Tag::Article)
                        && elements.sums[id.index()].chars * 2
                            < elements.sums[NodeId::DOCUMENT.index()].chars)
            })
        });
        if outside {
            continue;
        }
        for id in chain() {
            weights[id.index()] += own;
        }
    }
    weights
}

/// Names of what no content is looked for in.
const OUTSIDE: u64 =
    super::element_names::bits(&["comment", "footer", "nav", "related", "cookie", "popup"]);

fn is_navigation(element: &Element) -> bool {
    matches!(
        element.attribute("role"),
        Some("navigation" | "contentinfo" | "complementary" | "dialog" | "search" | "banner")
    )
}

/// The smallest element that says that it is the content, and holds most of it.
fn semantic(tree: &DomTree, elements: &ElementTable, weights: &[f32]) -> NodeId {
    let total = weights[NodeId::DOCUMENT.index()];
    let mut best = (NodeId::NONE, f32::MAX);
    for (index, node) in tree.nodes.iter().enumerate() {
        let crate::dom::NodeData::Element(element) = &node.data else { continue };
        if weights[index] < 0.5 * total || !says_content(element) {
            continue;
        }
        let chars = elements.sums[index].chars as f32;
        if chars < best.1 {
            best = (NodeId(u32::try_from(index).unwrap_or(u32::MAX)), chars);
        }
    }
    best.0
}

pub(super) fn says_content(element: &Element) -> bool {
    if matches!(element.tag, Tag::Main | Tag::Article) || element.attribute("role") == Some("main")
    {
        return true;
    }
    if element.attribute("itemprop").is_some_and(|name| {
        ["articlebody", "text", "description", "mainentity"].contains(&&*name.to_ascii_lowercase())
    }) {
        return true;
    }
    let names = ["id", "class"].into_iter().filter_map(|name| element.attribute(name));
    names.flat_map(str::split_whitespace).any(|name| {
        let name: String = name
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_ascii_lowercase();
        matches!(
            name.as_str(),
            "content"
                | "main"
                | "maincontent"
                | "contentmain"
                | "primary"
                | "primarycontent"
                | "pagecontent"
                | "contentbody"
                | "contentarea"
                | "sitecontent"
                | "postcontent"
                | "entrycontent"
                | "articlecontent"
                | "articlebody"
                | "postbody"
                | "storybody"
                | "bodycontent"
                | "mwcontenttext"
                | "mwparseroutput"
                | "article"
                | "maincolumn"
                | "markdownbody"
                | "richtext"
                | "innercontent"
                | "contentinner"
                | "contentwrapper"
        )
    })
}

/// Goes down from the body for as long as one child holds so much of it all.
fn descend(tree: &DomTree, weights: &[f32], share: f32) -> NodeId {
    let total = weights[NodeId::DOCUMENT.index()];
    let mut at = NodeId::DOCUMENT;
    loop {
        let next = tree
            .children(at)
            .filter(|id| tree.element(*id).is_some())
            .find(|id| weights[id.index()] >= share * total && weights[id.index()] > 0.0);
        match next {
            Some(id) if tree.tag(id) != Tag::P => at = id,
            _ => return at,
        }
    }
}
