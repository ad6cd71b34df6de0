//! Scores the blocks of a page: how sure it is that each belongs to the content.
//!
//! Judged twice: each block by itself, and then again with what was thought of its neighbours,
//! of the elements around it and of all blocks that are made like it.

use std::sync::LazyLock;

use crate::{blocks::PageBlocks, dom::DomTree, features::FeatureRows, tree_model::TreeModel};

static FIRST: LazyLock<Option<TreeModel>> =
    LazyLock::new(|| TreeModel::read(include_bytes!("../model/first.bin")));
static SECOND: LazyLock<Option<TreeModel>> =
    LazyLock::new(|| TreeModel::read(include_bytes!("../model/second.bin")));

/// The elements around a block that are looked at, of those that hold more than the one before.
const AROUND: usize = 7;
/// The lowest and the highest surety that may be asked for.
const LIMITS: (f32, f32) = (0.15, 0.6);

/// The weight of the first score beside the second.
const FIRST_SHARE: f32 = 0.3;

/// The rows that are put together at once for the second score.
const BATCH: usize = 512;

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

pub(crate) fn score(tree: &DomTree, blocks: &PageBlocks, rows: &FeatureRows) -> BlockScores {
    let list = &blocks.list;
    let weights = weights(blocks);
    let (Some(first), Some(second)) = (&*FIRST, &*SECOND) else {
        return BlockScores { sureties: vec![1.0; list.len()], enough: 0.5 };
    };
    if rows.width != first.width() {
        return BlockScores { sureties: vec![1.0; list.len()], enough: 0.5 };
    }
    let alone = first.score((0..list.len()).map(|index| rows.row(index)));
    let context = context(tree, blocks, rows, &weights, &alone);
    let width = rows.width + context.first().map_or(0, Vec::len);
    let mut sureties = Vec::with_capacity(list.len());
    if width == second.width() {
        let mut whole = Vec::new();
        for (batch, around) in context.chunks(BATCH).enumerate() {
            whole.clear();
            for (place, around) in around.iter().enumerate() {
                whole.extend_from_slice(rows.row(batch * BATCH + place));
                whole.extend_from_slice(around);
            }
            sureties.extend(second.score(whole.chunks_exact(width)));
        }
        for (surety, alone) in sureties.iter_mut().zip(alone) {
            *surety = FIRST_SHARE * alone + (1.0 - FIRST_SHARE) * *surety;
        }
    } else {
        sureties = alone;
    }
    let enough = enough(&sureties, &weights);
    BlockScores { sureties, enough }
}

/// The number of words, as those count who compare texts.
fn tokens(text: &str) -> usize {
    text.split(|one: char| !(one.is_alphanumeric() || one == '_'))
        .filter(|word| !word.is_empty())
        .count()
}

/// The surety from which on blocks are kept, so that what is kept is most likely to be what
/// was meant: what is found and what is right in one number.
fn enough(sureties: &[f32], weights: &[f32]) -> f32 {
    let mut order: Vec<usize> = (0..sureties.len()).collect();
    order.sort_by(|one, other| sureties[*other].total_cmp(&sureties[*one]));
    let expected: f32 = sureties.iter().zip(weights).map(|(surety, weight)| surety * weight).sum();
    let (mut kept, mut right, mut best, mut enough) = (0.0, 0.0, -1.0, 0.5);
    for index in order {
        kept += weights[index];
        right += weights[index] * sureties[index];
        let score = 2.0 * right / (kept + expected);
        if score > best {
            (best, enough) = (score, sureties[index]);
        }
    }
    enough.clamp(LIMITS.0, LIMITS.1)
}

