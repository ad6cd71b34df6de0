//! Features of a page as a whole.

use url::Url;

use super::{
    elements::{ElementTable, ratio},
    text_stats::TextStats,
};
use crate::{
    blocks::PageBlock,
    dom::{DomTree, NodeId, Tag, WalkStep},
    head::HeadMetadata,
};

pub(super) struct PageFeatures {
    pub(super) values: Vec<f32>,
    /// The words of the title and of the description, as marks, in order.
    pub(super) title: Vec<u64>,
    pub(super) description: Vec<u64>,
    pub(super) chars: u32,
    pub(super) long_chars: u32,
    /// The first and the last block of running text, and the first large heading.
    pub(super) first_long: Option<usize>,
    pub(super) last_long: Option<usize>,
    pub(super) heading: Option<usize>,
}

/// The words of a text, small.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|one: char| !one.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// The words of a text as numbers, the same whether they are written large or small: to compare many
/// words without keeping one.
pub(super) fn marks(text: &str) -> impl Iterator<Item = u64> {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const STEP: u64 = 0x0100_0000_01b3;
    text.split(|one: char| !one.is_alphanumeric()).filter(|word| !word.is_empty()).map(|word| {
        word.chars()
            .flat_map(char::to_lowercase)
            .fold(START, |mark, one| (mark ^ u64::from(u32::from(one))).wrapping_mul(STEP))
    })
}

fn in_order(marks: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut marks: Vec<_> = marks.collect();
    marks.sort_unstable();
    marks.dedup();
    marks
}

pub(super) fn look(
    tree: &DomTree,
    blocks: &[PageBlock],
    looks: &[TextStats],
    elements: &ElementTable,
    head: &HeadMetadata,
    url: Option<&Url>,
) -> PageFeatures {
    let all = elements.sums[NodeId::DOCUMENT.index()];
    let heading = blocks.iter().position(|block| tree.tag(block.node) == Tag::H1);
    let mut values = vec![
        (all.blocks as f32).ln_1p(),
        (all.words as f32).ln_1p(),
        all.link_density(),
        ratio(all.long_chars, all.chars),
        (all.long as f32).ln_1p(),
        ratio(all.paragraphs, all.blocks),
        ratio(all.items, all.blocks),
        ratio(all.headings, all.blocks),
        ratio(all.sentences, all.words),
        heading.map_or(-1.0, |at| at as f32 / blocks.len() as f32),
        ratio(
            u32::try_from(looks.iter().filter(|look| look.has_money).count()).unwrap_or(0),
            all.blocks,
        ),
        ratio(
            u32::try_from(looks.iter().filter(|look| look.has_clock).count()).unwrap_or(0),
            all.blocks,
        ),
    ];
    values.extend(counts(tree, elements));
    values.extend(shares(tree, blocks, elements));
    values.extend(head.kinds());
    values.extend(super::address::look(url));
    PageFeatures {
        values,
        title: in_order(head.titles.iter().flat_map(|title| marks(title))),
        description: in_order(head.description.iter().flat_map(|text| marks(text))),
        chars: all.chars,
        long_chars: all.long_chars,
        first_long: blocks.iter().position(PageBlock::is_long),
        last_long: blocks.iter().rposition(PageBlock::is_long),
        heading,
    }
}

/// The kind of page that it says it is.
pub(super) fn nature(head: &HeadMetadata, url: Option<&Url>) -> super::PageNature {
    let kinds = head.kinds();
    let (year, forum) = super::address::says(url);
    super::PageNature {
        article: kinds[0] > 0.0 || kinds[3] > 0.0 || year,
        forum: kinds[6] > 0.0 || forum,
    }
}

/// The number of elements of some kinds, and how regular the page is.
fn counts(tree: &DomTree, elements: &ElementTable) -> [f32; 10] {
    let (mut articles, mut mains, mut forms, mut tables, mut times) =
        (0_u32, 0_u32, 0_u32, 0_u32, 0_u32);
    let (mut codes, mut images) = (0_u32, 0_u32);
    // The largest crowd of elements that look alike and hold running text.
    let (mut crowd, mut crowd_chars) = (0_u32, 0_u32);
    let mut best_article = 0_u32;
    tree.walk(NodeId::DOCUMENT, |step| {
        let WalkStep::Enter(id) = step else { return true };
        let Some(element) = tree.element(id) else { return true };
        match element.tag {
            Tag::Article => {
                articles += 1;
                best_article = best_article.max(elements.sums[id.index()].chars);
            }
            Tag::Main => mains += 1,
            Tag::Form => forms += 1,
            Tag::Table => tables += 1,
            Tag::Time => times += 1,
            Tag::Pre | Tag::Code => codes += 1,
            Tag::Img => images += 1,
            tag if tag.is_never_shown() => return false,
            _ => {}
        }
        let (place, sums) = (elements.places[id.index()], elements.sums[id.index()]);
        if place.alike >= 3 && sums.long > 0 && !matches!(element.tag, Tag::P | Tag::Li) {
            crowd = crowd.max(place.alike);
            crowd_chars += sums.long_chars;
        }
        true
    });
    let all = elements.sums[NodeId::DOCUMENT.index()];
    [
        (articles as f32).ln_1p(),
        (mains as f32).min(2.0),
        (forms as f32).ln_1p(),
        (tables as f32).ln_1p(),
        (times as f32).ln_1p(),
        (codes as f32).ln_1p(),
        (images as f32).ln_1p(),
        (crowd as f32).ln_1p(),
        (ratio(crowd_chars, all.long_chars)).min(5.0),
        ratio(best_article, all.chars),
    ]
}

/// The share of the running text in elements with certain names, and in none
/// of many that look alike.
fn shares(tree: &DomTree, blocks: &[PageBlock], elements: &ElementTable) -> [f32; 8] {
    let (mut named, mut alone, mut all) = ([0_u32; 5], 0_u32, 0_u32);
    let (mut in_main, mut in_article) = (0_u32, 0_u32);
    for block in blocks.iter().filter(|block| block.is_long()) {
        let (mut bits, mut crowded) = (0_u64, false);
        let (mut main, mut article) = (false, false);
        for id in std::iter::once(block.node).chain(tree.ancestors(block.node)).take(super::FAR) {
            let tag = tree.tag(id);
            if matches!(tag, Tag::Body | Tag::Html) {
                break;
            }
            bits |= elements.names[id.index()];
            crowded |= elements.places[id.index()].alike >= 3
                && !matches!(tag, Tag::P | Tag::Br | Tag::Span | Tag::A);
            main |= tag == Tag::Main;
            article |= tag == Tag::Article;
        }
        for (sum, group) in named.iter_mut().zip([5, 6, 13, 33, 41]) {
            *sum += if bits & 1 << group == 0 { 0 } else { block.chars };
        }
        alone += if crowded { 0 } else { block.chars };
        in_main += if main { block.chars } else { 0 };
        in_article += if article { block.chars } else { 0 };
        all += block.chars;
    }
    let [a, b, c, d, _] = named.map(|chars| ratio(chars, all));
    [
        a,
        b,
        c,
        d,
        (alone as f32).ln_1p(),
        ratio(alone, all),
        ratio(in_main, all),
        ratio(in_article, all),
    ]
}
