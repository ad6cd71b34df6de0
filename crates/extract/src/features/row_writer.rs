//! The row of a block, number by number.

use super::{
    BlockSurroundings, FAR, LEVELS, PrecedingBlocks, element_names,
    elements::{ElementTable, ratio},
    outline::PageOutline,
    page_features::{self, PageFeatures},
    patterns::BlockPatterns,
    phrases,
    roots::{self, ContentRoots},
    tags,
    text_stats::TextStats,
};
use crate::{
    blocks::{PageBlock, PageBlocks},
    dom::{DomTree, NodeId, Tag},
};

/// Writes the rows of a page.
pub(super) struct RowWriter<'a> {
    pub(super) tree: &'a DomTree,
    pub(super) blocks: &'a PageBlocks,
    pub(super) looks: &'a [TextStats],
    pub(super) phrases: &'a [u64],
    pub(super) patterns: &'a BlockPatterns,
    pub(super) roots: &'a ContentRoots,
    pub(super) outline: &'a PageOutline,
    pub(super) elements: &'a ElementTable,
    pub(super) page: &'a PageFeatures,
}

/// The elements between a block and an element above it.
struct PathBelow {
    levels: u32,
    /// The child of the element that the block is in.
    branch: NodeId,
    /// The groups of names on the way.
    against: u64,
    /// True if there is something on the way that holds no content by its nature.
    structure: bool,
}

fn yes(is: bool) -> f32 {
    if is { 1.0 } else { 0.0 }
}

fn log(number: u32) -> f32 {
    (number as f32).ln_1p()
}

