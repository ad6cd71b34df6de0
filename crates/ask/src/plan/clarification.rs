//! The question back to the person. It is written from the contract of the tool that the model would use; no word
//! of it is the model's.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    arguments::{QuestionValues, SchemaBudget, SchemaView},
    shown,
};
use crate::{
    candidates::{Candidate, Candidates, first_sentence},
    shortlist,
    text::visible,
};

/// How many tools are named where none was chosen.
const MAX_TOOLS: usize = 20;
/// How many fields are listed.
const MAX_FIELDS: usize = 20;
/// How much of a field's description is repeated, in characters.
const MAX_DESCRIPTION_CHARACTERS: usize = 200;

/// The question back: the required fields of the tool that the question does not give, with their descriptions. Where no
/// tool was named, the tools that there are.
pub(super) fn text(chosen: Option<&Candidate>, candidates: &Candidates, question: &str) -> String {
    let Some(candidate) = chosen else {
        let path = |one: &Candidate| format!("{}.{}", one.server, one.name);
        let mut names: Vec<String> =
            candidates.visible().iter().take(MAX_TOOLS).map(path).collect();
        if candidates.visible().len() > MAX_TOOLS {
            names.push("…".into());
        }
        return format!(
            "No tool fits the question as it is. Say what to look up, and name its id, path or address. The tools are: {}.",
            names.join(", ")
        );
    };
    let mut budget = SchemaBudget::default();
    let root = SchemaView::root(candidate.tool.input.source(), &mut budget);
    let values = QuestionValues::new(question);
    let required = root.required();
    let views: Vec<_> = required.into_iter().map(|name| root.field(name, &mut budget).0).collect();
    let wanted = views.iter().filter(|view| !view.is_settled());
    let missing: Vec<_> =
        wanted.clone().filter(|view| !is_given(view, &values, question)).collect();
    // The model thinks that something is missing: then it may be any of them.
    let listed = if missing.is_empty() { wanted.collect() } else { missing };
    let tool = format!("{}.{}", shown(&candidate.server), shown(&candidate.name));
    if listed.is_empty() {
        return format!(
            "`{tool}` could be called, and needs nothing more. Say in the question that it is meant."
        );
    }
    let mut text = format!("To call `{tool}`, say in the question:");
    for view in listed.into_iter().take(MAX_FIELDS) {
        text.push_str(&format!("\n- {}{}", shown(view.name), about(view)));
    }
    text
}

/// Whether the question gives a value for a field, as far as the contract lets us tell.
fn is_given(view: &SchemaView, values: &QuestionValues, question: &str) -> bool {
    let is_said = |offered: &Value| match offered {
        Value::String(text) => values.has_text(text),
        other => values.has_number(&other.to_string()),
    };
    if view.offered().any(is_said) || view.is_search() || view.is_number() && values.has_numbers() {
        return true;
    }
    // An id that looks like the one in the description.
    let said = shapes(question);
    view.descriptions().any(|description| !shapes(description).is_disjoint(&said))
}

/// The ids of a text by their shapes, such as `policy-0` for `policy-002`.
fn shapes(text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    shortlist::each_shape(text, &mut |shape| {
        found.insert(shape.to_owned());
    });
    found
}

fn about(view: &SchemaView) -> String {
    let Some(description) = view.descriptions().next() else { return String::new() };
    let plain = |one: char| if one.is_control() { ' ' } else { one };
    let words: String = visible(first_sentence(description)).chars().map(plain).collect();
    let words: String = words.trim().chars().take(MAX_DESCRIPTION_CHARACTERS).collect();
    if words.is_empty() { words } else { format!(": {words}") }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use contract::Limits;
    use gate::{BoxFuture, Catalogue, Provider, RunningCall, Tool, ToolError};
    use serde_json::json;

    use super::*;

    struct NoProvider;

    impl Provider for NoProvider {
        fn run<'a>(
            &'a self,
            _: &'a RunningCall,
        ) -> BoxFuture<'a, Result<gate::ToolOutput, ToolError>> {
            Box::pin(async { Ok(gate::ToolOutput::default()) })
        }
    }

    fn tool(server: &str, name: &str, input: &Value) -> Arc<Tool> {
        let contract = json!({
            "name": format!("{server}__{name}"),
            "description": "A tool.",
            "version": "1",
            "stability": "stable",
            "toolset": server,
            "effects": "read",
            "input_schema": input,
            "output_schema": { "type": "object" },
        });
        let contract = serde_json::from_value(contract).unwrap();
        Arc::new(Tool::new(contract, Arc::new(NoProvider), &Limits::default()).unwrap())
    }

    fn candidates() -> Candidates {
        let ticket = json!({
            "type": "object",
            "properties": {
                "ticket_id": { "type": "string", "description": "The id of a ticket, as in INC12345. Never anything else." },
                "state": { "enum": ["open", "closed"], "description": "The state\u{1b}[2J." },
                "depth": { "type": "integer", "description": "How deep." },
                "format": { "type": "string", "default": "text" },
            },
            "required": ["ticket_id", "state", "depth", "format"],
        });
        let search = json!({
            "type": "object",
            "properties": { "query": { "type": "string", "description": "Words." } },
            "required": ["query"],
        });
        let tools = vec![tool("desk", "get", &ticket), tool("desk", "search", &search)];
        Candidates::new(Arc::new(Catalogue::of(tools, std::collections::HashMap::new())), &[])
    }

    #[track_caller]
    fn check(name: Option<&str>, question: &str, expected: &str) {
        let candidates = candidates();
        let named = name.map(|name| candidates.named(name).unwrap());
        assert_eq!(text(named, &candidates, question), expected, "{question}");
    }

    #[test]
    fn lists_the_required_fields_that_the_question_does_not_give() {
        check(
            Some("desk.get"),
            "show the ticket",
            "To call `desk.get`, say in the question:\n- ticket_id: The id of a ticket, as in INC12345.\n- state: The state[2J.\n- depth: How deep.",
        );
        check(
            Some("desk.get"),
            "show INC77 if it is open",
            "To call `desk.get`, say in the question:\n- depth: How deep.",
        );
        check(
            Some("desk.search"),
            "find something",
            "To call `desk.search`, say in the question:\n- query: Words.",
        );
        check(
            None,
            "hello",
            "No tool fits the question as it is. Say what to look up, and name its id, path or address. The tools are: desk.get, desk.search.",
        );
    }
}
