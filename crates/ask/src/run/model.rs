//! A question to the model, as a step of a run.

use std::time::Instant;

use llm::Error;
use serde_json::{Value, json};

use super::{Ask, Run, Step, blocked_by};
use crate::{
    Answer, Code,
    asking::{Asking, Said, Stage, Wanted},
};

impl Ask {
    /// Asks the model, and writes down what it said.
    pub(super) async fn asked(
        &self,
        run: &mut Run<'_>,
        stage: Stage,
        (system, user): (&str, &str),
        schema: &Value,
    ) -> Step<Said> {
        let Some(model) = &self.model else {
            let reason = "no language model is configured: set llm.base_url";
            return Err(blocked_by(Code::NoModel, reason));
        };
        run.recorder.event(stage.prompt_event(), json!({ "system": system, "user": user }));
        let asking =
            Asking { model, way: &self.way, settings: &self.settings, stop: &run.stop.clone() };
        let begin = Instant::now();
        let said = asking.ask(&Wanted { stage, system, user, schema }, &mut run.recorder).await;
        run.timing.model += begin.elapsed();
        match said {
            Ok(said) => {
                let took = u64::try_from(said.took.as_millis()).unwrap_or(u64::MAX);
                let payload = json!({ "text": said.text, "model": said.model, "took_ms": took });
                run.recorder.event(stage.raw_event(), payload);
                run.model = said.model.clone().or(run.model.take());
                Ok(said)
            }
            Err(Error::Cancelled) => Err(run.stopped()),
            Err(error) => {
                // Whoever asks may read the trace; the rest is for the operator.
                let words = error.operator().unwrap_or_default();
                tracing::warn!(kind = error.word(), %error, words, "the model gave no answer");
                run.recorder.event("model_failed", json!({ "kind": error.word() }));
                Err(failed(stage, &error))
            }
        }
    }
}

/// The run ends because the model failed.
fn failed(stage: Stage, error: &Error) -> Box<Answer> {
    let reason = match stage {
        Stage::Plan => format!("Planner failed: {error}"),
        Stage::Summary => error.to_string(),
    };
    let code = match error {
        Error::NotConfigured(_) => Code::NoModel,
        Error::Status { status: 429 | 503, .. } => Code::ModelBusy,
        Error::Stalled { .. } => Code::Timeout,
        _ => Code::ModelError,
    };
    let mut answer = blocked_by(code, reason);
    let Answer::Blocked { retry_after, message, .. } = &mut *answer else { return answer };
    match error {
        Error::Status { status, retry_after: given } => {
            *retry_after = *given;
            *message = hint(*status).map(str::to_owned);
        }
        Error::Unreachable { .. } => {
            *message = Some("nobody answers there: see llm.base_url, and `toolgate doctor`".into());
        }
        _ => {}
    }
    answer
}

/// What is usually wrong when an endpoint answers so. What it says itself is not read: some repeat the question, and even the key.
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
