//! A request to the model, as a step of a run, in the response format that its endpoint knows.

use std::{
    sync::atomic::{AtomicU8, Ordering::Relaxed},
    time::Instant,
};

use llm::{ChatPrompt, Error, Finish, Model};
use serde_json::{Value, json};

use super::{Ask, AskRun, StepResult};
use crate::{AskSettings, BlockedCode, BlockedResponse, ResponseFormat, planner};

/// A prompt. Where its reply is refused, it is sent once more with the reason.
pub(super) struct StagePrompt<'a> {
    /// The part of a run that it is for, as schemas and terminals show it.
    stage: &'static str,
    /// The beginning of the names of its events in the trace.
    event_prefix: &'static str,
    /// The words before the reason where the model fails.
    failure_prefix: &'static str,
    system: &'a str,
    user: String,
    schema: Value,
    max_tokens: u32,
    /// The setting with that limit.
    limit_name: &'static str,
    is_repaired: bool,
}

impl<'a> StagePrompt<'a> {
    pub fn plan(settings: &AskSettings, system: &'a str, user: String, schema: Value) -> Self {
        Self {
            stage: "plan",
            event_prefix: "planner",
            failure_prefix: "Planner failed: ",
            system,
            user,
            schema,
            max_tokens: settings.max_plan_tokens,
            limit_name: "ask.max_plan_tokens",
            is_repaired: false,
        }
    }

    pub fn summary(settings: &AskSettings, system: &'a str, user: String, schema: Value) -> Self {
        Self {
            stage: "summary",
            event_prefix: "summary",
            failure_prefix: "",
            max_tokens: settings.max_summary_tokens,
            limit_name: "ask.max_summary_tokens",
            ..Self::plan(settings, system, user, schema)
        }
    }

    /// Tells the model what was wrong with its reply. False if it was told before.
    pub fn repair(&mut self, run: &mut AskRun<'_>, reply: &ModelReply, why: &str) -> bool {
        if self.is_repaired {
            return false;
        }
        self.is_repaired = true;
        run.recorder.event(&format!("{}_repair", self.event_prefix), json!({ "reason": why }));
        self.user.push_str(&planner::again(&reply.text, why));
        true
    }
}

pub(super) struct ModelReply {
    pub text: String,
    /// The limit that cut it short, if one did.
    cut: Option<String>,
    /// The model that the endpoint says it is.
    model: Option<String>,
}

impl ModelReply {
    /// The text, if nothing cut it short.
    pub fn whole(&self) -> Result<&str, String> {
        self.cut.clone().map_or(Ok(&self.text), Err)
    }
}

/// The response formats, the best first.
const FORMATS: [ResponseFormat; 3] =
    [ResponseFormat::JsonSchema, ResponseFormat::JsonObject, ResponseFormat::None];
/// In how many runs an endpoint has to refuse the best format before it is no longer tried: a request that was
/// refused for another reason must not cost all others their schema.
const REFUSALS: u8 = 2;

/// The best response format that the endpoint has not refused.
#[derive(Debug, Default)]
pub(super) struct FormatFallback {
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

impl Ask {
    /// Sends a prompt to the model, and records its reply.
    pub(super) async fn reply(
        &self,
        run: &mut AskRun<'_>,
        prompt: &StagePrompt<'_>,
    ) -> StepResult<ModelReply> {
        let Some(model) = &self.model else {
            let reason = "no language model is configured: set llm.base_url";
            return Err(BlockedResponse::new(BlockedCode::NoModel, reason).into());
        };
        let prefix = prompt.event_prefix;
        let payload = json!({ "system": prompt.system, "user": prompt.user });
        run.recorder.event(&format!("{prefix}_prompt"), payload);
        let begin = Instant::now();
        let reply = self.send(run, model, prompt).await;
        let took = begin.elapsed();
        run.timing.model += took;
        match reply {
            Ok(reply) => {
                let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
                let payload = json!({ "text": reply.text, "model": reply.model, "took_ms": took });
                run.recorder.event(&format!("{prefix}_raw"), payload);
                run.model = reply.model.clone().or(run.model.take());
                Ok(reply)
            }
            Err(Error::Cancelled) => Err(run.stopped().into()),
            Err(error) => {
                // Whoever asks may read the trace; the rest is for the operator.
                let words = error.operator().unwrap_or_default();
                tracing::warn!(kind = error.word(), %error, words, "the model gave no answer");
                run.recorder.event("model_failed", json!({ "kind": error.word() }));
                Err(failed(prompt, &error).into())
            }
        }
    }

