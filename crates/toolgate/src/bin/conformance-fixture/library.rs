//! The prompts and resources of the fixture.

use std::sync::Arc;

use anyhow::Context;
use contract::{Effects, Limits, codes};
use gate::{BoxFuture, InputRequests, Provider, RunningCall, Tool, ToolError, ToolOutput};
use serde_json::{Map, Value, json};
use server::mcp::{CompletionRequest, Library, LibraryCall, LibraryError};
use tokio::sync::watch;
use upstream::methods::UpstreamMethod;

use crate::{
    data::{CompletionData, PromptData},
    questions::questions,
    shared::SharedFixture,
    template, uri,
};

/// The toolset of what the library calls.
const TOOLSET: &str = "library";

/// The prompts and resources of the data.
pub struct FixtureLibrary(pub Arc<SharedFixture>);

/// The unlisted tools that the library calls.
pub fn tools(shared: &Arc<SharedFixture>) -> anyhow::Result<Vec<Arc<Tool>>> {
    let tools = UpstreamMethod::ALL.into_iter().map(|method| {
        let library = FixtureLibrary(shared.clone());
        let contract = method.contract(TOOLSET, Effects::None);
        let tool =
            Tool::new(contract, Arc::new(LibraryTool { library, method }), &Limits::default());
        tool.map(Arc::new).with_context(|| format!("the contract of `{}`", method.as_str()))
    });
    tools.collect()
}

/// Runs one method.
struct LibraryTool {
    library: FixtureLibrary,
    method: UpstreamMethod,
}

impl LibraryTool {
    fn output(&self, call: &RunningCall) -> Result<Value, ToolError> {
        let input = &call.input;
        match self.method {
            UpstreamMethod::ReadResource => {
                let contents = self.library.contents(call.text("uri"));
                Ok(json!({ "contents": contents.ok_or_else(missing_resource)? }))
            }
            UpstreamMethod::GetPrompt => {
                let arguments = input["arguments"].as_object().cloned().unwrap_or_default();
                match self.library.get(call.text("name"), &arguments, call.replies())? {
                    FixturePrompt::Ready(prompt) => Ok(prompt),
                    FixturePrompt::Asks(questions) => Err(ToolError::asks(questions)),
                }
            }
            UpstreamMethod::Complete => {
                let completion = self.library.completion(&input["ref"], &input["argument"]);
                Ok(json!({ "completion": completion }))
            }
        }
    }
}

impl Provider for LibraryTool {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.output(call).map(ToolOutput::new) })
    }
}

fn missing_resource() -> ToolError {
    ToolError::new(codes::NOT_FOUND.code, "there is no such resource")
}

/// A prompt, or what it asks first.
#[derive(Debug)]
enum FixturePrompt {
    Ready(Value),
    Asks(InputRequests),
}

impl FixtureLibrary {
    fn find(&self, name: &str) -> Option<&PromptData> {
        self.0.fixture.prompts.iter().find(|one| one.prompt["name"] == name)
    }

    fn get(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        replies: &Map<String, Value>,
    ) -> Result<FixturePrompt, ToolError> {
        let data = self.find(name).ok_or_else(missing_resource)?;
        if let Some(missing) = missing(&data.prompt, arguments) {
            return Err(ToolError::invalid_input(format!("the argument `{missing}` is missing")));
        }
        let scope = self.0.fixture.scope(arguments, replies);
        let mut open = questions(&data.ask, &scope);
        open.retain(|name, question| {
            !replies.get(name).is_some_and(|reply| question.accepts(reply))
        });
        if !open.is_empty() {
            return Ok(FixturePrompt::Asks(open));
        }
        let mut prompt = json!({ "messages": template::render(&data.messages, &scope) });
        if let Some(description) = data.prompt.get("description") {
            prompt["description"] = description.clone();
        }
        Ok(FixturePrompt::Ready(prompt))
    }

    fn contents(&self, uri: &str) -> Option<Value> {
        let fixture = &self.0.fixture;
        if let Some(found) = fixture.resources.iter().find(|one| one.resource["uri"] == uri) {
            return Some(template::render(&found.contents, &fixture.scope(&(), &Map::new())));
        }
        for family in &fixture.templates {
            let pattern = family.template["uriTemplate"].as_str().unwrap_or_default();
            if let Some(mut variables) = uri::variables(pattern, uri) {
                variables.insert("uri".into(), uri.into());
                let scope = fixture.scope(&variables, &Map::new());
                return Some(template::render(&family.contents, &scope));
            }
        }
        None
    }

    fn completions(&self, reference: &Value) -> Option<&CompletionData> {
        let fixture = &self.0.fixture;
        let text = |key: &str| reference.get(key).and_then(Value::as_str);
        match text("type")? {
            "ref/prompt" => Some(&self.find(text("name")?)?.completions),
            "ref/resource" => {
                let uri = text("uri")?;
                let mut families = fixture.templates.iter();
                let found = families.find(|one| one.template["uriTemplate"] == uri)?;
                Some(&found.completions)
            }
            _ => None,
        }
    }

