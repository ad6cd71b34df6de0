//! Punctuation by a language model that must not change the words.
//!
//! The rules come first. What they leave is cut into chunks (`chunks`), without the names of speakers and
//! without code blocks; [`Punctuator::next_prompt`] says what to ask about each chunk. This crate asks
//! nobody: the caller sends the prompt and hands the answer to [`Punctuator::accept`].
//!
//! An answer is freed of what models write around it (`wrapping`), its words are compared with those of the
//! chunk (`words`), and what is printed is the chunk itself with the answer's punctuation (`verify`).
//! Whatever a model answers, no word is added, changed or lost. An answer with other words is a
//! fallback: the chunk stays as the rules left it.

mod answer;
mod chunks;
mod counts;
mod prompt;
#[cfg(test)]
mod tests;
mod verify;
mod words;
mod wrapping;

pub use answer::PartialAnswer;
use chunks::{Chunk, Chunks};
pub use counts::ModelCounts;
pub use prompt::PunctuationPrompt;
pub use verify::FallbackReason;

use crate::CleanTranscript;

/// Chunks with fewer words need no model.
const MIN_WORDS: usize = 3;
/// Nor do chunks with fewer characters of a script without spaces.
const MIN_SPACELESS_CHARACTERS: usize = 6;

/// Adds a model's punctuation to a clean transcript, chunk by chunk.
pub struct Punctuator {
    transcript: CleanTranscript,
    /// All chunks in their order, those that need no model included.
    chunks: Vec<Chunk>,
    /// Index of the chunk behind the one that the model is asked about.
    next: usize,
    /// The text with punctuation, so far.
    out: String,
    /// Bytes of the transcript that `out` stands for.
    printed_bytes: usize,
    counts: ModelCounts,
}

impl Punctuator {
    /// Cuts a transcript into chunks of at most so many characters.
    pub fn new(transcript: CleanTranscript, max_chunk_characters: usize) -> Self {
        let text = &transcript.text;
        let turns = transcript.spoken.iter();
        let chunks =
            turns.flat_map(|turn| Chunks::new(text, turn.clone(), max_chunk_characters)).collect();
        let out = String::with_capacity(text.len() + text.len() / 16);
        let counts = ModelCounts::default();
        Self { chunks, next: 0, out, printed_bytes: 0, counts, transcript }
    }

    /// The prompt for the next chunk that needs punctuation. [`Self::accept`] takes its answer.
    pub fn next_prompt(&mut self) -> Option<PunctuationPrompt> {
        loop {
            let chunk = self.chunks.get(self.next)?;
            self.next += 1;
            let text = &self.transcript.text[chunk.range.clone()];
            if needs_punctuation(text) {
                return Some(PunctuationPrompt::new(text));
            }
        }
    }

    /// Takes the model's answer to the last prompt. `is_cut_off` says that the model reached its token limit.
    pub fn accept(&mut self, answer: &PartialAnswer, is_cut_off: bool) {
        let Some(chunk) = self.next.checked_sub(1).and_then(|last| self.chunks.get(last)) else {
            return;
        };
        let text = &self.transcript.text[chunk.range.clone()];
        let verdict = match answer.text() {
            Some(answer) => verify::verify(text, answer, is_cut_off, chunk.cut),
            None => Err(FallbackReason::TooLong),
        };
        self.out.push_str(&self.transcript.text[self.printed_bytes..chunk.range.start]);
        self.out.push_str(verdict.as_deref().unwrap_or(text));
        self.printed_bytes = chunk.range.end;
        self.counts.count(verdict.err());
    }

    /// The number of chunks that the model is asked about.
    pub fn prompts(&self) -> usize {
        let text = &self.transcript.text;
        self.chunks.iter().filter(|chunk| needs_punctuation(&text[chunk.range.clone()])).count()
    }

    /// The part of the text that is done, from 0 to 1, once so many bytes of the current answer have arrived.
    #[allow(clippy::cast_precision_loss, reason = "a transcript has few bytes")]
    pub fn fraction(&self, answered_bytes: usize) -> f64 {
        let bytes = |chunks: &[Chunk]| chunks.iter().map(|chunk| chunk.range.len()).sum::<usize>();
        let (before, current) = self.chunks[..self.next]
            .split_last()
            .map_or((0, 0), |(current, before)| (bytes(before), current.range.len()));
        (before + answered_bytes.min(current)) as f64 / bytes(&self.chunks).max(1) as f64
    }

    /// The transcript with punctuation, and what became of the answers.
    pub fn finish(mut self) -> (CleanTranscript, ModelCounts) {
        self.out.push_str(&self.transcript.text[self.printed_bytes..]);
        let mut counts = self.transcript.counts;
        counts.words = self.out.split_whitespace().count();
        (CleanTranscript { text: self.out, counts, spoken: Vec::new() }, self.counts)
    }
}

/// True if a chunk has enough in it to put marks between.
fn needs_punctuation(text: &str) -> bool {
    let spaceless = || text.chars().filter(|one| words::is_spaceless(*one));
    text.split_whitespace().nth(MIN_WORDS - 1).is_some()
        || spaceless().nth(MIN_SPACELESS_CHARACTERS - 1).is_some()
}
