//! The check of a planned call against the tools that may be called now, their schemas, and the question.

use contract::Violation;
use gate::Tool;
use serde_json::{Map, Value};

use super::{PlanRefusal, PlannedCall, arguments};
use crate::candidates::{Candidate, Candidates};

/// Checks a call. Where the person has given the arguments, there is no question to hold them against.
pub fn check<'a>(
    call: &PlannedCall,
    candidates: &'a Candidates,
    question: Option<&str>,
) -> Result<&'a Candidate, PlanRefusal> {
    let candidate = candidates.find(&call.server, &call.tool)?;
    fits(&candidate.tool, &call.tool, &call.args)?;
    if let Some(question) = question {
        arguments::check(candidate.tool.input.source(), &call.args, question)
            .map_err(PlanRefusal::Invalid)?;
    }
    Ok(candidate)
}

/// The arguments match the schema, defaults filled in, as the gate will see them.
fn fits(tool: &Tool, name: &str, args: &Map<String, Value>) -> Result<(), PlanRefusal> {
    let mut input = Value::Object(args.clone());
    tool.input.fill_defaults(&mut input);
    if tool.input.is_valid(&input) {
        return Ok(());
    }
    let words: Vec<_> =
        tool.input.violations(&input).iter().map(|one| describe(one, name, &input)).collect();
    Err(PlanRefusal::Invalid(words.join("; ")))
}

/// A violation in the words for plans.
fn describe(violation: &Violation, tool: &str, input: &Value) -> String {
    let Some(name) = violation.pointer.strip_prefix('/') else { return violation.to_string() };
    match violation.keyword.as_str() {
        "required" => format!("Missing required arg '{name}' for tool '{tool}'"),
        "additionalProperties" | "unevaluatedProperties" => {
            format!("Unexpected arg '{name}' for tool '{tool}'")
        }
        "type" => {
            let got = input.pointer(&violation.pointer).map_or("nothing", contract::json::kind);
            format!("Arg '{name}' {}, got '{got}'", violation.message)
        }
        _ => format!("Arg '{name}' {}", violation.message),
    }
}
