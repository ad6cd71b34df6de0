//! The prompt of a model.

use serde_json::{Map, Value, json};

/// A prompt: the task, its text, and the bounds of the answer.
#[derive(Debug, Clone, Default)]
pub struct ChatPrompt {
    /// The task.
    pub system: String,
    /// The text to work on.
    pub user: String,
    /// The freedom of its choice of words; 0 where the same question should get the same answer.
    pub temperature: Option<f32>,
    /// The most tokens that it may write.
    pub max_tokens: Option<u32>,
    /// The form of its answer, where the endpoint can enforce one.
    pub response_format: Option<Value>,
}

impl ChatPrompt {
    /// A question without bounds.
    pub fn new(system: impl Into<String>, user: impl Into<String>) -> Self {
        Self { system: system.into(), user: user.into(), ..Self::default() }
    }

    /// As it is sent.
    pub(crate) fn body(&self, model: Option<&str>, stream: bool) -> String {
        let mut body = Map::new();
        let mut set = |name: &str, value: Value| {
            body.insert(name.to_owned(), value);
        };
        if let Some(model) = model {
            set("model", json!(model));
        }
        let mut messages = Vec::new();
        if !self.system.is_empty() {
            messages.push(json!({ "role": "system", "content": self.system }));
        }
        messages.push(json!({ "role": "user", "content": self.user }));
        set("messages", Value::Array(messages));
        if let Some(temperature) = self.temperature {
            set("temperature", json!(temperature));
        }
        if let Some(max_tokens) = self.max_tokens {
            set("max_tokens", json!(max_tokens));
        }
        if let Some(format) = &self.response_format {
            set("response_format", format.clone());
        }
        set("stream", json!(stream));
        Value::Object(body).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_set_is_sent() {
        let mut question = ChatPrompt::new("", "Hi");
        let check = |question: &ChatPrompt, model, stream, expected: Value| {
            let body: Value = serde_json::from_str(&question.body(model, stream)).unwrap();
            assert_eq!(body, expected);
        };
        let user = json!({ "role": "user", "content": "Hi" });
        check(&question, None, false, json!({ "messages": [user], "stream": false }));
        question.system = "Be brief.".into();
        question.temperature = Some(0.0);
        question.max_tokens = Some(5);
        question.response_format = Some(json!({ "type": "json_object" }));
        let expected = json!({
            "model": "m",
            "messages": [{ "role": "system", "content": "Be brief." }, user],
            "temperature": 0.0,
            "max_tokens": 5,
            "response_format": { "type": "json_object" },
            "stream": true,
        });
        check(&question, Some("m"), true, expected);
    }
}
