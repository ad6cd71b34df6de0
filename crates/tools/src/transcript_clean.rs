//! `transcript.clean`: a transcript that can be read.

mod failure;
mod punctuation;

use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use serde::Serialize;
use serde_json::{Map, Value};
use transcript::{CleanTranscript, punctuation::ModelCounts};

use crate::{
    off_thread,
    settings::{TranscriptMode, TranscriptSettings as Settings},
};

/// Texts up to this size take less time than handing them to another thread is worth.
const SMALL_BYTES: usize = 16_384;

pub(crate) struct TranscriptClean {
    settings: Settings,
    /// The model that adds punctuation, or why there is none; nothing where the rules do it all.
    model: Option<Result<llm::Model, llm::Error>>,
}

impl TranscriptClean {
    pub(crate) fn new(settings: &Settings, llm: &llm::LlmSettings) -> Self {
        let model = (settings.mode == TranscriptMode::Model).then(|| {
            llm::Model::new(llm)?.ok_or_else(|| {
                llm::Error::NotConfigured("no model is configured: set `llm.base_url`".to_owned())
            })
        });
        Self { settings: settings.clone(), model }
    }

    async fn clean(&self, call: &RunningCall) -> Result<ToolOutput, ToolError> {
        let text = call.text("text");
        let limit = self.settings.max_input_bytes;
        if text.len() > limit {
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
            off_thread(move || Ok(transcript::clean(&text))).await?
        };
        let cleaned = cleaned.map_err(|error| ToolError::invalid_input(error.to_string()))?;
        let Some(model) = &self.model else { return Ok(answer(cleaned)) };
        let model = model.as_ref().map_err(|error| failure::of(error, call))?;
        let (cleaned, counts) =
            punctuation::add(cleaned, model, self.settings.max_chunk_characters, call)
                .await
                .map_err(|error| failure::of(&error, call))?;
        Ok(with_model_counts(answer(cleaned), &counts))
    }
}

impl Provider for TranscriptClean {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.clean(call))
    }
}

fn answer(cleaned: CleanTranscript) -> ToolOutput {
    let counts = cleaned.counts;
    // Not by `json!`, which would copy the text.
    let result = Map::from_iter([("clean_text".to_owned(), Value::String(cleaned.text))]);
    let mut answer = ToolOutput::new(Value::Object(result));
    answer.summary =
        Some(format!("Cleaned a transcript: {} turn(s), {} word(s).", counts.turns, counts.words));
    add_metrics(&mut answer, &counts);
    answer
}

/// Adds the model's part to the summary and the metrics.
fn with_model_counts(mut answer: ToolOutput, counts: &ModelCounts) -> ToolOutput {
    if let Some(summary) = &mut answer.summary {
        let (chunks, taken) = (counts.chunks, counts.chunks - counts.fallbacks);
        summary.push_str(&format!(" Punctuation by a model: {taken} of {chunks} chunk(s)."));
    }
    add_metrics(&mut answer, counts);
    answer
}

fn add_metrics(answer: &mut ToolOutput, counts: &impl Serialize) {
    if let Ok(Value::Object(counts)) = serde_json::to_value(counts) {
        answer.metrics.extend(counts);
    }
}
