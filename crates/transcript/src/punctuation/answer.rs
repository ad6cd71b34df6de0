//! A model's answer while it arrives: it is given up as soon as it is longer than any right one.

use super::{prompt::PunctuationPrompt, wrapping};

/// Bytes that arrive between two checks of the length. Thoughts may be long, and each check reads them again.
const CHECK_BYTES: usize = 64;
/// The most that a model may think aloud about a chunk, in bytes.
const MAX_THOUGHT_BYTES: usize = 131_072;

/// A model's answer, or as much of it as has arrived.
pub struct PartialAnswer {
    text: String,
    max_bytes: usize,
    checked_bytes: usize,
    /// Bytes without the model's thoughts, as of the last check.
    answered_bytes: usize,
    is_too_long: bool,
}

impl PartialAnswer {
    /// An empty answer to a prompt.
    pub fn new(prompt: &PunctuationPrompt) -> Self {
        Self {
            text: String::new(),
            max_bytes: prompt.max_answer_bytes,
            checked_bytes: 0,
            answered_bytes: 0,
            is_too_long: false,
        }
    }

    /// Adds what has arrived. Returns false once the answer is too long: the rest need not be read.
    pub fn push(&mut self, more: &str) -> bool {
        self.text.push_str(more);
        if self.text.len() >= self.checked_bytes + CHECK_BYTES || self.text.len() > self.max_bytes {
            self.checked_bytes = self.text.len();
            self.answered_bytes = wrapping::without_thoughts(&self.text).len();
            self.is_too_long = self.answered_bytes > self.max_bytes
                || self.text.len() > self.max_bytes + MAX_THOUGHT_BYTES;
        }
        !self.is_too_long
    }

    /// Bytes that have arrived, the model's thoughts aside.
    pub fn answered_bytes(&self) -> usize {
        self.answered_bytes
    }

    /// The text, unless it is too long.
    pub(super) fn text(&self) -> Option<&str> {
        (!self.is_too_long).then_some(&self.text)
    }
}
