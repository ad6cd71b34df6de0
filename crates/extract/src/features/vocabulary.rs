//! The words of a page, of its text and of the names of its elements, as numbers: how much more or less of what each
//! stood with was content, on the pages that the models were learned from.
//!
//! The table holds no word, only a hash of each that many sites have.

use std::sync::LazyLock;

use super::tokens;
use crate::{
    blocks::PageBlock,
    dom::{DomTree, NodeId},
};

/// The number of features of a block.
pub(crate) const WIDTH: usize = LEVELS + 11;
/// The levels above a block, with its own, whose names count.
pub(crate) const LEVELS: usize = 7;

static TABLE: LazyLock<Option<Vocabulary>> =
    LazyLock::new(|| Vocabulary::read(include_bytes!("../../model/words.bin")));

/// The bits of a hash by which its place in the table is found.
const BUCKET_BITS: u32 = 12;

/// Hashes of words, in order, and what each says.
#[derive(Debug)]
struct Vocabulary {
    /// The start of each bucket, and the end of the last.
    starts: Vec<u32>,
    tokens: Vec<u32>,
    values: Vec<i8>,
}

impl Vocabulary {
    /// Reads a table: the number of words, their hashes, their values; nothing where it is none.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (count, rest) = bytes.split_first_chunk::<4>()?;
        let count = u32::from_le_bytes(*count) as usize;
        let (hashes, values) = rest.split_at_checked(count.checked_mul(4)?)?;
        let (hashes, _) = hashes.as_chunks::<4>();
        let tokens: Vec<u32> = hashes.iter().map(|hash| u32::from_le_bytes(*hash)).collect();
        if values.len() != count || !tokens.is_sorted() {
            return None;
        }
        let starts = (0..=1_u64 << BUCKET_BITS)
            .map(|bucket| {
                let first = bucket << (u32::BITS - BUCKET_BITS);
                u32::try_from(tokens.partition_point(|token| u64::from(*token) < first)).ok()
            })
            .collect::<Option<_>>()?;
        let values = values.iter().map(|value| value.cast_signed()).collect();
        Some(Self { starts, tokens, values })
    }

    fn value(&self, token: u32) -> Option<f32> {
        let bucket = (token >> (u32::BITS - BUCKET_BITS)) as usize;
        let (start, end) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        let place = self.tokens[start..end].iter().position(|one| *one == token)?;
        Some(f32::from(self.values[start + place]) / f32::from(i8::MAX))
    }

    fn sum(&self, tokens: impl Iterator<Item = u32>) -> TokenSum {
        let mut sum = TokenSum::default();
        for value in tokens.filter_map(|token| self.value(token)) {
            sum.add(TokenSum { sum: value, count: 1, low: value, high: value });
        }
        sum
    }
}

/// The values of some words.
#[derive(Debug, Clone, Copy, Default)]
struct TokenSum {
    sum: f32,
    count: u16,
    low: f32,
    high: f32,
}

impl TokenSum {
    fn add(&mut self, other: TokenSum) {
        if other.count == 0 {
            return;
        }
        let is_first = self.count == 0;
        self.low = if is_first { other.low } else { self.low.min(other.low) };
        self.high = if is_first { other.high } else { self.high.max(other.high) };
        self.sum += other.sum;
        self.count = self.count.saturating_add(other.count);
    }

    fn row(self) -> [f32; 4] {
        [self.sum, self.sum / f32::from(self.count.max(1)), self.low, self.high]
    }
}

/// The features of all blocks, `WIDTH` for each; nothing where there is no table.
pub(super) fn of(tree: &DomTree, list: &[PageBlock]) -> Option<Vec<f32>> {
    let table = TABLE.as_ref()?;
    let mut known: Vec<Option<TokenSum>> = vec![None; tree.nodes.len()];
    let mut values = Vec::with_capacity(list.len() * WIDTH);
    let mut heading = TokenSum::default();
    for block in list {
        let mut names = TokenSum::default();
        let chain = std::iter::once(block.node).chain(tree.ancestors(block.node));
        let start = values.len();
        for id in chain.take(LEVELS) {
            let own = *known[id.index()].get_or_insert_with(|| {
                let tokens = tree.element(id).map(tokens::of_element).unwrap_or_default();
                table.sum(tokens.into_iter())
            });
            values.push(own.sum);
            names.add(own);
        }
        values.resize(start + LEVELS, 0.0);
        let said = tokens::of_text(&block.text);
        values.extend([names.sum, names.low, names.high]);
        values.extend(table.sum(said.iter().copied()).row());
        values.extend(heading.row());
        if tree.tag(block.node).heading() > 0 {
            heading = table.sum(said.into_iter().map(tokens::in_heading));
        }
    }
    Some(values)
}

/// The tokens of the elements that hold blocks, for whoever makes the table.
pub(crate) fn names(tree: &DomTree, list: &[PageBlock]) -> Vec<(u32, Vec<u32>)> {
    let mut ids: Vec<NodeId> = list
        .iter()
        .flat_map(|block| {
            std::iter::once(block.node).chain(tree.ancestors(block.node)).take(LEVELS)
        })
        .collect();
    ids.sort_unstable_by_key(|id| id.0);
    ids.dedup();
    ids.into_iter().filter_map(|id| Some((id.0, tokens::of_element(tree.element(id)?)))).collect()
}

#[cfg(test)]
mod tests {
    use super::{TABLE, Vocabulary};

    fn file(tokens: &[u32], values: &[u8]) -> Vec<u8> {
        let mut bytes = u32::try_from(tokens.len()).unwrap().to_le_bytes().to_vec();
        bytes.extend(tokens.iter().flat_map(|token| token.to_le_bytes()));
        bytes.extend(values);
        bytes
    }

    #[test]
    fn values_are_found_by_hash() {
        let table = Vocabulary::read(&file(&[7, 9, u32::MAX], &[127, 0, 129])).unwrap();
        assert_eq!(table.value(7), Some(1.0));
        assert_eq!(table.value(8), None);
        assert_eq!(table.value(u32::MAX), Some(-1.0));
        assert!(TABLE.is_some());
    }

    #[test]
    fn a_file_that_is_no_table_is_none() {
        let whole = file(&[7, 9], &[1, 2]);
        for end in 0..whole.len() {
            assert!(Vocabulary::read(&whole[..end]).is_none(), "{end}");
        }
        assert!(Vocabulary::read(&file(&[9, 7], &[1, 2])).is_none(), "not in order");
    }
}
