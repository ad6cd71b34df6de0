//! The question back to the person. It is written from the contract of the tool that the model would use; no word
//! of it is the model's.

use serde_json::Value;

use super::{
    PlanRefusal,
    arguments::{QuestionValues, SchemaView},
    on_one_line, shown,
};
use crate::{
    candidates::{Candidate, Candidates, first_sentence},
    shortlist,
    text::visible,
};

/// The most tools that are named where none was chosen.
const MAX_TOOLS: usize = 20;
/// The most fields that are listed.
const MAX_FIELDS: usize = 20;
/// The most of a field's description that is repeated, in characters.
const MAX_DESCRIPTION_CHARACTERS: usize = 200;

/// The question back: the required fields of the tool that the question does not give, with their descriptions. Where no
/// tool was named, the tools that there are.
pub fn clarify(
    tool: Option<&str>,
    candidates: &Candidates,
    question: &str,
) -> Result<String, PlanRefusal> {
    match tool {
        Some(name) => candidates.named(name).map(|candidate| missing_fields(candidate, question)),
        None => Ok(known_tools(candidates)),
    }
}

fn known_tools(candidates: &Candidates) -> String {
    let visible = &candidates.visible;
    let mut names: Vec<String> = visible.iter().take(MAX_TOOLS).map(Candidate::path).collect();
    if visible.len() > MAX_TOOLS {
        names.push("…".into());
    }
    format!(
        "No tool fits the question as it is. Say what to look up, and name its id, path or address. The tools are: {}.",
        names.join(", ")
    )
}

fn missing_fields(candidate: &Candidate, question: &str) -> String {
    let root = SchemaView::root(candidate.tool.input.source());
    let values = QuestionValues::new(question);
    let views: Vec<_> = root.required().into_iter().map(|name| root.field(name).0).collect();
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

/// True if the question gives a value for a field, as far as the contract lets us tell.
fn is_given(view: &SchemaView, values: &QuestionValues, question: &str) -> bool {
    let is_said = |offered: &Value| match offered {
        Value::String(text) => values.has_text(text),
        other => values.has_number(&other.to_string()),
    };
    if view.offered().any(is_said) || view.is_search() || view.is_number() && values.has_numbers() {
        return true;
    }
    // An id that looks like the one in the description.
    let said = shortlist::shapes(question);
    view.descriptions().any(|description| !shortlist::shapes(description).is_disjoint(&said))
}

fn about(view: &SchemaView) -> String {
    let Some(description) = view.descriptions().next() else { return String::new() };
    let words = visible(first_sentence(description));
    let words = on_one_line(words.trim(), MAX_DESCRIPTION_CHARACTERS);
    if words.is_empty() { words } else { format!(": {words}") }
}
