//! Runs a tool of the fixture, step by step.

use std::{sync::Arc, time::Duration};

use contract::codes;
use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use serde_json::{Map, Value, json};

use crate::{
    data::ScriptStep,
    questions::questions,
    shared::SharedFixture,
    template::{self, fill},
};

/// The steps of a tool.
pub struct Script {
    steps: Vec<ScriptStep>,
    shared: Arc<SharedFixture>,
}

impl Script {
    /// A tool that takes these steps.
    pub fn new(steps: Vec<ScriptStep>, shared: Arc<SharedFixture>) -> Self {
        Self { steps, shared }
    }

    async fn play(&self, call: &RunningCall) -> Result<ToolOutput, ToolError> {
        let mut replies = Map::new();
        for step in &self.steps {
            let scope = self.shared.fixture.scope(&call.input, &replies);
            match step {
                ScriptStep::Progress { fraction, message } => {
                    call.progress(Some(*fraction), message);
                }
                ScriptStep::Log { level, data } => call.log(*level, template::render(data, &scope)),
                ScriptStep::SleepMs(time) => sleep(call, Duration::from_millis(*time)).await?,
                ScriptStep::SleepSeconds(argument) => work(call, argument).await?,
                ScriptStep::Ask(asked) => replies = call.ask_all(questions(asked, &scope))?.clone(),
                ScriptStep::AskWhatCanBeAnswered(asked) => {
                    let mut questions = questions(asked, &scope);
                    questions.retain(|_, question| call.capabilities().allows(question.kind));
                    replies = call.ask_all(questions)?.clone();
                }
                ScriptStep::Change(listing) => self.shared.change(*listing).map_err(|error| {
                    ToolError::internal("the listing could not change", format!("{error:#}"))
                })?,
                ScriptStep::Result(blocks) => {
                    let blocks: Value =
                        blocks.iter().map(|block| template::render(block, &scope)).collect();
                    return Ok(ToolOutput::new(json!({ "content": blocks })));
                }
                ScriptStep::Fail { code, message } => {
                    return Err(ToolError::new(code, fill(message, &scope)));
                }
                ScriptStep::Break(message) => {
                    return Err(ToolError::internal(message, "the fixture was asked to break"));
                }
            }
        }
        Err(ToolError::internal("the tool came to no end", "the last step of a script must end it"))
    }
}

impl Provider for Script {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.play(call))
    }
}

/// Sleeps as many seconds as the argument says, and tells when half of it is over.
async fn work(call: &RunningCall, argument: &str) -> Result<(), ToolError> {
    let seconds = call.input.get(argument).and_then(Value::as_f64).unwrap_or_default();
    let time = Duration::try_from_secs_f64(seconds)
        .map_err(|error| ToolError::invalid_input(format!("`{argument}`: {error}")))?;
    for (fraction, message) in [(0.0, "begun"), (0.5, "half of it is done")] {
        call.progress(Some(fraction), message);
        sleep(call, time / 2).await?;
    }
    call.progress(Some(1.0), "done");
    Ok(())
}

/// Sleeps, unless the call is stopped first.
async fn sleep(call: &RunningCall, time: Duration) -> Result<(), ToolError> {
    tokio::select! {
        () = tokio::time::sleep(time) => Ok(()),
        () = call.stop.cancelled() => {
            Err(ToolError::new(codes::CANCELLED.code, "stopped while it slept"))
        }
    }
}
