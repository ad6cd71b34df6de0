//! The examples of contracts, run as tests through the real gate.
//!
//! A built-in tool works in a folder of the example with the files that it names. A good call must succeed, with the
//! shown output if there is one; a bad call must be refused with its code; a bad output, returned by a stand-in for
//! the tool, must be stopped.

use std::{path::Path, sync::Arc};

use anyhow::Context;
use contract::{ApprovalRequirement, Example, Schema, codes};
use gate::{
    BoxFuture, Call, Caller, Door, Outcome, Provider, Recording, RequestId, RunningCall, ToolError,
    ToolOutput,
};
use serde::Serialize;
use serde_json::{Value, json};
use store::DataFolder;

use crate::{
    settings::LoadedSettings,
    wiring::{self, BoundTool},
};

/// The result of one example.
#[derive(Debug, Serialize)]
pub struct ExampleResult {
    /// The tool.
    pub tool: String,
    /// The title of the example.
    pub title: String,
    /// The difference to what the example shows.
    pub problem: Option<String>,
}

/// Runs every example of every contract in a temporary folder.
pub async fn run(
    bound: Vec<BoundTool>,
    loaded: &LoadedSettings,
) -> anyhow::Result<Vec<ExampleResult>> {
    let folder = tempfile::tempdir()?;
    let mut results = Vec::new();
    for BoundTool { contract, provider } in bound {
        for (index, example) in contract.examples.iter().enumerate() {
            let mut contract = contract.clone();
            if contract.run.is_none() || example.bad_output.is_some() {
                // It touches only a temporary folder, so no approval is needed.
                contract.approval = ApprovalRequirement::Never;
            }
            let data = folder.path().join(format!("{}-{index}", contract.name));
            let provider: Arc<dyn Provider> = match &example.bad_output {
                Some(value) => Arc::new(FixedOutput(value.clone())),
                None if contract.run.is_some() => provider.clone(),
                None => built_in(&contract.name, Some(example), loaded, &data.join("files"))?,
            };
            let needs_approval = contract.approval == ApprovalRequirement::Required
                && !example.error.as_deref().is_some_and(|code| contract.is_input_error(code));
            let tool = contract.name.clone();
            let outcome = call(BoundTool { contract, provider }, example, loaded, &data).await?;
            results.push(ExampleResult {
                tool,
                title: example.title.clone(),
                problem: problem(needs_approval, example, &outcome),
            });
        }
    }
    Ok(results)
}

/// A built-in tool that works in a folder with the files of the example.
pub fn built_in(
    name: &str,
    example: Option<&Example>,
    loaded: &LoadedSettings,
    folder: &Path,
) -> anyhow::Result<Arc<dyn Provider>> {
    std::fs::create_dir_all(folder)?;
    for (path, text) in example.iter().flat_map(|example| &example.files) {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap_or(folder))?;
        std::fs::write(file, text)?;
    }
    let tool = find_built_in(name, &loaded.tools().within(folder));
    Ok(tool.with_context(|| format!("there is no built-in tool `{name}`"))?.provider)
}

/// The built-in tool of this name.
pub fn find_built_in(name: &str, settings: &tools::ToolSettings) -> Option<tools::BuiltIn> {
    let is_named = |tool: &tools::BuiltIn| {
        contract::read::trusted(tool.contract).is_ok_and(|contract| contract.name == name)
    };
    tools::built_in(settings).into_iter().find(is_named)
}

async fn call(
    bound: BoundTool,
    example: &Example,
    loaded: &LoadedSettings,
    data: &Path,
) -> anyhow::Result<Outcome> {
    let tool = bound.contract.name.clone();
    let catalogue = wiring::catalogue(vec![bound], loaded)?;
    let opened = wiring::gate(catalogue, loaded, DataFolder::open(data)?, None)?;
    let input = Value::Object(example.input.clone());
    let request_id = RequestId::new(opened.gate.clock().now());
    let call = Call::new(tool, input, Door::Cli, Caller::named("examples"), request_id);
    Ok(opened.gate.call(call.recording(Recording::Always)).await)
}

fn problem(needs_approval: bool, example: &Example, outcome: &Outcome) -> Option<String> {
    let code = outcome.code();
    // There is nobody to approve it.
    let expected = if needs_approval {
        codes::APPROVAL_REQUIRED.code
    } else if example.bad_output.is_some() {
        codes::INVALID_OUTPUT.code
    } else {
        example.error.as_deref().unwrap_or("ok")
    };
    if code != expected {
        let said = outcome.result.as_ref().err().map(|failure| failure.message.as_str());
        let said = said.map(|said| format!(" ({said})")).unwrap_or_default();
        return Some(format!("expected `{expected}`, got `{code}`{said}"));
    }
    let (Ok(output), Some(shown)) = (&outcome.result, &example.output) else { return None };
    let got: Value = serde_json::from_str(output.json.get()).unwrap_or_default();
    // To JSON Schema `2` and `2.0` are the same.
    let schema = Schema::compile(&json!({ "const": shown }));
    let is_same = schema.is_ok_and(|schema| schema.is_valid(&got));
    (!is_same).then(|| format!("expected the output {shown}, got {got}"))
}

/// A provider with a fixed output.
pub struct FixedOutput(pub Value);

impl Provider for FixedOutput {
    fn run<'a>(&'a self, _: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async { Ok(ToolOutput::new(self.0.clone())) })
    }
}
