//! Input requests in the data, and as the gate has them.

use std::collections::BTreeMap;

use gate::{InputRequest, InputRequests};
use serde::Deserialize;
use serde_json::Value;

use crate::template;

/// A question.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FixtureQuestion {
    /// To the person: a form.
    Form { message: String, schema: Value },
    /// To the model: the parameters of `sampling/createMessage`.
    Sampling(Value),
    /// To the client: its folders.
    Roots,
}

impl FixtureQuestion {
    fn question(&self, scope: &Value) -> InputRequest {
        match self {
            FixtureQuestion::Form { message, schema } => {
                InputRequest::form(&template::fill(message, scope), schema)
            }
            FixtureQuestion::Sampling(parameters) => {
                InputRequest::sampling(template::render(parameters, scope))
            }
            FixtureQuestion::Roots => InputRequest::roots(),
        }
    }
}

/// The questions, with the places in their texts filled.
pub fn questions(asked: &BTreeMap<String, FixtureQuestion>, scope: &Value) -> InputRequests {
    asked.iter().map(|(name, asked)| (name.clone(), asked.question(scope))).collect()
}
