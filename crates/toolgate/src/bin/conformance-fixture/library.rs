//! The prompts and resources of the fixture.

use std::sync::Arc;

use gate::{BoxFuture, CallChannel};
use serde_json::{Map, Value, json};
use server::mcp::{CompletionRequest, Library, LibraryError};
use tokio::sync::watch;

use crate::{
    data::{CompletionData, PromptData},
    questions::questions,
    shared::SharedFixture,
    template, uri,
};

/// The prompts and resources of the data.
pub struct FixtureLibrary(pub Arc<SharedFixture>);

impl FixtureLibrary {
    fn find(&self, name: &str) -> Result<&PromptData, LibraryError> {
        let mut prompts = self.0.fixture.prompts.iter();
        prompts.find(|one| one.prompt["name"] == name).ok_or(LibraryError::Unknown)
    }

    fn get(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        channel: &CallChannel,
    ) -> Result<Value, LibraryError> {
        let data = self.find(name)?;
        if let Some(missing) = missing(&data.prompt, arguments) {
            return Err(LibraryError::Invalid(format!("the argument `{missing}` is missing")));
        }
        let scope = self.0.fixture.scope(arguments, &channel.replies);
        let mut open = questions(&data.ask, &scope);
        open.retain(|name, question| {
            !channel.replies.get(name).is_some_and(|reply| question.accepts(reply))
        });
        if !open.is_empty() {
            return Err(LibraryError::InputRequired(open));
        }
        Ok(json!({
            "description": data.prompt["description"],
            "messages": template::render(&data.messages, &scope),
        }))
    }

    fn contents(&self, uri: &str) -> Result<Value, LibraryError> {
        let fixture = &self.0.fixture;
        if let Some(found) = fixture.resources.iter().find(|one| one.resource["uri"] == uri) {
            return Ok(template::render(&found.contents, &fixture.scope(&(), &Map::new())));
        }
        for family in &fixture.templates {
            let pattern = family.template["uriTemplate"].as_str().unwrap_or_default();
            if let Some(mut variables) = uri::variables(pattern, uri) {
                variables.insert("uri".into(), uri.into());
                let scope = fixture.scope(&variables, &Map::new());
                return Ok(template::render(&family.contents, &scope));
            }
        }
        Err(LibraryError::Unknown)
    }

    fn completions(&self, reference: &Value) -> Option<&CompletionData> {
        let fixture = &self.0.fixture;
        let text = |key: &str| reference.get(key).and_then(Value::as_str);
        match text("type")? {
            "ref/prompt" => Some(&self.find(text("name")?).ok()?.completions),
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

    fn prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Map<String, Value>,
        channel: &'a CallChannel,
    ) -> BoxFuture<'a, Result<Value, LibraryError>> {
        Box::pin(async move { self.get(name, arguments, channel) })
    }

    fn resources(&self) -> Vec<Value> {
        self.0.fixture.resources.iter().map(|one| one.resource.clone()).collect()
    }

    fn templates(&self) -> Vec<Value> {
        self.0.fixture.templates.iter().map(|one| one.template.clone()).collect()
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Value, LibraryError>> {
        Box::pin(async move { self.contents(uri) })
    }

    fn complete<'a>(&'a self, given: &'a CompletionRequest) -> BoxFuture<'a, Value> {
        let completion = self.completion(&given.reference, &given.argument);
        Box::pin(std::future::ready(completion))
    }

    fn prompt_changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.0.prompt_changes())
    }
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
        let got = library().get(
            "test_prompt_with_arguments",
            arguments.as_object().unwrap(),
            &CallChannel::default(),
        );
        let text = &got.unwrap()["messages"][0]["content"]["text"];
        assert_eq!(text, "Prompt with arguments: arg1='one', arg2='two'");
        let got = library().get("test_prompt_with_arguments", &Map::new(), &CallChannel::default());
        assert!(matches!(got, Err(LibraryError::Invalid(_))));
    }

    #[test]
    fn a_prompt_asks_until_it_is_answered() {
        let get = |replies: Value| {
            let replies = replies.as_object().unwrap().clone();
            let channel = CallChannel { replies, ..CallChannel::default() };
            library().get("test_input_required_result_prompt", &Map::new(), &channel)
        };
        for unanswered in [json!({}), json!({ "user_context": 5 }), json!({ "other": {} })] {
            assert!(
                matches!(get(unanswered), Err(LibraryError::InputRequired(open)) if open.len() == 1)
            );
        }
        let reply = json!({ "action": "accept", "content": { "context": "a test" } });
        let got = get(json!({ "user_context": reply })).unwrap();
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
        assert!(matches!(library.contents("test://nothing"), Err(LibraryError::Unknown)));
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
