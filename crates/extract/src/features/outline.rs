//! The page as somebody would cut it by hand: without menus, margins and boxes, from what calls
//! itself the main part; and what in it comes in rows of the same kind.

use std::collections::HashMap;

use super::{
    element_names,
    elements::{ElementSums, ElementTable, ratio},
    roots::says_content,
    text_stats::TextStats,
};
use crate::{
    blocks::PageBlock,
    dom::{DomTree, Element, NodeData, NodeId, Tag, WalkStep},
};

/// The number of features of a block.
const WIDTH: usize = 30;

/// Groups of names of what stands around content, as long as it is small.
const AROUND: u64 = NEVER
    | element_names::bits(&[
        "comment", "related", "popular", "promo", "login", "search", "toc", "print", "hidden",
    ]);
/// Those of them that are content on no kind of page.
const NEVER: u64 =
    element_names::bits(&["footer", "nav", "breadcrumb", "share", "newsletter", "cookie", "popup"]);

/// The part of a tree that is left without what stands around the content.
#[derive(Clone, Copy, Default)]
struct TrimmedTree {
    structure: bool,
    never: bool,
    around: bool,
}

/// Elements of the same kind beside each other.
#[derive(Clone, Copy, Default)]
struct SiblingGroup {
    members: u32,
    words: u32,
    chars: u32,
    links: u32,
    long: u32,
    money: u32,
    headings: u32,
}

pub(super) struct PageOutline {
    cuts: Vec<TrimmedTree>,
    main: NodeId,
    /// The crowd with the most words that each element is in, and which one.
    crowds: Vec<(u32, NodeId)>,
    all: Vec<SiblingGroup>,
    /// The rest of the page, and of its main part.
    left: [ElementSums; 2],
    money: [u32; 2],
    largest: u32,
}

impl PageOutline {
    pub(super) fn of(
        tree: &DomTree,
        blocks: &[PageBlock],
        looks: &[TextStats],
        elements: &ElementTable,
    ) -> Self {
        let main = main(tree, elements);
        let mut outline = Self {
            cuts: vec![TrimmedTree::default(); tree.nodes.len()],
            main,
            crowds: vec![(0, NodeId::NONE); tree.nodes.len()],
            all: vec![SiblingGroup::default()],
            left: [ElementSums::default(); 2],
            money: [0; 2],
            largest: 0,
        };
        outline.cut(tree, elements);
        let mut money = vec![0_u32; tree.nodes.len()];
        for (block, look) in blocks.iter().zip(looks) {
            if look.has_money {
                for id in std::iter::once(block.node).chain(tree.ancestors(block.node)) {
                    money[id.index()] += 1;
                }
            }
        }
        outline.crowd(tree, elements, &money);
        for (block, look) in blocks.iter().zip(looks) {
            outline.count(tree, block, look);
        }
        outline
    }

    /// The containers of each element.
    fn cut(&mut self, tree: &DomTree, elements: &ElementTable) {
        let whole = elements.sums[NodeId::DOCUMENT.index()].chars;
        tree.walk(NodeId::DOCUMENT, |step| {
            let WalkStep::Enter(id) = step else { return true };
            let parent = tree.node(id).parent;
            let mut cut =
                if parent.is_some() { self.cuts[parent.index()] } else { TrimmedTree::default() };
            if let NodeData::Element(element) = &tree.node(id).data {
                let small = elements.sums[id.index()].chars * 2 < whole;
                let holder = matches!(
                    element.tag,
                    Tag::Body | Tag::Html | Tag::Main | Tag::Article | Tag::P
                ) || element.tag.heading() > 0;
                cut.structure |= frames(element);
                if small && !holder {
                    let names = elements.names[id.index()];
                    cut.never |= names & NEVER != 0;
                    cut.around |= names & AROUND != 0;
                }
            }
            self.cuts[id.index()] = cut;
            true
        });
    }

    /// Finds the crowds, and for every element the largest that it is in.
    fn crowd(&mut self, tree: &DomTree, elements: &ElementTable, money: &[u32]) {
        let mut here: HashMap<u64, u32> = HashMap::new();
        tree.walk(NodeId::DOCUMENT, |step| {
            let WalkStep::Enter(parent) = step else { return true };
            let Some(element) = tree.element(parent) else { return parent == NodeId::DOCUMENT };
            if element.tag.is_never_shown() {
                return false;
            }
            let above = self.crowds[parent.index()];
            here.clear();
            for child in tree.children(parent) {
                let sums = &elements.sums[child.index()];
                if elements.places[child.index()].alike < 3
                    || sums.blocks == 0
                    || matches!(tree.tag(child), Tag::P | Tag::Br | Tag::Span | Tag::A)
                {
                    continue;
                }
                let Some(hash) = elements.looks[child.index()] else { continue };
                let number = *here.entry(hash).or_insert_with(|| {
                    self.all.push(SiblingGroup::default());
                    u32::try_from(self.all.len() - 1).unwrap_or(0)
                });
                let crowd = &mut self.all[number as usize];
                crowd.members += 1;
                crowd.words += sums.words;
                crowd.chars += sums.chars;
                crowd.links += sums.link_chars;
                crowd.long += sums.long_chars;
                crowd.money += u32::from(money[child.index()] > 0);
                crowd.headings += u32::from(sums.headings > 0);
                self.crowds[child.index()] = (number, child);
            }
            for child in tree.children(parent) {
                let (own, _) = self.crowds[child.index()];
                if own == 0
                    || self.all[own as usize].words <= self.all[above.0 as usize].words
                    || self.all[own as usize].members < 3
                {
                    self.crowds[child.index()] = above;
                }
            }
            true
        });
    }

