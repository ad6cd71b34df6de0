//! The check of a plan against what may be called now, the whole of its schema, and the question.

use contract::Violation;
use gate::Tool;
use serde_json::{Map, Value};

use super::{MAX_ANSWER_CHARACTERS, Plan, Refused, arguments, asking_back, shown};
use crate::candidates::{Candidate, Candidates};

/// The tool that a plan calls, nothing where it asks back, or what is wrong with it. Where the person has given the arguments, there
/// is no question to hold them against.
pub fn check<'a>(
    plan: &Plan,
    candidates: &'a Candidates,
    question: Option<&str>,
) -> Result<Option<&'a Candidate>, Refused> {
    match plan {
        Plan::CallTool { server, tool, args } => {
            let candidate = candidates.find(server, tool)?;
            fits(&candidate.tool, tool, args)?;
            if let Some(question) = question {
                let strange = arguments::strange(candidate.tool.input.source(), args, question);
                strange.map_or(Ok(()), |words| Err(Refused::Invalid(words)))?;
            }
            Ok(Some(candidate))
        }
        Plan::FinalAnswer { answer, .. } => {
            asks(answer, candidates, question.unwrap_or_default())?;
            Ok(None)
        }
    }
}

/// The arguments match the schema, defaults filled in, as the gate will see them.
fn fits(tool: &Tool, name: &str, args: &Map<String, Value>) -> Result<(), Refused> {
    let mut input = Value::Object(args.clone());
    tool.input.fill_defaults(&mut input);
    if tool.input.is_valid(&input) {
        return Ok(());
    }
    let words: Vec<_> =
        tool.input.violations(&input).iter().map(|one| said(one, name, &input)).collect();
    Err(Refused::Invalid(words.join("; ")))
}

/// A violation in the words for plans.
fn said(violation: &Violation, tool: &str, input: &Value) -> String {
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

/// A question back is no place for facts: what only a source can know does not stand in it.
fn asks(answer: &str, candidates: &Candidates, question: &str) -> Result<(), Refused> {
    if answer.chars().count() > MAX_ANSWER_CHARACTERS {
        let words = format!("the answer has more than {MAX_ANSWER_CHARACTERS} characters");
        return Err(Refused::Invalid(words));
    }
    if answer.chars().any(|one| one.is_control() && one != '\n') {
        return Err(Refused::Invalid("the answer holds control characters".into()));
    }
    if let Some(sentence) = asking_back::stating(answer) {
        return Err(Refused::Invalid(format!(
            "final_answer only asks for what is missing, and states nothing: '{}'",
            shown(&sentence)
        )));
    }
    match arguments::strange_answer(answer, question, &|token| candidates.knows(token)) {
        Some(token) => Err(Refused::Invalid(format!(
            "final_answer only asks for what is missing: '{}' is not in the question",
            shown(&token)
        ))),
        None => Ok(()),
    }
}