impl RowWriter<'_> {
    pub(super) fn write(&self, index: usize, seen: &PrecedingBlocks, row: &mut Vec<f32>) {
        let block = &self.blocks.list[index];
        self.text(index, block, row);
        self.position(index, seen, row);
        self.above(block, row);
        self.levels(block, row);
        self.best(block, row);
        self.crowd(block, row);
        self.said(index, seen, row);
        self.pattern(index, row);
        self.rooted(block, row);
        self.beside(index, row);
        self.outline.write(self.tree, block, self.elements, row);
        row.extend_from_slice(&self.page.values);
    }

    /// The text itself.
    fn text(&self, index: usize, block: &PageBlock, row: &mut Vec<f32>) {
        let look = &self.looks[index];
        let tag = self.tree.tag(block.node);
        row.extend([
            log(block.chars),
            log(block.words),
            ratio(block.chars, block.words),
            ratio(block.link_chars, block.chars),
            log(block.links),
            ratio(block.bold_chars, block.chars),
            ratio(block.code_chars, block.chars),
            ratio(block.button_chars, block.chars),
            ratio(block.label_chars, block.chars),
            yes(block.time),
            yes(block.is_row),
            log(self.blocks.copies[index]),
            ratio(look.upper, look.letters),
            ratio(look.digits, block.chars),
            ratio(look.commas, block.words),
            log(look.sentences),
            ratio(look.others, block.chars),
            ratio(look.long_words, block.words),
            ratio(look.short_words, block.words),
            ratio(look.wide, block.chars),
            ratio(look.capitalised, block.words),
            yes(look.ends_sentence),
            yes(look.ends_colon),
            yes(look.starts_lower),
            yes(look.has_pipe),
            yes(look.has_copyright),
            yes(look.has_money),
            yes(look.has_at),
            yes(look.has_arrow),
            yes(look.has_year),
            yes(look.has_clock),
            yes(look.has_question),
            yes(look.has_quote),
            yes(look.has_ellipsis_end),
            f32::from(tag.heading()),
            f32::from(tags::kind(tag)),
        ]);
        let (mut count, mut in_title, mut in_description) = (0_u32, 0_u32, 0_u32);
        for mark in page_features::marks(&block.text).take(60) {
            count += 1;
            in_title += u32::from(self.page.title.binary_search(&mark).is_ok());
            in_description += u32::from(self.page.description.binary_search(&mark).is_ok());
        }
        row.extend([
            ratio(in_title, count),
            ratio(in_title, u32::try_from(self.page.title.len()).unwrap_or(0)).min(1.0),
            ratio(in_description, count),
            ratio(in_description, u32::try_from(self.page.description.len()).unwrap_or(0)).min(1.0),
        ]);
    }

    /// Its position on the page.
    fn position(&self, index: usize, seen: &PrecedingBlocks, row: &mut Vec<f32>) {
        let count = self.blocks.list.len();
        let from =
            |place: Option<usize>| place.map_or(-1_000.0, |place| index as f32 - place as f32);
        row.extend([
            index as f32 / count as f32,
            log(u32::try_from(index).unwrap_or(u32::MAX)),
            log(u32::try_from(count - index).unwrap_or(u32::MAX)),
            ratio(seen.chars, self.page.chars),
            ratio(seen.long_chars, self.page.long_chars),
            from(self.page.first_long).clamp(-100.0, 100.0),
            from(self.page.last_long).clamp(-100.0, 100.0),
            from(self.page.heading).clamp(-100.0, 100.0),
        ]);
    }

    pub(super) fn apart(&self, block: &PageBlock) -> BlockSurroundings {
        let mut apart = BlockSurroundings::default();
        for id in std::iter::once(block.node).chain(self.tree.ancestors(block.node)).take(FAR) {
            let Some(element) = self.tree.element(id) else { continue };
            apart.margin |= tags::is_margin(element);
            if !matches!(element.tag, Tag::Body | Tag::Html)
                && self.elements.names[id.index()] & element_names::COMMENTS != 0
            {
                apart.comments = Some(self.tree.node(id).parent);
            }
        }
        apart
    }

    /// In what it stands, by tag, role and name: how near the nearest of each kind is.
    fn above(&self, block: &PageBlock, row: &mut Vec<f32>) {
        let mut tags = [0.0_f32; 25];
        let mut names = [0.0_f32; element_names::GROUPS];
        let chain = std::iter::once(block.node).chain(self.tree.ancestors(block.node));
        for (level, id) in chain.take(FAR).enumerate() {
            let Some(element) = self.tree.element(id) else { continue };
            let near = (FAR - level) as f32;
            if tags[24] == 0.0 && element.attribute("aria-hidden") == Some("true") {
                tags[24] = near;
            }
            if let Some(place) = tags::context(element)
                && tags[place] == 0.0
            {
                tags[place] = near;
            }
            if element.tag == Tag::Body || element.tag == Tag::Html {
                continue;
            }
            let mut bits = self.elements.names[id.index()];
            while bits != 0 {
                let group = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if names[group] == 0.0 {
                    names[group] = near;
                }
            }
        }
        row.push(self.tree.node(block.node).depth as f32);
        row.extend(tags);
        row.extend(names);
    }

    /// The elements that hold it, one by one.
    fn levels(&self, block: &PageBlock, row: &mut Vec<f32>) {
        let mut chain = std::iter::once(block.node).chain(self.tree.ancestors(block.node));
        for _ in 0..LEVELS {
            let Some(id) = chain.next() else {
                row.extend([-1.0; 11]);
                continue;
            };
            let (sums, place) = (self.elements.sums[id.index()], self.elements.places[id.index()]);
            row.extend([
                log(sums.chars),
                sums.link_density(),
                log(sums.blocks),
                ratio(sums.chars, self.page.chars),
                ratio(sums.words, sums.blocks),
                ratio(sums.long_chars, sums.chars),
                ratio(sums.long_chars, self.page.long_chars),
                ratio(sums.headings, sums.blocks),
                ratio(place.index, place.siblings),
                log(place.siblings),
                log(place.alike),
            ]);
        }
    }

    /// Its position relative to the element that holds the running text.
    fn best(&self, block: &PageBlock, row: &mut Vec<f32>) {
        let best = self.elements.best;
        if best == NodeId::NONE {
            row.extend([-1.0; 5]);
            return;
        }
        // How far up both meet.
        let (mut one, mut other) = (block.node, best);
        let (mut from_block, mut from_best) = (0_u32, 0_u32);
        while one != other {
            let (a, b) = (self.tree.node(one).depth, self.tree.node(other).depth);
            if a >= b {
                one = self.tree.node(one).parent;
                from_block += 1;
            }
            if b >= a {
                other = self.tree.node(other).parent;
                from_best += 1;
            }
            if one == NodeId::NONE || other == NodeId::NONE {
                break;
            }
        }
        let sums = self.elements.sums[best.index()];
        row.extend([
            from_block as f32,
            from_best as f32,
            self.elements.scores[block.node.index()] / self.elements.scores[best.index()].max(1.0),
            ratio(sums.chars, self.page.chars),
            sums.link_density(),
        ]);
    }

    /// The nearest element above it that stands among others like it: a card, a posting, a row.
    fn crowd(&self, block: &PageBlock, row: &mut Vec<f32>) {
        let mut chain = std::iter::once(block.node).chain(self.tree.ancestors(block.node));
        let found = chain.by_ref().take(FAR).enumerate().find(|(_, id)| {
            self.elements.places[id.index()].alike >= 3
                && !matches!(self.tree.tag(*id), Tag::P | Tag::Br | Tag::Span | Tag::A)
        });
        let Some((level, id)) = found else {
            row.extend([-1.0; 11]);
            return;
        };
        let parent = self.tree.node(id).parent;
        let (own, place) = (self.elements.sums[id.index()], self.elements.places[id.index()]);
        let all = if parent.is_some() { self.elements.sums[parent.index()] } else { own };
        row.extend([
            level as f32,
            log(place.alike),
            log(own.words),
            own.link_density(),
            log(own.blocks),
            log(all.words),
            all.link_density(),
            ratio(all.chars, self.page.chars),
            ratio(all.long_chars, all.chars),
            ratio(all.words, place.alike),
            ratio(all.long_chars, self.page.long_chars),
        ]);
    }

    /// The phrases in it and in the heading above it.
    fn said(&self, index: usize, seen: &PrecedingBlocks, row: &mut Vec<f32>) {
        let bits = self.phrases[index];
        row.extend((0..phrases::GROUPS).map(|group| yes(bits & 1 << group != 0)));
        let (place, level, bits) = seen.heading.unwrap_or((0, 0, 0));
        row.extend([(index - place) as f32, f32::from(level)]);
        row.extend(phrases::OF_HEADINGS.map(|group| yes(bits & 1 << group != 0)));
        let since = |place: Option<usize>| place.map_or(-1.0, |place| (index - place) as f32);
        row.extend([since(seen.comments), since(seen.related)]);
        for offset in [-1_isize, 1] {
            let beside = index.checked_add_signed(offset).and_then(|at| self.phrases.get(at));
            let bits = beside.copied().unwrap_or(0);
            row.push(bits.count_ones() as f32);
        }
    }

    /// Its position relative to the elements that seem to hold all of the content.
    fn rooted(&self, block: &PageBlock, row: &mut Vec<f32>) {
        let mut first_inside = None;
        for (place, root) in self.roots.all.into_iter().enumerate() {
            if root == NodeId::NONE {
                row.extend([-1.0; 9]);
                continue;
            }
            let below = self.below(block, root);
            if first_inside.is_none() && below.is_some() {
                first_inside = Some(place);
            }
            let sums = self.elements.sums[root.index()];
            row.extend([
                ratio(sums.chars, self.page.chars),
                ratio(sums.long_chars, self.page.long_chars),
            ]);
            match below {
                None => row.extend([-1.0; 7]),
                Some(below) => {
                    let branch = self.elements.sums[below.branch.index()];
                    let place = self.elements.places[below.branch.index()];
                    row.extend([
                        below.levels as f32,
                        below.against.count_ones() as f32,
                        branch.link_density(),
                        log(branch.words),
                        ratio(branch.long_chars, branch.chars),
                        ratio(place.index, place.siblings),
                        yes(below.structure),
                    ]);
                }
            }
        }
        let inside = first_inside.map(|place| self.roots.all[place]);
        let bits = inside.and_then(|root| self.below(block, root)).map_or(0, |below| below.against);
        row.push(first_inside.map_or(-1.0, |place| place as f32));
        row.extend(roots::AGAINST.map(|group| yes(bits & 1 << group != 0)));
    }

    /// The elements between a block and an element above it.
    fn below(&self, block: &PageBlock, root: NodeId) -> Option<PathBelow> {
        let mut below = PathBelow { levels: 0, branch: block.node, against: 0, structure: false };
        let chain = std::iter::once(block.node).chain(self.tree.ancestors(block.node));
        for id in chain {
            if id == root {
                let mask = roots::AGAINST.iter().fold(0, |mask, group| mask | 1 << group);
                below.against &= mask;
                return Some(below);
            }
            below.levels += 1;
            below.branch = id;
            below.against |= self.elements.names[id.index()];
            below.structure |= matches!(
                self.tree.tag(id),
                Tag::Nav | Tag::Header | Tag::Footer | Tag::Aside | Tag::Form | Tag::Button
            );
        }
        None
    }

    /// All blocks of the page that are made like it.
    fn pattern(&self, index: usize, row: &mut Vec<f32>) {
        for kind in [&self.patterns.fine, &self.patterns.coarse] {
            let group = &kind.groups[kind.of[index] as usize];
            row.extend([
                log(group.count),
                ratio(group.words, group.count),
                ratio(group.link_chars, group.chars),
                ratio(group.chars, self.page.chars),
                ratio(group.sentences, group.count),
                (index - group.first as usize) as f32 / self.blocks.list.len() as f32,
            ]);
        }
    }

    /// Its neighbours.
    fn beside(&self, index: usize, row: &mut Vec<f32>) {
        let list = &self.blocks.list;
        for offset in [-3_isize, -2, -1, 1, 2, 3] {
            match index.checked_add_signed(offset).and_then(|at| list.get(at)) {
                Some(block) => row.extend([
                    log(block.words),
                    ratio(block.link_chars, block.chars),
                    f32::from(self.tree.tag(block.node).heading()),
                    f32::from(tags::kind(self.tree.tag(block.node))),
                    yes(block.node == list[index].node),
                ]),
                None => row.extend([-1.0; 5]),
            }
        }
        for reach in [4, 10] {
            for around in [
                &list[index.saturating_sub(reach)..index],
                &list[(index + 1).min(list.len())..(index + 1 + reach).min(list.len())],
            ] {
                let (mut chars, mut words, mut links, mut long) = (0, 0, 0, 0);
                for block in around {
                    chars += block.chars;
                    words += block.words;
                    links += block.link_chars;
                    long += u32::from(block.is_long());
                }
                let count = u32::try_from(around.len()).unwrap_or(0);
                row.extend([ratio(words, count), ratio(links, chars), ratio(long, count)]);
            }
        }
    }
}
