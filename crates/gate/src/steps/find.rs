//! Step 1 of 9: find the tool.

use std::sync::{Arc, atomic::Ordering};

use contract::codes;
use serde_json::{Value, json};

use super::{CallRefusal, CallState};
use crate::{Call, Catalogue, Door, Failure, Tool, catalogue::Toolset};

/// A tool that is served.
pub(crate) struct FoundTool(Arc<Tool>);

impl FoundTool {
    pub(super) fn into_tool(self) -> Arc<Tool> {
        self.0
    }
}

impl CallState {
    pub(crate) async fn find(&mut self) -> Result<FoundTool, CallRefusal> {
        let mut found = find_tool(&self.gate.catalogue(), &mut self.call);
        if found.is_err() && self.gate.is_starting() {
            // It may be a tool of an upstream that is not there yet.
            Box::pin(self.wait_for_start()).await;
            found = find_tool(&self.gate.catalogue(), &mut self.call);
        }
        let tool = found.inspect_err(|failure| {
            let metrics = &self.gate.metrics;
            let counter = match failure.code.as_ref() {
                code if code == codes::UNKNOWN_TOOL.code => &metrics.unknown_tool,
                // The tool is there: the call means another one, or does not say which.
                code if code == codes::CONFLICT.code || code == codes::INVALID_REQUEST.code => {
                    return;
                }
                _ => &metrics.withheld_tool,
            };
            counter.fetch_add(1, Ordering::Relaxed);
        })?;
        self.limits = tool.limits.with(&self.call.limits);
        self.tool = Some(tool.clone());
        Ok(FoundTool(tool))
    }

    async fn wait_for_start(&self) {
        tokio::select! {
            () = self.gate.started() => {}
            () = self.call.stop.cancelled() => {}
            () = self.gate.halt.cancelled() => {}
        }
    }
}

/// The tool that a call means. A call that names a toolset names its tool from here on.
pub(crate) fn find_tool(catalogue: &Catalogue, call: &mut Call) -> Result<Arc<Tool>, Failure> {
    let scope = call.toolset.as_deref();
    let mut found = if call.unlisted {
        catalogue.find_unlisted(&call.tool, scope)
    } else if matches!(call.door, Door::McpHttp | Door::McpStdio) {
        catalogue.find_spelled(&call.tool, scope)
    } else {
        catalogue.find_in(&call.tool, scope)
    };
    // A tool that is withheld is not taken for a toolset of the same name.
    if found.is_none()
        && call.or_toolset
        && !catalogue.is_withheld(&call.tool)
        && let Some(toolset) = catalogue.toolset(&call.tool)
    {
        let name = pick(&call.tool, toolset, &mut call.input)?;
        found = catalogue.find_in(&name, scope);
        call.tool = name;
    }
    let tool = found.ok_or_else(|| catalogue.unknown(&call.tool, scope))?;
    if call.expected.as_ref().is_some_and(|expected| !expected.promises(tool)) {
        let message = "another tool has taken this name since it was chosen";
        return Err(Failure::new(codes::CONFLICT, message));
    }
    let tool = tool.clone();
    // From here on it has the name of its contract, however it was spelled.
    call.tool.clone_from(&tool.contract.name);
    Ok(tool)
}

/// The tool of a toolset that the argument `command` picks, or its default tool.
fn pick(name: &str, toolset: &Toolset, input: &mut Value) -> Result<String, Failure> {
    let refuse = |code, message: String| {
        Err(Failure::new(code, message).details(json!({ "commands": toolset.tools })))
    };
    let commands = toolset.tools.join(", ");
    match (input.get("command"), &toolset.default) {
        (Some(Value::String(command)), _) if toolset.tools.contains(command) => {
            let command = command.clone();
            if let Value::Object(input) = input {
                input.remove("command");
            }
            Ok(command)
        }
        (Some(Value::String(command)), _) => {
            let shown: String = command.chars().take(64).collect();
            let message = format!("`{name}` has no command `{shown}`; it has {commands}");
            refuse(codes::UNKNOWN_TOOL, message)
        }
        (Some(_), _) => refuse(codes::INVALID_REQUEST, "`command` must be a string".into()),
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => {
            let message = format!("`command` is required: one of {commands}");
            refuse(codes::INVALID_REQUEST, message)
        }
    }
}