    fn completion(&self, reference: &Value, argument: &Value) -> Value {
        let text = |key: &str| argument.get(key).and_then(Value::as_str).unwrap_or_default();
        let known = self.completions(reference).and_then(|known| known.get(text("name")));
        let values: Vec<_> = known
            .into_iter()
            .flatten()
            .filter(|candidate| candidate.starts_with(text("value")))
            .collect();
        json!({ "values": values, "total": values.len(), "hasMore": false })
    }
}

impl Library for FixtureLibrary {
    fn prompts(&self) -> Vec<Value> {
        self.0.fixture.prompts.iter().map(|one| one.prompt.clone()).collect()
    }

    fn prompt(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<LibraryCall, LibraryError> {
        Ok(call(UpstreamMethod::GetPrompt, json!({ "name": name, "arguments": arguments })))
    }

    fn resources(&self) -> Vec<Value> {
        self.0.fixture.resources.iter().map(|one| one.resource.clone()).collect()
    }

    fn templates(&self) -> Vec<Value> {
        self.0.fixture.templates.iter().map(|one| one.template.clone()).collect()
    }

    fn read(&self, uri: &str) -> Result<LibraryCall, LibraryError> {
        Ok(call(UpstreamMethod::ReadResource, json!({ "uri": uri })))
    }

    fn complete(&self, given: &CompletionRequest) -> Result<LibraryCall, LibraryError> {
        let input = json!({ "ref": given.reference, "argument": given.argument });
        Ok(call(UpstreamMethod::Complete, input))
    }

    fn prompt_changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.0.prompt_changes())
    }
}

fn call(method: UpstreamMethod, input: Value) -> LibraryCall {
    LibraryCall { tool: method.tool_name(TOOLSET), input }
}

/// A required argument that is not there.
fn missing<'a>(prompt: &'a Value, arguments: &Map<String, Value>) -> Option<&'a str> {
    let declared = prompt["arguments"].as_array().into_iter().flatten();
    declared
        .filter(|one| one["required"] == true)
        .filter_map(|one| one["name"].as_str())
        .find(|name| !arguments.contains_key(*name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Fixture;

    fn library() -> FixtureLibrary {
        FixtureLibrary(SharedFixture::new(Fixture::load().unwrap()))
    }

    #[test]
    fn a_prompt_is_filled_with_its_arguments() {
        let arguments = json!({ "arg1": "one", "arg2": "two" });
        let get = |arguments: &Map<String, Value>| {
            library().get("test_prompt_with_arguments", arguments, &Map::new())
        };
        let Ok(FixturePrompt::Ready(got)) = get(arguments.as_object().unwrap()) else { panic!() };
        let text = &got["messages"][0]["content"]["text"];
        assert_eq!(text, "Prompt with arguments: arg1='one', arg2='two'");
        assert_eq!(get(&Map::new()).unwrap_err().code, codes::INVALID_INPUT.code);
    }

    #[test]
    fn a_prompt_asks_until_it_is_answered() {
        let get = |replies: Value| {
            let replies = replies.as_object().unwrap();
            library().get("test_input_required_result_prompt", &Map::new(), replies)
        };
        for unanswered in [json!({}), json!({ "user_context": 5 }), json!({ "other": {} })] {
            assert!(matches!(get(unanswered), Ok(FixturePrompt::Asks(open)) if open.len() == 1));
        }
        let reply = json!({ "action": "accept", "content": { "context": "a test" } });
        let got = get(json!({ "user_context": reply }));
        let Ok(FixturePrompt::Ready(got)) = got else { panic!() };
        assert_eq!(got["messages"][0]["content"]["text"], "Context: a test");
    }

    #[test]
    fn resources_are_found_by_name_and_by_template() {
        let library = library();
        for resource in library.resources() {
            let uri = resource["uri"].as_str().unwrap();
            assert_eq!(library.contents(uri).unwrap()[0]["uri"], uri);
        }
        let contents = library.contents("test://template/123/data").unwrap();
        assert_eq!(contents[0]["uri"], "test://template/123/data");
        let text = contents[0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap()["id"], "123");
        assert_eq!(library.contents("test://nothing"), None);
    }

    #[test]
    fn completes_what_was_begun() {
        let reference = json!({ "type": "ref/prompt", "name": "test_prompt_with_arguments" });
        let complete = |value: &str| {
            let argument = json!({ "name": "arg1", "value": value });
            library().completion(&reference, &argument)["values"].clone()
        };
        assert_eq!(complete("par"), json!(["paris", "park", "party"]));
        assert_eq!(complete("no such"), json!([]));
    }
}
