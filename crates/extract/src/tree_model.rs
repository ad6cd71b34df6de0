//! Decision trees that were learned from pages whose content people had marked.
//!
//! A file holds, little-endian: the number of inputs, the number of trees, and of each tree the
//! number of its questions and then, question by question, which input is compared with what and
//! where to go on; and last what its leaves say.
//!
//! The trees are not walked: which way they branch is hard to foretell, and a processor that guesses
//! wrong loses more time than the questions take. Instead the questions of all trees stand
//! sorted by what they ask. Of those about one input, the ones with a limit below it are answered
//! with "more", each of which rules out the leaves on the other side; the first leaf of a tree that is
//! not ruled out is the one that a walk would have come to.

/// The most leaves that a tree has: a bit each.
const MAX_LEAVES: usize = 32;

/// Judges rows of numbers.
#[derive(Debug)]
pub(crate) struct TreeModel {
    width: usize,
    /// By input, and then by limit.
    questions: Vec<SplitNode>,
    /// The end of the splits of each input.
    ends: Vec<usize>,
    leaves: Vec<f32>,
    /// The start of the leaves of each tree.
    trees: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
struct SplitNode {
    limit: f32,
    /// The leaves that are left when the input is more than the limit.
    left: u32,
    tree: u16,
}

/// A question as it is in the file.
struct RawSplit {
    input: usize,
    limit: f32,
    /// The next question where the input is at most the limit, and where it is more; what is
    /// below zero is a leaf.
    low: i16,
    high: i16,
}

impl TreeModel {
    /// Reads a model; nothing where the file is none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut number = |count: usize| {
            let (head, tail) = rest.split_at_checked(count)?;
            rest = tail;
            Some(head.iter().rev().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte)))
        };
        let width = number(4)? as usize;
        let count = u16::try_from(number(4)?).ok()?;
        let (mut leaves, mut trees) = (Vec::new(), Vec::new());
        let mut asked: Vec<(usize, SplitNode)> = Vec::new();
        for tree in 0..count {
            let questions = (0..number(2)?)
                .map(|_| {
                    let input = number(2)? as usize;
                    let limit = f32::from_bits(number(4)?);
                    let mut side = || {
                        u16::try_from(number(2)?)
                            .ok()
                            .map(|bits| i16::from_le_bytes(bits.to_le_bytes()))
                    };
                    let (low, high) = (side()?, side()?);
                    (input < width).then_some(RawSplit { input, limit, low, high })
                })
                .collect::<Option<Vec<RawSplit>>>()?;
            if questions.len() >= MAX_LEAVES {
                return None;
            }
            for (place, raw) in questions.iter().enumerate() {
                let left = !below(&questions, place, raw.low)?;
                below(&questions, place, raw.high)?;
                asked.push((raw.input, SplitNode { limit: raw.limit, left, tree }));
            }
            trees.push(leaves.len());
            for _ in 0..=questions.len() {
                leaves.push(f32::from_bits(number(4)?));
            }
        }
        asked.sort_by(|(one, a), (other, b)| one.cmp(other).then(a.limit.total_cmp(&b.limit)));
        let ends = (0..width).map(|input| asked.partition_point(|(of, _)| *of <= input)).collect();
        let questions = asked.into_iter().map(|(_, question)| question).collect();
        Some(Self { width, questions, ends, leaves, trees })
    }

    /// The number of inputs of a row.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Scores each row from 0 to 1.
    pub(crate) fn score<'a>(&self, rows: impl Iterator<Item = &'a [f32]>) -> Vec<f32> {
        let mut left = vec![u32::MAX; self.trees.len()];
        rows.map(|row| {
            left.fill(u32::MAX);
            let mut begin = 0;
            for (value, end) in row.iter().zip(&self.ends) {
                for question in &self.questions[begin..*end] {
                    if *value <= question.limit {
                        break;
                    }
                    left[usize::from(question.tree)] &= question.left;
                }
                begin = *end;
            }
            let sum: f32 = left
                .iter()
                .zip(&self.trees)
                .map(|(left, first)| self.leaves[first + left.trailing_zeros() as usize])
                .sum();
            1.0 / (1.0 + (-sum).exp())
        })
        .collect()
    }
}

/// The leaves that one can come to from a question; nothing where they are not in order, so that a
/// file cannot send anybody in circles.
fn below(questions: &[RawSplit], from: usize, next: i16) -> Option<u32> {
    match usize::try_from(next) {
        Err(_) => {
            let leaf = usize::from((!next).unsigned_abs());
            (leaf <= questions.len()).then(|| 1 << leaf)
        }
        Ok(place) if place > from => {
            let raw = questions.get(place)?;
            let (low, high) =
                (below(questions, place, raw.low)?, below(questions, place, raw.high)?);
            // Leaves stand from left to right.
            (low < high && low & high == 0).then_some(low | high)
        }
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::TreeModel;

    /// One tree: is input 0 at most 1? Then: is input 1 at most 2?
    fn file(low: [i16; 2], high: [i16; 2]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(2_u32.to_le_bytes());
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(2_u16.to_le_bytes());
        for (place, limit) in [1.0_f32, 2.0].into_iter().enumerate() {
            bytes.extend(u16::try_from(place).unwrap().to_le_bytes());
            bytes.extend(limit.to_le_bytes());
            bytes.extend(low[place].to_le_bytes());
            bytes.extend(high[place].to_le_bytes());
        }
        for leaf in [-9.0_f32, 0.0, 9.0] {
            bytes.extend(leaf.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn every_row_comes_to_its_leaf() {
        let model = TreeModel::read(&file([1, -1], [-3, -2])).unwrap();
        let rows: [[f32; 2]; 4] = [[1.0, 2.0], [1.0, 2.1], [1.1, 0.0], [9.0, 9.0]];
        let sure: Vec<String> = model
            .score(rows.iter().map(|row| &row[..]))
            .iter()
            .map(|sure| format!("{sure:.2}"))
            .collect();
        assert_eq!(sure, ["0.00", "0.50", "1.00", "1.00"]);
    }

    #[test]
    fn a_file_that_is_no_model_is_none() {
        let whole = file([1, -1], [-3, -2]);
        for end in 0..whole.len() {
            assert!(TreeModel::read(&whole[..end]).is_none(), "{end}");
        }
        assert!(TreeModel::read(&file([0, -1], [-3, -2])).is_none(), "in circles");
        assert!(TreeModel::read(&file([1, -1], [-4, -2])).is_none(), "no such leaf");
    }
}