    /// Sends a prompt. Where the endpoint refuses the response format, it is sent again with another.
    async fn send(
        &self,
        run: &mut AskRun<'_>,
        model: &Model,
        prompt: &StagePrompt<'_>,
    ) -> Result<ModelReply, Error> {
        let first = self.format.first(&self.settings);
        let mut number = first;
        let mut is_certain = true;
        loop {
            match self.attempt(run, model, prompt, FORMATS[number]).await {
                Ok(reply) => {
                    if number == first {
                        self.format.accepted();
                    } else if is_certain {
                        self.format.fall_back(number);
                    }
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
                        "stage": prompt.stage,
                        "status": status,
                        "response_format": FORMATS[number],
                    });
                    let name =
                        if status < 500 { "response_format_refused" } else { "model_tried_again" };
                    run.recorder.event(name, payload);
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn attempt(
        &self,
        run: &AskRun<'_>,
        model: &Model,
        prompt: &StagePrompt<'_>,
        format: ResponseFormat,
    ) -> Result<ModelReply, Error> {
        let chat = ChatPrompt {
            temperature: Some(0.0),
            max_tokens: Some(prompt.max_tokens),
            response_format: response_format(format, prompt),
            ..ChatPrompt::new(prompt.system, &prompt.user)
        };
        let mut stream = model.ask(&chat, &run.stop).await?;
        let mut text = String::new();
        let mut cut = None;
        let mut characters = 0;
        while let Some(piece) = stream.next().await? {
            characters += piece.chars().count();
            text.push_str(&piece);
            run.recorder.watch.writing(prompt.stage, characters);
            let limit = self.settings.max_answer_bytes;
            if text.len() > limit {
                cut = Some(format!("it has more than {limit} bytes (ask.max_answer_bytes)"));
                text.truncate(text.floor_char_boundary(limit));
                break;
            }
        }
        if cut.is_none() && stream.finish() == Some(Finish::Length) {
            let StagePrompt { max_tokens, limit_name, .. } = prompt;
            cut = Some(format!("it ends after {max_tokens} tokens ({limit_name})"));
        }
        Ok(ModelReply { text, cut, model: stream.model().map(str::to_owned) })
    }
}

/// True if an endpoint that answers so may do it because of `response_format`.
fn may_be_the_format(status: u16) -> bool {
    matches!(status, 400 | 415 | 422 | 500 | 501)
}

fn response_format(format: ResponseFormat, prompt: &StagePrompt<'_>) -> Option<Value> {
    match format {
        ResponseFormat::Auto | ResponseFormat::JsonSchema => Some(json!({
            "type": "json_schema",
            "json_schema": { "name": prompt.stage, "schema": prompt.schema },
        })),
        ResponseFormat::JsonObject => Some(json!({ "type": "json_object" })),
        ResponseFormat::None => None,
    }
}

/// The run ends because the model failed.
fn failed(prompt: &StagePrompt<'_>, error: &Error) -> BlockedResponse {
    let reason = format!("{}{error}", prompt.failure_prefix);
    let code = match error {
        Error::NotConfigured(_) => BlockedCode::NoModel,
        Error::Status { status: 429 | 503, .. } => BlockedCode::ModelBusy,
        Error::Stalled { .. } => BlockedCode::Timeout,
        _ => BlockedCode::ModelError,
    };
    let (message, retry_after) = match error {
        Error::Status { status, retry_after } => (hint(*status), *retry_after),
        Error::Unreachable { .. } => {
            (Some("nobody answers there: see llm.base_url, and `toolgate doctor`"), None)
        }
        _ => (None, None),
    };
    let message = message.map(str::to_owned);
    BlockedResponse { message, retry_after, ..BlockedResponse::new(code, reason) }
}

/// The usual cause of a status. The body is not read: some endpoints repeat the question in it, and even the key.
fn hint(status: u16) -> Option<&'static str> {
    Some(match status {
        400 | 413 | 422 => {
            "the prompt may be larger than the model's context: lower ask.max_tools_tokens, or give the model more"
        }
        401 | 403 => "the endpoint wants another key: see llm.api_key_env",
        404 => "there is no such model or path: see llm.model and llm.base_url",
        _ => return None,
    })
}
