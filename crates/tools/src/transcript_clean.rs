//! `transcript.clean`: a transcript that can be read.

use gate::{Answer, BoxFuture, Provider, Running, ToolError};
use serde_json::{Map, Value, json};

use crate::{
    settings::Transcript as Settings,
    transcript::{self, Cleaned, Refusal},
};

/// Texts up to this size take less time than handing them to another thread is worth.
const SMALL_BYTES: usize = 16_384;

pub(crate) struct TranscriptClean {
    max_input_bytes: usize,
}

impl TranscriptClean {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { max_input_bytes: settings.max_input_bytes }
    }

    async fn clean(&self, call: &Running) -> Result<Answer, ToolError> {
        let text = call.text("text");
        if text.len() > self.max_input_bytes {
            let limit = self.max_input_bytes;
            return Err(ToolError::new(
                contract::codes::TOO_LARGE.code,
                format!(
                    "the text has more than {limit} bytes (`tools.transcript.max_input_bytes`)"
                ),
            ));
        }
        let cleaned = if text.len() <= SMALL_BYTES {
            transcript::clean(text)
        } else {
            let text = text.to_owned();
            let cleaning = tokio::task::spawn_blocking(move || transcript::clean(&text));
            let failed = |error: tokio::task::JoinError| {
                ToolError::internal("the tool failed", error.to_string())
            };
            cleaning.await.map_err(failed)?
        };
        cleaned.map(answer).map_err(refused)
    }
}

impl Provider for TranscriptClean {
    fn run<'a>(&'a self, call: &'a Running) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(self.clean(call))
    }
}

fn answer(cleaned: Cleaned) -> Answer {
    let counts = cleaned.counts;
    // Not by `json!`, which would copy the text.
    let result = Map::from_iter([("clean_text".to_owned(), Value::String(cleaned.text))]);
    let mut answer = Answer::new(Value::Object(result));
    answer.summary =
        Some(format!("Cleaned a transcript: {} turn(s), {} word(s).", counts.turns, counts.words));
    let metrics = [
        ("format", json!(counts.format.word())),
        ("language", json!(counts.language)),
        ("turns", json!(counts.turns)),
        ("removed_cues", json!(counts.removed_cues)),
        ("removed_words", json!(counts.removed_words)),
        ("words", json!(counts.words)),
    ];
    answer.metrics.extend(metrics.map(|(name, value)| (name.into(), value)));
    answer
}

fn refused(refusal: Refusal) -> ToolError {
    ToolError::invalid_input(match refusal {
        Refusal::Binary => "the text is no text: most of it are characters that text does not have",
        Refusal::Empty => {
            "there is nothing to read in the text: it has no words, or is a file of captions without text"
        }
    })
}
