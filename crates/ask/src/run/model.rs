//! A request to the model, as a step of a run.

use std::time::Instant;

use llm::Error;
use serde_json::{Value, json};

use super::{Ask, AskRun, StepResult};
use crate::{
    BlockedCode, BlockedResponse,
    model_request::{ModelPrompt, ModelReply, ModelRequest, PromptStage},
};

impl Ask {
    /// Sends a prompt to the model, and records its reply.
    pub(super) async fn reply(
        &self,
        run: &mut AskRun<'_>,
        stage: PromptStage,
        (system, user): (&str, &str),
        schema: &Value,
    ) -> StepResult<ModelReply> {
        let Some(model) = &self.model else {
            let reason = "no language model is configured: set llm.base_url";
            return Err(BlockedResponse::new(BlockedCode::NoModel, reason).into());
        };
        run.recorder.event(stage.prompt_event(), json!({ "system": system, "user": user }));
        let request = ModelRequest {
            model,
            format: &self.format,
            settings: &self.settings,
            stop: &run.stop.clone(),
        };
        let begin = Instant::now();
        let reply =
            request.send(&ModelPrompt { stage, system, user, schema }, &mut run.recorder).await;
        run.timing.model += begin.elapsed();
        match reply {
            Ok(reply) => {
                let took = u64::try_from(reply.took.as_millis()).unwrap_or(u64::MAX);
                let payload = json!({ "text": reply.text, "model": reply.model, "took_ms": took });
                run.recorder.event(stage.raw_event(), payload);
                run.model = reply.model.clone().or(run.model.take());
                Ok(reply)
            }
            Err(Error::Cancelled) => Err(run.stopped().into()),
            Err(error) => {
                // Whoever asks may read the trace; the rest is for the operator.
                let words = error.operator().unwrap_or_default();
                tracing::warn!(kind = error.word(), %error, words, "the model gave no answer");
                run.recorder.event("model_failed", json!({ "kind": error.word() }));
                Err(failed(stage, &error).into())
            }
        }
    }
}

/// The run ends because the model failed.
fn failed(stage: PromptStage, error: &Error) -> BlockedResponse {
    let reason = match stage {
        PromptStage::Plan => format!("Planner failed: {error}"),
        PromptStage::Summary => error.to_string(),
    };
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
