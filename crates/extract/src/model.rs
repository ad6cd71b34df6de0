//! Decision trees that were learned from pages whose content people had marked.
//!
//! A file holds, little-endian: the number of inputs, the number of trees, and of each tree the
//! number of its questions and then, question by question, which input is compared with what and
//! where to go on; and last what its leaves say.

/// Judges rows of numbers.
#[derive(Debug)]
pub(crate) struct Model {
    width: usize,
    questions: Vec<Question>,
    leaves: Vec<f32>,
    trees: Vec<Tree>,
}

/// Where the questions and the leaves of a tree begin.
#[derive(Debug, Clone, Copy)]
struct Tree {
    questions: usize,
    leaves: usize,
    asks: bool,
}

#[derive(Debug, Clone, Copy)]
struct Question {
    limit: f32,
    input: u16,
    /// The next question where the input is at most the limit, and where it is more; what is
    /// below zero is a leaf.
    low: i16,
    high: i16,
}

impl Model {
    /// Reads a model; nothing where the file is none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut take = |count: usize| {
            let (head, tail) = rest.split_at_checked(count)?;
            rest = tail;
            Some(head)
        };
        let mut number = |count: usize| {
            take(count).map(|bytes| {
                bytes.iter().rev().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte))
            })
        };
        let width = number(4)? as usize;
        let count = number(4)?;
        let mut model =
            Self { width, questions: Vec::new(), leaves: Vec::new(), trees: Vec::new() };
        for _ in 0..count {
            let questions = number(2)?;
            model.trees.push(Tree {
                questions: model.questions.len(),
                leaves: model.leaves.len(),
                asks: questions > 0,
            });
            for _ in 0..questions {
                let input = u16::try_from(number(2)?).ok()?;
                let limit = f32::from_bits(number(4)?);
                let mut side = || {
                    let bits = u16::try_from(number(2)?).ok()?;
                    let next = i16::from_le_bytes(bits.to_le_bytes());
                    let fine = if next < 0 {
                        i32::from(next) >= -(i32::try_from(questions).ok()? + 1)
                    } else {
                        u32::from(next.unsigned_abs()) < questions
                    };
                    fine.then_some(next)
                };
                let (low, high) = (side()?, side()?);
                if usize::from(input) >= width {
                    return None;
                }
                model.questions.push(Question { limit, input, low, high });
            }
            for _ in 0..=questions {
                model.leaves.push(f32::from_bits(number(4)?));
            }
        }
        Some(model)
    }

    /// How many numbers a row has.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// How sure the model is of a row, from 0 to 1.
    pub(crate) fn judge(&self, row: &[f32]) -> f32 {
        let mut sum = 0.0_f32;
        for tree in &self.trees {
            // What is below zero is a leaf: the first where nothing is asked.
            let mut at = if tree.asks { 0_i16 } else { -1 };
            while at >= 0 {
                let question = &self.questions[tree.questions + usize::from(at.unsigned_abs())];
                let is_low = row[usize::from(question.input)] <= question.limit;
                at = if is_low { question.low } else { question.high };
            }
            sum += self.leaves[tree.leaves + usize::from((!at).unsigned_abs())];
        }
        1.0 / (1.0 + (-sum).exp())
    }
}