    fn count(&mut self, tree: &DomTree, block: &PageBlock, look: &TextStats) {
        let cut = self.cuts[block.node.index()];
        if cut.structure || cut.never {
            return;
        }
        let inside = self.is_inside(tree, block);
        for (place, is) in [true, inside].into_iter().enumerate() {
            if is {
                let sums = &mut self.left[place];
                sums.blocks += 1;
                sums.chars += block.chars;
                sums.words += block.words;
                sums.link_chars += block.link_chars;
                if block.is_long() {
                    sums.long_chars += block.chars;
                }
                self.money[place] += u32::from(look.has_money);
            }
        }
        if inside {
            let (number, _) = self.crowds[block.node.index()];
            self.largest = self.largest.max(self.all[number as usize].words);
        }
    }

    fn is_inside(&self, tree: &DomTree, block: &PageBlock) -> bool {
        self.main == NodeId::DOCUMENT
            || std::iter::once(block.node)
                .chain(tree.ancestors(block.node))
                .any(|id| id == self.main)
    }

    pub(super) fn write(
        &self,
        tree: &DomTree,
        block: &PageBlock,
        elements: &ElementTable,
        row: &mut Vec<f32>,
    ) {
        let yes = |is: bool| if is { 1.0 } else { 0.0 };
        let log = |number: u32| (number as f32).ln_1p();
        let begin = row.len();
        let cut = self.cuts[block.node.index()];
        let inside = self.is_inside(tree, block);
        let whole = elements.sums[NodeId::DOCUMENT.index()];
        let [page, main] = self.left;
        row.extend([
            yes(cut.structure),
            yes(cut.never),
            yes(cut.around),
            yes(inside),
            yes(inside && !cut.structure && !cut.never),
            yes(inside && !cut.structure && !cut.around),
            yes(self.main != NodeId::DOCUMENT),
            log(main.words),
            log(main.blocks),
            main.link_density(),
            ratio(main.long_chars, main.chars),
            ratio(main.chars, whole.chars),
            ratio(main.chars, page.chars),
            ratio(main.words, main.blocks),
            log(self.money[1]),
            ratio(self.money[1], main.blocks),
            page.link_density(),
            ratio(page.long_chars, page.chars),
            log(self.largest),
            ratio(self.largest, main.words).min(2.0),
        ]);
        let (number, member) = self.crowds[block.node.index()];
        let crowd = self.all[number as usize];
        if number == 0 || member == NodeId::NONE {
            row.extend([-1.0; 10]);
        } else {
            row.extend([
                log(crowd.members),
                log(crowd.words),
                ratio(crowd.words, crowd.members),
                ratio(crowd.links, crowd.chars),
                ratio(crowd.long, crowd.chars),
                ratio(crowd.money, crowd.members),
                ratio(crowd.headings, crowd.members),
                ratio(crowd.words, main.words).min(3.0),
                yes(crowd.words == self.largest),
                ratio(crowd.words, self.largest).min(3.0),
            ]);
        }
        debug_assert_eq!(row.len() - begin, WIDTH);
    }
}

/// Parts that are around the content by their nature.
fn frames(element: &Element) -> bool {
    matches!(
        element.tag,
        Tag::Nav | Tag::Header | Tag::Footer | Tag::Aside | Tag::Dialog | Tag::Form | Tag::Button
    ) || matches!(
        element.attribute("role"),
        Some(
            "navigation"
                | "contentinfo"
                | "complementary"
                | "dialog"
                | "alertdialog"
                | "search"
                | "banner"
                | "menu"
                | "menubar"
                | "toolbar"
        )
    )
}

/// The element that calls itself the main part: by its tag or role, or by its name.
fn main(tree: &DomTree, elements: &ElementTable) -> NodeId {
    let mut best = (NodeId::DOCUMENT, 0, 0_u8);
    for (index, node) in tree.nodes.iter().enumerate() {
        let NodeData::Element(element) = &node.data else { continue };
        let rank = if element.tag == Tag::Main || element.attribute("role") == Some("main") {
            2
        } else {
            u8::from(!matches!(element.tag, Tag::Body | Tag::Html) && says_content(element))
        };
        let chars = elements.sums[index].chars;
        if rank > 0 && chars >= 100 && (rank, chars) > (best.2, best.1) {
            best = (NodeId(u32::try_from(index).unwrap_or(u32::MAX)), chars, rank);
        }
    }
    best.0
}
