//! The strict reading: exactly one JSON object, of one of two forms, and nothing around it.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{NO_TOOL, Plan, PlanRefusal, PlannedCall};
use crate::{strict_json, text::visible};

/// A call as a model writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall {
    server: String,
    tool: String,
    args: Value,
}

/// A question back as a model writes it. What it would say itself is read for its form, and never shown.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAnswer {
    answer: Option<String>,
    server: Option<String>,
    tool: Option<String>,
    needs_more_info: Option<Value>,
}

/// The plan that a text is, if it is nothing else.
pub fn read(text: &str) -> Result<Plan, PlanRefusal> {
    let mut plan: Map<_, _> = strict_json::read(text).map_err(PlanRefusal::Rejected)?;
    match plan.remove("type").as_ref().and_then(Value::as_str) {
        Some("call_tool") => {
            let WrittenCall { server, tool, args } = of_form(plan)?;
            let Value::Object(args) = args else { return Err(invalid("args must be an object")) };
            Ok(Plan::CallTool(PlannedCall { server, tool, args }))
        }
        Some("final_answer") => {
            let WrittenAnswer { answer, server, tool, needs_more_info } = of_form(plan)?;
            if needs_more_info != Some(Value::Bool(true)) {
                return Err(invalid(
                    "final_answer requires needs_more_info=true: it only asks for what is missing",
                ));
            }
            let is_blank = |words: &String| visible(words).trim().is_empty();
            if answer.as_ref().or(tool.as_ref()).is_none_or(is_blank) {
                return Err(invalid(
                    "final_answer requires a tool, or an answer that is not empty",
                ));
            }
            let tool = tool.filter(|name| name != NO_TOOL);
            let tool = match (server, tool) {
                (Some(server), Some(tool)) => Some(format!("{server}.{tool}")),
                (_, tool) => tool,
            };
            Ok(Plan::FinalAnswer { answer: String::new(), tool, needs_more_info: true })
        }
        _ => Err(invalid("Plan.type must be call_tool or final_answer")),
    }
}

fn of_form<T: DeserializeOwned>(plan: Map<String, Value>) -> Result<T, PlanRefusal> {
    strict_json::object(Value::Object(plan)).map_err(PlanRefusal::Rejected)
}

fn invalid(words: &str) -> PlanRefusal {
    PlanRefusal::Invalid(words.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CALL: &str = r#"{"type":"call_tool","server":"s","tool":"t","args":{"a":1}}"#;
    const BACK: &str = r#"{"type":"final_answer","answer":"Which?","needs_more_info":true}"#;

    #[test]
    fn one_object_with_nothing_but_space_around_it_is_a_plan() {
        let args = Map::from_iter([("a".into(), json!(1))]);
        let call = PlannedCall { server: "s".into(), tool: "t".into(), args };
        let expected = Plan::CallTool(call);
        assert_eq!(read(&format!("\n  {CALL}\t\r\n")), Ok(expected.clone()));
        assert_eq!(json!(expected), serde_json::from_str::<Value>(CALL).unwrap());
        // What a model would say is not even kept.
        for (fields, tool) in [
            (r#""answer":"Which?""#, None),
            (r#""tool":"s.t""#, Some("s.t")),
            (r#""server":"s","tool":"t""#, Some("s.t")),
            (r#""tool":"none""#, None),
        ] {
            let tool = tool.map(str::to_owned);
            let expected = Plan::FinalAnswer { answer: String::new(), tool, needs_more_info: true };
            let asks = BACK.replace(r#""answer":"Which?""#, fields);
            assert_eq!(read(&asks), Ok(expected), "{asks}");
        }
    }

    /// Words around a plan and values that are no object are among the acceptance cases.
    #[test]
    fn everything_else_is_none() {
        let not_one = "Planner output rejected: it is not exactly one JSON object";
        for text in [
            "",
            "{",
            "NaN",
            &CALL[..30],
            &format!("{CALL}{CALL}"),
            &format!("{CALL} {{}}"),
            r#"{"type":"call_tool","server":"s","tool":"t","args":{"a":NaN}}"#,
            r#"{"type":"call_tool","type":"call_tool","server":"s","tool":"t","args":{}}"#,
            r#"{"type":"call_tool","server":"s","tool":"t","args":{"a":1,"\u0061":2}}"#,
            r#"{"type":"call_tool","server":"s","tool":"t","args":{"a":1e999}}"#,
            &format!("\u{feff}{CALL}"),
            &"[".repeat(100_000),
        ] {
            refuses(text, not_one);
        }
        for blank in ["", " ", "\u{200b}", " \u{2060}\u{a0}"] {
            refuses(&BACK.replace("Which?", blank), "an answer that is not empty");
        }
        for (text, expected) in [
            (&*format!("[{CALL}]"), "it must be an object and is of type array"),
            ("{}", "Plan validation failed: Plan.type must be call_tool or final_answer"),
            (&CALL.replace("call_tool", "call"), "Plan.type must be"),
            (r#"{"type":7}"#, "Plan.type must be"),
            (&CALL.replace(r#""server":"s","#, ""), "rejected: missing field `server`"),
            (&CALL.replace(r#":"s""#, ":1"), "invalid type: integer `1`, expected a string"),
            (&CALL.replace(r#","args":{"a":1}"#, ""), "missing field `args`"),
            (&CALL.replace(r#"{"a":1}"#, "[]"), "failed: args must be an object"),
            (&CALL.replace(r#","args""#, r#","x":1,"args""#), "rejected: unknown field `x`"),
            (&CALL.replace(r#","args""#, r#","answer":"","args""#), "unknown field `answer`"),
            (&BACK.replace("true", "false"), "requires needs_more_info=true"),
            (&BACK.replace(r#","needs_more_info":true"#, ""), "requires needs_more_info=true"),
            (&BACK.replace(r#""Which?""#, "1"), "invalid type: integer `1`, expected a string"),
        ] {
            refuses(text, expected);
        }
    }

    #[track_caller]
    fn refuses(text: &str, expected: &str) {
        let refused = read(text).unwrap_err().to_string();
        assert!(refused.contains(expected), "{text:.60}: {refused}");
    }
}
