//! Scores the blocks of a page: how sure it is that each belongs to the content.

use std::sync::LazyLock;

use crate::{blocks::PageBlocks, features::FeatureRows, tree_model::TreeModel};

static MODEL: LazyLock<Option<TreeModel>> =
    LazyLock::new(|| TreeModel::read(include_bytes!("../model/blocks.bin")));

/// The lowest surety that may be asked for, how many of them are tried, and how far each is from the next.
const LOWEST: f32 = 0.05;
const TRIED: u16 = 37;
const STEP: f32 = 0.025;
/// The number of ways that a page may be meant, from "only the surest" to "nearly everything".
const MEANINGS: u16 = 40;

/// The score of each block, and the score from which on it belongs.
pub(crate) struct BlockScores {
    pub(crate) sureties: Vec<f32>,
    pub(crate) enough: f32,
}

impl BlockScores {
    /// The scores with the limit that suits them best.
    pub(crate) fn of(blocks: &PageBlocks, sureties: Vec<f32>) -> Self {
        let enough = enough(&sureties, &weights(blocks));
        Self { sureties, enough }
    }
}

/// The number of words of each block.
fn weights(blocks: &PageBlocks) -> Vec<f32> {
    blocks.list.iter().map(|block| tokens(&block.text).max(1) as f32).collect()
}

pub(crate) fn score(blocks: &PageBlocks, rows: &FeatureRows) -> BlockScores {
    let count = blocks.list.len();
    match &*MODEL {
        Some(model) if model.width() == rows.width => {
            BlockScores::of(blocks, model.score((0..count).map(|index| rows.row(index))))
        }
        _ => BlockScores { sureties: vec![1.0; count], enough: 0.5 },
    }
}

/// The number of words, as those count who compare texts.
fn tokens(text: &str) -> usize {
    text.split(|one: char| !(one.is_alphanumeric() || one == '_'))
        .filter(|word| !word.is_empty())
        .count()
}

/// The surety from which on blocks are kept, so that what is kept is most likely to be what
/// was meant: what is found and what is right in one number.
///
/// Half of what is expected takes every block by itself. The other half takes the doubt to be one about the page:
/// cards that are half sure are content all together, or none is.
fn enough(sureties: &[f32], weights: &[f32]) -> f32 {
    let mut order: Vec<(f32, f32)> =
        sureties.iter().copied().zip(weights.iter().copied()).collect();
    order.sort_by(|one, other| other.0.total_cmp(&one.0));
    let sums: Vec<(f32, f32)> = std::iter::once((0.0, 0.0))
        .chain(order.iter().scan((0.0, 0.0), |(kept, right), (surety, weight)| {
            *kept += weight;
            *right += surety * weight;
            Some((*kept, *right))
        }))
        .collect();
    let from = |limit: f32| sums[order.partition_point(|(surety, _)| *surety >= limit)];
    let meant: Vec<f32> =
        (0..MEANINGS).map(|place| from((f32::from(place) + 0.5) / f32::from(MEANINGS)).0).collect();
    let expected = sums[order.len()].1;
    let (mut best, mut enough) = (-1.0, LOWEST);
    for place in 0..TRIED {
        let limit = LOWEST + f32::from(place) * STEP;
        let (kept, right) = from(limit);
        let alone = 2.0 * right / (kept + expected).max(1e-9);
        // Of two sets of the surest blocks the smaller is in the larger.
        let together = meant
            .iter()
            .map(|meant| 2.0 * kept.min(*meant) / (kept + meant).max(1e-9))
            .sum::<f32>()
            / f32::from(MEANINGS);
        if alone + together > best {
            (best, enough) = (alone + together, limit);
        }
    }
    enough
}

#[cfg(test)]
mod tests {
    use super::{MODEL, enough};

    #[test]
    fn the_model_fits_what_it_is_asked() {
        let tree = crate::dom::parse("<h1>Title</h1><p>Some text.</p>");
        let blocks = crate::blocks::cut(&tree);
        let head = crate::head::read(&tree);
        let rows = crate::features::of(&tree, &blocks, &head, None);
        assert_eq!(rows.width, MODEL.as_ref().unwrap().width());
    }

    #[test]
    fn what_is_doubted_together_is_kept_or_dropped_together() {
        let page = |cards: f32| {
            let sureties: Vec<f32> =
                [0.9, 0.9].into_iter().chain([cards; 20]).chain([0.01; 9]).collect();
            enough(&sureties, &[10.0; 31])
        };
        assert!(page(0.3) > 0.3 && page(0.6) <= 0.6, "{} {}", page(0.3), page(0.6));
    }
}
