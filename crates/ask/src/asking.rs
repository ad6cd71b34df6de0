//! Asking the model, in the way that its endpoint understands.

use std::{
    sync::atomic::{AtomicU8, Ordering::Relaxed},
    time::{Duration, Instant},
};

use llm::{Error, Finish, Model, Question};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{ResponseFormat, Settings, trace::Recorder};

/// What a model is asked, and what its answer must look like.
pub(crate) struct Wanted<'a> {
    /// What it is asked for: `plan`, `summary`.
    pub stage: &'static str,
    pub system: &'a str,
    pub user: &'a str,
    pub schema: &'a Value,
    pub max_tokens: u32,
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

/// The best way that the endpoint has not refused.
#[derive(Debug, Default)]
pub(crate) struct Way(AtomicU8);

impl Way {
    fn first(&self, settings: &Settings) -> usize {
        let fixed = WAYS.iter().position(|way| *way == settings.response_format);
        fixed.unwrap_or_else(|| usize::from(self.0.load(Relaxed)))
    }

    /// The endpoint understands this, and not what is better.
    fn found(&self, way: usize) {
        self.0.store(u8::try_from(way).unwrap_or_default(), Relaxed);
    }
}

/// Asks, and where the endpoint refuses the way in which it is told what to answer, asks in another.
pub(crate) async fn ask(
    model: &Model,
    way: &Way,
    wanted: &Wanted<'_>,
    settings: &Settings,
    recorder: &mut Recorder<'_>,
    stop: &CancellationToken,
) -> Result<Said, Error> {
    let begin = Instant::now();
    let first = way.first(settings);
    let mut number = first;
    let mut is_certain = true;
    loop {
        let question = Question {
            temperature: Some(0.0),
            max_tokens: Some(wanted.max_tokens),
            response_format: format(WAYS[number], wanted),
            ..Question::new(wanted.system, wanted.user)
        };
        match answer(model, &question, wanted, settings, recorder, stop).await {
            Ok(mut said) => {
                if number != first && is_certain {
                    way.found(number);
                }
                said.took = begin.elapsed();
                return Ok(said);
            }
            Err(Error::Status { status, .. })
                if settings.response_format == ResponseFormat::Auto
                    && number + 1 < WAYS.len()
                    && may_be_the_format(status) =>
            {
                // A server that fails at what it does not know may also just have failed.
                is_certain &= status < 500;
                number += 1;
                let payload = json!({
                    "stage": wanted.stage,
                    "status": status,
                    "response_format": WAYS[number],
                });
                recorder.event("response_format_refused", payload);
            }
            Err(error) => return Err(error),
        }
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
            "json_schema": { "name": wanted.stage, "schema": wanted.schema },
        })),
        ResponseFormat::JsonObject => Some(json!({ "type": "json_object" })),
        ResponseFormat::None => None,
    }
}

async fn answer(
    model: &Model,
    question: &Question,
    wanted: &Wanted<'_>,
    settings: &Settings,
    recorder: &Recorder<'_>,
    stop: &CancellationToken,
) -> Result<Said, Error> {
    let mut answering = model.ask(question, stop).await?;
    let mut text = String::new();
    let mut cut = None;
    let mut characters = 0;
    while let Some(piece) = answering.next().await? {
        characters += piece.chars().count();
        text.push_str(&piece);
        recorder.watch().writing(wanted.stage, characters);
        if text.len() > settings.max_answer_bytes {
            let limit = settings.max_answer_bytes;
            cut = Some(format!("it has more than {limit} bytes (ask.max_answer_bytes)"));
            text.truncate(text.floor_char_boundary(limit));
            break;
        }
    }
    if cut.is_none() && answering.finish() == Some(Finish::Length) {
        let limit = wanted.max_tokens;
        cut = Some(format!("it ends after {limit} tokens (ask.max_{}_tokens)", wanted.stage));
    }
    Ok(Said { text, cut, model: answering.model().map(str::to_owned), took: Duration::ZERO })
}
