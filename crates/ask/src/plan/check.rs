//! The check of a plan against the tools that may be called now, their schemas, and the question.

use contract::Violation;
use gate::Tool;
use serde_json::{Map, Value};

use super::{Plan, PlanRefusal, arguments, clarification};
use crate::candidates::{Candidate, Candidates};

/// A plan that may be carried out.
pub enum CheckedPlan<'a> {
    /// This tool is called.
    Call(&'a Candidate),
    /// The person is asked this.
    Clarify(String),
}

/// Checks a plan. Where the person has given the arguments, there is no question to hold them against.
pub fn check<'a>(
    plan: &Plan,
    candidates: &'a Candidates,
    question: Option<&str>,
) -> Result<CheckedPlan<'a>, PlanRefusal> {
    match plan {
        Plan::CallTool { server, tool, args } => {
            let candidate = candidates.find(server, tool)?;
            fits(&candidate.tool, tool, args)?;
            if let Some(question) = question {
                arguments::check(candidate.tool.input.source(), args, question)
                    .map_err(PlanRefusal::Invalid)?;
            }
            Ok(CheckedPlan::Call(candidate))
        }
        Plan::FinalAnswer { tool, .. } => {
            let named = tool.as_ref().map(|name| candidates.named(name)).transpose()?;
            let text = clarification::text(named, candidates, question.unwrap_or_default());
            Ok(CheckedPlan::Clarify(text))
        }
    }
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
