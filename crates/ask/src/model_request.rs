//! A request to the model, in the response format that its endpoint knows.

use std::{
    sync::atomic::{AtomicU8, Ordering::Relaxed},
    time::{Duration, Instant},
};

use llm::{ChatPrompt, Error, Finish, Model};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{AskSettings, ResponseFormat, trace::TraceRecorder};

/// The part of a run that a model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromptStage {
    Plan,
    Summary,
}

impl PromptStage {
    /// The word for it, in schemas and on terminals.
    pub(crate) fn word(self) -> &'static str {
        match self {
            PromptStage::Plan => "plan",
            PromptStage::Summary => "summary",
        }
    }

    /// The name of the prompt in the trace.
    pub(crate) fn prompt_event(self) -> &'static str {
        match self {
            PromptStage::Plan => "planner_prompt",
            PromptStage::Summary => "summary_prompt",
        }
    }

    /// The name of the reply in the trace.
    pub(crate) fn raw_event(self) -> &'static str {
        match self {
            PromptStage::Plan => "planner_raw",
            PromptStage::Summary => "summary_raw",
        }
    }

    /// The length that the reply may have, and the name of that limit.
    fn limit(self, settings: &AskSettings) -> (u32, &'static str) {
        match self {
            PromptStage::Plan => (settings.max_plan_tokens, "ask.max_plan_tokens"),
            PromptStage::Summary => (settings.max_summary_tokens, "ask.max_summary_tokens"),
        }
    }
}

/// A prompt, and the schema of its reply.
pub(crate) struct ModelPrompt<'a> {
    pub stage: PromptStage,
    pub system: &'a str,
    pub user: &'a str,
    pub schema: &'a Value,
}

/// The reply of a model.
#[derive(Debug)]
pub(crate) struct ModelReply {
    pub text: String,
    /// The limit that cut it short, if one did.
    pub cut: Option<String>,
    /// The model that the endpoint says it is.
    pub model: Option<String>,
    pub took: Duration,
}

/// The response formats, the best first.
const FORMATS: [ResponseFormat; 3] =
    [ResponseFormat::JsonSchema, ResponseFormat::JsonObject, ResponseFormat::None];
/// In how many runs an endpoint has to refuse the best format before it is no longer tried: a request that was
/// refused for another reason must not cost all others their schema.
const REFUSALS: u8 = 2;

/// The best response format that the endpoint has not refused.
#[derive(Debug, Default)]
pub(crate) struct FormatFallback {
    best: AtomicU8,
    refusals: AtomicU8,
}

impl FormatFallback {
    fn first(&self, settings: &AskSettings) -> usize {
        let fixed = FORMATS.iter().position(|format| *format == settings.response_format);
        fixed.unwrap_or_else(|| usize::from(self.best.load(Relaxed)))
    }

    /// The endpoint knows this format, and not the one that was tried first.
    fn fall_back(&self, number: usize) {
        if self.refusals.fetch_add(1, Relaxed) + 1 >= REFUSALS {
            self.best.store(u8::try_from(number).unwrap_or_default(), Relaxed);
            tracing::warn!(response_format = ?FORMATS[number], "the model's endpoint refuses better response formats");
        }
    }

    fn accepted(&self) {
        self.refusals.store(0, Relaxed);
    }
}

/// The model, the response format and the limits of a request.
pub(crate) struct ModelRequest<'a> {
    pub model: &'a Model,
    pub format: &'a FormatFallback,
    pub settings: &'a AskSettings,
    pub stop: &'a CancellationToken,
}

impl ModelRequest<'_> {
    /// Sends a prompt. Where the endpoint refuses the response format, it is sent again with another.
    pub(crate) async fn send(
        &self,
        prompt: &ModelPrompt<'_>,
        recorder: &mut TraceRecorder<'_>,
    ) -> Result<ModelReply, Error> {
        let begin = Instant::now();
        let first = self.format.first(self.settings);
        let mut number = first;
        let mut is_certain = true;
        loop {
            let question = ChatPrompt {
                temperature: Some(0.0),
                max_tokens: Some(prompt.stage.limit(self.settings).0),
                response_format: response_format(FORMATS[number], prompt),
                ..ChatPrompt::new(prompt.system, prompt.user)
            };
            match self.attempt(&question, prompt.stage, recorder).await {
                Ok(mut reply) => {
                    if number == first {
                        self.format.accepted();
                    } else if is_certain {
                        self.format.fall_back(number);
                    }
                    reply.took = begin.elapsed();
                    return Ok(reply);
                }
                Err(Error::Status { status, .. })
                    if self.settings.response_format == ResponseFormat::Auto
                        && number + 1 < FORMATS.len()
                        && may_be_the_format(status) =>
                {
                    // A server that fails at what it does not know may also just have failed.
                    is_certain &= status < 500;
                    number += 1;
                    let payload = json!({
                        "stage": prompt.stage.word(),
                        "status": status,
                        "response_format": FORMATS[number],
                    });
                    let name =
                        if status < 500 { "response_format_refused" } else { "model_tried_again" };
                    recorder.event(name, payload);
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn attempt(
        &self,
        question: &ChatPrompt,
        stage: PromptStage,
        recorder: &TraceRecorder<'_>,
    ) -> Result<ModelReply, Error> {
        let mut answering = self.model.ask(question, self.stop).await?;
        let mut text = String::new();
        let mut cut = None;
        let mut characters = 0;
        while let Some(piece) = answering.next().await? {
            characters += piece.chars().count();
            text.push_str(&piece);
            recorder.watch().writing(stage.word(), characters);
            let limit = self.settings.max_answer_bytes;
            if text.len() > limit {
                cut = Some(format!("it has more than {limit} bytes (ask.max_answer_bytes)"));
                text.truncate(text.floor_char_boundary(limit));
                break;
            }
        }
        if cut.is_none() && answering.finish() == Some(Finish::Length) {
            let (limit, name) = stage.limit(self.settings);
            cut = Some(format!("it ends after {limit} tokens ({name})"));
        }
        Ok(ModelReply {
            text,
            cut,
            model: answering.model().map(str::to_owned),
            took: Duration::ZERO,
        })
    }
}

/// Whether an endpoint that answers so may do it because of `response_format`.
fn may_be_the_format(status: u16) -> bool {
    matches!(status, 400 | 415 | 422 | 500 | 501)
}

fn response_format(format: ResponseFormat, prompt: &ModelPrompt<'_>) -> Option<Value> {
    match format {
        ResponseFormat::Auto | ResponseFormat::JsonSchema => Some(json!({
            "type": "json_schema",
            "json_schema": { "name": prompt.stage.word(), "schema": prompt.schema },
        })),
        ResponseFormat::JsonObject => Some(json!({ "type": "json_object" })),
        ResponseFormat::None => None,
    }
}
