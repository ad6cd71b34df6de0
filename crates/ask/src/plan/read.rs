//! The strict reading: exactly one JSON object, of one of two forms, and nothing around it.

use contract::json;
use serde_json::{Map, Value};

use super::{NO_TOOL, Plan, PlanRefusal, PlannedCall, shown};

const CALL_KEYS: &[&str] = &["type", "server", "tool", "args"];
const ANSWER_KEYS: &[&str] = &["type", "answer", "server", "tool", "needs_more_info"];

/// The plan that a text is, if it is nothing else. A key twice, a second object, a fence or a word around it make it none.
pub fn read(text: &str) -> Result<Plan, PlanRefusal> {
    let value = json::parse(text.as_bytes())
        .map_err(|error| rejected(format!("it is not exactly one JSON object: {error}")))?;
    of(value)
}

pub fn of(value: Value) -> Result<Plan, PlanRefusal> {
    let mut object = match value {
        Value::Object(object) => object,
        other => {
            return Err(rejected(format!("it must be an object, not {}", kind(&other))));
        }
    };
    match object.get("type").and_then(Value::as_str) {
        Some("call_tool") => {
            only(&object, CALL_KEYS)?;
            let (server, tool) = (text(&mut object, "server")?, text(&mut object, "tool")?);
            match object.remove("args") {
                Some(Value::Object(args)) => Ok(Plan::CallTool(PlannedCall { server, tool, args })),
                Some(_) => Err(invalid("args must be an object")),
                None => Err(rejected("`args` is missing")),
            }
        }
        Some("final_answer") => {
            only(&object, ANSWER_KEYS)?;
            if object.get("needs_more_info") != Some(&Value::Bool(true)) {
                return Err(invalid(
                    "final_answer requires needs_more_info=true: it only asks for what is missing",
                ));
            }
            // What the model would say itself is read for its form, and never shown.
            let answer = optional_text(&mut object, "answer")?;
            let server = optional_text(&mut object, "server")?;
            let tool = optional_text(&mut object, "tool")?;
            if answer.as_ref().or(tool.as_ref()).is_none_or(|words| is_blank(words)) {
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

fn only(object: &Map<String, Value>, known: &[&str]) -> Result<(), PlanRefusal> {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(rejected(format!("`{}` is not a key of a plan", shown(key)))),
        None => Ok(()),
    }
}

fn text(object: &mut Map<String, Value>, key: &str) -> Result<String, PlanRefusal> {
    match object.remove(key) {
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(rejected(format!("`{key}` must be a string, not {}", kind(&other)))),
        None => Err(rejected(format!("`{key}` is missing"))),
    }
}

fn optional_text(
    object: &mut Map<String, Value>,
    key: &str,
) -> Result<Option<String>, PlanRefusal> {
    if object.contains_key(key) { text(object, key).map(Some) } else { Ok(None) }
}

fn is_blank(words: &str) -> bool {
    crate::text::visible(words).trim().is_empty()
}

fn kind(value: &Value) -> String {
    match json::kind(value) {
        "null" => "null".into(),
        word @ ("array" | "object" | "integer") => format!("an {word}"),
        word => format!("a {word}"),
    }
}

fn rejected(words: impl Into<String>) -> PlanRefusal {
    PlanRefusal::Rejected(words.into())
}

fn invalid(words: &str) -> PlanRefusal {
    PlanRefusal::Invalid(words.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CALL: &str = r#"{"type":"call_tool","server":"s","tool":"t","args":{"a":1}}"#;

    #[test]
    fn one_object_with_nothing_but_space_around_it_is_a_plan() {
        let args = Map::from_iter([("a".into(), json!(1))]);
        let call = PlannedCall { server: "s".into(), tool: "t".into(), args };
        let expected = Plan::CallTool(call);
        assert_eq!(read(CALL), Ok(expected.clone()));
        assert_eq!(read(&format!("\n  {CALL}\t\r\n")), Ok(expected.clone()));
        assert_eq!(json!(expected), serde_json::from_str::<Value>(CALL).unwrap());
        // What a model would say is not even kept.
        for (asks, tool) in [
            (r#"{"type":"final_answer","answer":" Which one? ","needs_more_info":true}"#, None),
            (r#"{"type":"final_answer","tool":"s.t","needs_more_info":true}"#, Some("s.t")),
            (
                r#"{"type":"final_answer","server":"s","tool":"t","needs_more_info":true}"#,
                Some("s.t"),
            ),
            (r#"{"type":"final_answer","tool":"none","needs_more_info":true}"#, None),
        ] {
            let tool = tool.map(str::to_owned);
            let expected = Plan::FinalAnswer { answer: String::new(), tool, needs_more_info: true };
            assert_eq!(read(asks), Ok(expected), "{asks}");
        }
    }

    #[test]
    fn everything_else_is_none() {
        let not_one = "Planner output rejected: it is not exactly one JSON object";
        for text in [
            "",
            "not json",
            "{",
            "NaN",
            &CALL[..30],
            &format!("Here: {CALL}"),
            &format!("{CALL}\nThanks!"),
            &format!("```json\n{CALL}\n```"),
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
            let answer =
                json!({ "type": "final_answer", "answer": blank, "needs_more_info": true });
            refuses(&answer.to_string(), "an answer that is not empty");
        }
        for (text, expected) in [
            (&*format!("[{CALL}]"), "it must be an object, not an array"),
            ("123", "not an integer"),
            ("null", "not null"),
            ("\"x\"", "not a string"),
            ("{}", "Plan validation failed: Plan.type must be call_tool or final_answer"),
            (&CALL.replace("call_tool", "call"), "Plan.type must be"),
            (r#"{"type":7}"#, "Plan.type must be"),
            (&CALL.replace(r#""server":"s","#, ""), "rejected: `server` is missing"),
            (&CALL.replace(r#":"s""#, ":1"), "`server` must be a string, not an integer"),
            (&CALL.replace(r#","args":{"a":1}"#, ""), "`args` is missing"),
            (&CALL.replace(r#"{"a":1}"#, "[]"), "failed: args must be an object"),
            (&CALL.replace(r#","args""#, r#","x":1,"args""#), "`x` is not a key of a plan"),
            (&CALL.replace(r#","args""#, r#","answer":"","args""#), "`answer` is not a key"),
            (
                r#"{"type":"final_answer","answer":"hello","needs_more_info":false}"#,
                "requires needs_more_info=true",
            ),
            (r#"{"type":"final_answer","answer":"hello"}"#, "requires needs_more_info=true"),
            (
                r#"{"type":"final_answer","answer":1,"needs_more_info":true}"#,
                "`answer` must be a string",
            ),
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
