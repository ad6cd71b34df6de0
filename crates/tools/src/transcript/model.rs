//! Punctuation by a language model that may not change the words.
//!
//! The rules come first, and what they leave goes to the model piece by piece (`chunks`), without the names of
//! speakers and without code blocks. An answer is freed of what models say around it (`reply`), its words are held against
//! those of the piece (`words`), and what is printed is the piece itself with the answer's punctuation (`judge`): whatever a
//! model answers, no word is added, changed or lost. Where an answer has other words, the piece stays as the rules left it.

mod chunks;
mod counts;
mod judge;
mod prompt;
mod reply;
#[cfg(test)]
mod tests;
mod words;

use llm::{Error, Finish, Model};
use tokio_util::sync::CancellationToken;

use self::{
    chunks::{Chunk, Chunks},
    judge::{Edges, Reason, judge},
};
use super::Cleaned;

pub use counts::ModelCounts;

/// Fewer words need no model.
const LEAST_WORDS: usize = 3;
/// Nor do fewer characters of a script without spaces.
const LEAST_CHARACTERS: usize = 6;
/// How much of an answer comes between two looks at it, in bytes.
const LOOK_BYTES: usize = 64;
/// How much a model may think aloud about a piece, in bytes.
const MAX_THOUGHT_BYTES: usize = 131_072;
/// How far a call must have come to be worth telling, as a part of the whole.
const STEP: f64 = 0.01;

/// Asks a model.
pub(crate) struct Punctuation<'a> {
    /// Who is asked.
    pub model: &'a Model,
    /// The longest piece that is sent, in characters.
    pub max_chunk_characters: usize,
    /// Fires when nobody waits any more.
    pub stop: &'a CancellationToken,
    /// Told how far it has come, from 0 to 1.
    pub progress: &'a (dyn Fn(f64, &str) + Sync),
}

impl Punctuation<'_> {
    /// Adds punctuation to a text that the rules have cleaned. The first failure of the endpoint is the end.
    pub(crate) async fn add(&self, cleaned: Cleaned) -> Result<(Cleaned, ModelCounts), Error> {
        let text = &cleaned.text;
        let mut counts = ModelCounts::default();
        let mut track = Track::new(self, text, &cleaned);
        let mut out = String::with_capacity(text.len() + text.len() / 16);
        let mut printed = 0;
        for turn in &cleaned.said {
            for chunk in self.chunks(text, turn.clone()) {
                let piece = &text[chunk.place.clone()];
                out.push_str(&text[printed..chunk.place.start]);
                printed = chunk.place.end;
                if !is_worth_it(piece) {
                    out.push_str(piece);
                    track.passed(piece.len());
                    continue;
                }
                track.begin();
                let edges =
                    Edges { begins_within: chunk.begins_within, ends_within: chunk.ends_within };
                let verdict = match self.ask(piece, &mut track).await? {
                    Some((answer, is_cut_off)) => judge(piece, &answer, is_cut_off, edges),
                    None => Err(Reason::TooLong),
                };
                out.push_str(verdict.as_deref().unwrap_or(piece));
                counts.count(verdict.err());
                track.passed(piece.len());
            }
        }
        out.push_str(&text[printed..]);
        let mut all = cleaned.counts;
        all.words = out.split_whitespace().count();
        Ok((Cleaned { text: out, counts: all, said: Vec::new() }, counts))
    }

    fn chunks<'t>(&self, text: &'t str, turn: std::ops::Range<usize>) -> Chunks<'t> {
        Chunks::new(text, turn, self.max_chunk_characters)
    }

    /// What the model answers, and whether it was not allowed to write all of it; nothing where it goes on for too long.
    async fn ask(
        &self,
        piece: &str,
        track: &mut Track<'_>,
    ) -> Result<Option<(String, bool)>, Error> {
        let limit = prompt::max_answer_bytes(piece);
        let mut answering = self.model.ask(&prompt::question(piece), self.stop).await?;
        let mut answer = String::new();
        let mut looked_at = 0;
        while let Some(more) = answering.next().await? {
            answer.push_str(&more);
            // Not at every token: thoughts may be long, and are looked through from their beginning.
            if answer.len() < looked_at + LOOK_BYTES && answer.len() <= limit {
                continue;
            }
            looked_at = answer.len();
            let length = reply::without_thoughts(&answer).len();
            if length > limit || answer.len() > limit + MAX_THOUGHT_BYTES {
                // Whoever drops an answer closes its connection.
                return Ok(None);
            }
            track.within(length.min(piece.len()));
        }
        if reply::without_thoughts(&answer).len() > limit {
            return Ok(None);
        }
        Ok(Some((answer, answering.finish() == Some(Finish::Length))))
    }
}

/// Whether there is enough in a piece to put marks between.
fn is_worth_it(piece: &str) -> bool {
    piece.split_whitespace().nth(LEAST_WORDS - 1).is_some()
        || piece.chars().filter(|one| words::is_spaceless(*one)).nth(LEAST_CHARACTERS - 1).is_some()
}

/// How far it has come.
struct Track<'a> {
    progress: &'a (dyn Fn(f64, &str) + Sync),
    /// Of how many pieces which is at work.
    chunks: usize,
    chunk: usize,
    all_bytes: usize,
    done_bytes: usize,
    told: f64,
}

impl<'a> Track<'a> {
    fn new(punctuation: &Punctuation<'a>, text: &str, cleaned: &Cleaned) -> Self {
        let pieces = cleaned.said.iter().flat_map(|turn| punctuation.chunks(text, turn.clone()));
        let (mut chunks, mut all_bytes) = (0, 0);
        for Chunk { place, .. } in pieces {
            all_bytes += place.len();
            chunks += usize::from(is_worth_it(&text[place]));
        }
        let progress = punctuation.progress;
        Self { progress, chunks, chunk: 0, all_bytes, done_bytes: 0, told: 0.0 }
    }

    fn begin(&mut self) {
        self.chunk += 1;
        self.told = f64::NEG_INFINITY;
        self.within(0);
    }

    /// So much of the piece at work has come back.
    fn within(&mut self, bytes: usize) {
        #[allow(clippy::cast_precision_loss, reason = "nobody counts the bytes by this")]
        let fraction = (self.done_bytes + bytes) as f64 / self.all_bytes.max(1) as f64;
        if fraction - self.told >= STEP {
            self.told = fraction;
            (self.progress)(fraction, &format!("chunk {} of {}", self.chunk, self.chunks));
        }
    }

    fn passed(&mut self, bytes: usize) {
        self.done_bytes += bytes;
    }
}
