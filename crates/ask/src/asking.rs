//! Asking the model, in the way that its endpoint understands.

use std::{
    sync::atomic::{AtomicU8, Ordering::Relaxed},
    time::{Duration, Instant},
};

use llm::{Error, Finish, Model, Question};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{ResponseFormat, Settings, trace::Recorder};

/// What a model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Plan,
    Summary,
}

impl Stage {
    /// The word for it, in schemas and on terminals.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Stage::Plan => "plan",
            Stage::Summary => "summary",
        }
    }

    /// What the trace calls the question.
    pub(crate) fn prompt_event(self) -> &'static str {
        match self {
            Stage::Plan => "planner_prompt",
            Stage::Summary => "summary_prompt",
        }
    }

    /// What the trace calls the answer.
    pub(crate) fn raw_event(self) -> &'static str {
        match self {
            Stage::Plan => "planner_raw",
            Stage::Summary => "summary_raw",
        }
    }

    /// How long the answer may be, and the name of that limit.
    fn limit(self, settings: &Settings) -> (u32, &'static str) {
        match self {
            Stage::Plan => (settings.max_plan_tokens, "ask.max_plan_tokens"),
            Stage::Summary => (settings.max_summary_tokens, "ask.max_summary_tokens"),
        }
    }
}

/// What a model is asked, and what its answer must look like.
pub(crate) struct Wanted<'a> {
    pub stage: Stage,
    pub system: &'a str,
    pub user: &'a str,
    pub schema: &'a Value,
}

/// What it said.
#[derive(Debug)]
pub(crate) struct Said {
    pub text: String,
    /// What keeps it from being an answer: it has no end.
    pub cut: Option<String>,
    /// The model that the endpoint says it is.
    pub model: Option<String>,
    pub took: Duration,
}

/// The ways to say what an answer must look like, the best first.
const WAYS: [ResponseFormat; 3] =
    [ResponseFormat::JsonSchema, ResponseFormat::JsonObject, ResponseFormat::None];
/// In how many runs an endpoint has to refuse the best way before it is no longer tried: a question that was
/// refused for another reason must not cost all others their schema.
const REFUSALS: u8 = 2;

/// The best way that the endpoint has not refused.
#[derive(Debug, Default)]
pub(crate) struct Way {
    best: AtomicU8,
    refusals: AtomicU8,
}

impl Way {
    fn first(&self, settings: &Settings) -> usize {
        let fixed = WAYS.iter().position(|way| *way == settings.response_format);
        fixed.unwrap_or_else(|| usize::from(self.best.load(Relaxed)))
    }

    /// The endpoint understands this way, and not the one that was tried first.
    fn found(&self, way: usize) {
        if self.refusals.fetch_add(1, Relaxed) + 1 >= REFUSALS {
            self.best.store(u8::try_from(way).unwrap_or_default(), Relaxed);
            tracing::warn!(response_format = ?WAYS[way], "the model's endpoint knows no better one");
        }
    }

    fn understood(&self) {
        self.refusals.store(0, Relaxed);
    }
}

/// Who is asked, how, and for how long.
pub(crate) struct Asking<'a> {
    pub model: &'a Model,
    pub way: &'a Way,
    pub settings: &'a Settings,
    pub stop: &'a CancellationToken,
}

impl Asking<'_> {
    /// Asks, and where the endpoint refuses the way in which it is told what to answer, asks in another.
    pub(crate) async fn ask(
        &self,
        wanted: &Wanted<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<Said, Error> {
        let begin = Instant::now();
        let first = self.way.first(self.settings);
        let mut number = first;
        let mut is_certain = true;
        loop {
            let question = Question {
                temperature: Some(0.0),
                max_tokens: Some(wanted.stage.limit(self.settings).0),
                response_format: format(WAYS[number], wanted),
                ..Question::new(wanted.system, wanted.user)
            };
            match self.answer(&question, wanted.stage, recorder).await {
                Ok(mut said) => {
                    if number == first {
                        self.way.understood();
                    } else if is_certain {
                        self.way.found(number);
                    }
                    said.took = begin.elapsed();
                    return Ok(said);
                }
                Err(Error::Status { status, .. })
                    if self.settings.response_format == ResponseFormat::Auto
                        && number + 1 < WAYS.len()
                        && may_be_the_format(status) =>
                {
                    // A server that fails at what it does not know may also just have failed.
                    is_certain &= status < 500;
                    number += 1;
                    let payload = json!({
                        "stage": wanted.stage.word(),
                        "status": status,
                        "response_format": WAYS[number],
                    });
                    let name =
                        if status < 500 { "response_format_refused" } else { "model_tried_again" };
                    recorder.event(name, payload);
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn answer(
        &self,
        question: &Question,
        stage: Stage,
        recorder: &Recorder<'_>,
    ) -> Result<Said, Error> {
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
        Ok(Said { text, cut, model: answering.model().map(str::to_owned), took: Duration::ZERO })
    }
}

/// Whether an endpoint that answers so may do it because of `response_format`.
fn may_be_the_format(status: u16) -> bool {
    matches!(status, 400 | 415 | 422 | 500 | 501)
}

fn format(way: ResponseFormat, wanted: &Wanted<'_>) -> Option<Value> {
    match way {
        ResponseFormat::Auto | ResponseFormat::JsonSchema => Some(json!({
            "type": "json_schema",
            "json_schema": { "name": wanted.stage.word(), "schema": wanted.schema },
        })),
        ResponseFormat::JsonObject => Some(json!({ "type": "json_object" })),
        ResponseFormat::None => None,
    }
}