/// The first scores around a block.
fn context(
    tree: &DomTree,
    blocks: &PageBlocks,
    rows: &FeatureRows,
    weights: &[f32],
    alone: &[f32],
) -> Vec<Vec<f32>> {
    let count = alone.len();
    let list = &blocks.list;
    let mut sums = vec![0.0_f32; count + 1];
    let mut totals = vec![0.0_f32; count + 1];
    for index in 0..count {
        sums[index + 1] = sums[index] + alone[index] * weights[index];
        totals[index + 1] = totals[index] + weights[index];
    }
    let between =
        |from: usize, to: usize| (sums[to] - sums[from]) / (totals[to] - totals[from]).max(1.0);
    // Everything that is thought of an element is thought of all that it holds.
    let mut elements = vec![(0.0_f32, 0.0_f32); tree.nodes.len()];
    for (index, block) in list.iter().enumerate() {
        for id in std::iter::once(block.node).chain(tree.ancestors(block.node)) {
            let entry = &mut elements[id.index()];
            entry.0 += alone[index] * weights[index];
            entry.1 += weights[index];
        }
    }
    let groups = [&rows.patterns.fine, &rows.patterns.coarse].map(|kind| {
        let mut groups = vec![(0.0_f32, 0.0_f32, 0_u32); kind.groups.len()];
        for index in 0..count {
            let group = &mut groups[kind.of[index] as usize];
            group.0 += alone[index] * weights[index];
            group.1 += weights[index];
            group.2 += 1;
        }
        groups
    });
    let large = |index: &usize| alone[*index] > 0.5 && weights[*index] >= 8.0;
    let begin = (0..count).find(large).unwrap_or(0);
    let end = (0..count).rev().find(large).unwrap_or(count);
    let highest = alone.iter().copied().fold(0.0, f32::max);
    let (total, sum) = (totals[count], sums[count]);
    let certain: f32 =
        (0..count).filter(|index| alone[*index] > 0.5).map(|index| weights[index]).sum();
    let doubt: f32 =
        (0..count).map(|index| weights[index] * alone[index].min(1.0 - alone[index])).sum();
    (0..count)
        .map(|index| {
            let own = (alone[index] * weights[index], weights[index]);
            let mut row = vec![alone[index]];
            for reach in [1, 3, 8, 20] {
                row.push(between(index.saturating_sub(reach), index));
                row.push(between(index + 1, (index + reach + 1).min(count)));
            }
            let (mut levels, mut held) = (0, own.1);
            for id in std::iter::once(list[index].node).chain(tree.ancestors(list[index].node)) {
                let (sum, total) = elements[id.index()];
                if total > held + 1e-3 {
                    row.push((sum - own.0) / (total - own.1).max(1.0));
                    row.push(total.ln_1p());
                    held = total;
                    levels += 1;
                    if levels == AROUND {
                        break;
                    }
                }
            }
            row.extend(std::iter::repeat_n(-1.0, 2 * (AROUND - levels)));
            for (groups, kind) in groups.iter().zip([&rows.patterns.fine, &rows.patterns.coarse]) {
                let (sum, total, members) = groups[kind.of[index] as usize];
                row.push((sum - own.0) / (total - own.1).max(1.0));
                row.push(members as f32);
            }
            row.extend([
                sum / total,
                highest,
                (index as f32 - begin as f32).clamp(-100.0, 100.0),
                (index as f32 - end as f32).clamp(-100.0, 100.0),
                sums[index] / sum.max(1e-9),
                certain / total,
                doubt / total,
            ]);
            row
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{FIRST, SECOND, context};

    #[test]
    fn the_models_fit_what_they_are_asked() {
        let tree = crate::dom::parse("<h1>Title</h1><p>Some text.</p>");
        let blocks = crate::blocks::cut(&tree);
        let head = crate::head::read(&tree);
        let rows = crate::features::of(&tree, &blocks, &head, None);
        let (first, second) = (FIRST.as_ref().unwrap(), SECOND.as_ref().unwrap());
        assert_eq!(rows.width, first.width());
        let around = context(&tree, &blocks, &rows, &[1.0, 2.0], &[0.5, 0.5]);
        assert_eq!(rows.width + around[0].len(), second.width());
    }
}
