//! A tool as it is listed: what can be said of it without calling it.

use contract::{Schema, SchemaError, closed_schema, parameter_headers};
use serde_json::Value;

use super::{Check, CheckSuite, ProbeFinding, report::shown_text, rules, suspicious_text};

/// The longest name that every client accepts, in characters.
const MAX_NAME_CHARS: usize = 64;
/// The hints that are true or false.
const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/// Looks at a tool among all that are listed.
pub(crate) fn look(tool: &Value, all: &[Value]) -> CheckSuite {
    let Some(name) = name_of(tool) else {
        let mut suite = CheckSuite::tool("(no name)");
        let message = match tool {
            Value::Object(_) => "it has no `name`".to_owned(),
            Value::Null => "it is null, or cannot be parsed".to_owned(),
            _ => "it is not an object".to_owned(),
        };
        suite
            .checks
            .push(Check::of("tool", vec![ProbeFinding::new(&rules::TOOL_MALFORMED, message)]));
        return suite;
    };
    let mut suite = CheckSuite::tool(name);
    suite.checks.extend([
        Check::of("name", name_findings(name, all)),
        Check::of("description", description(tool)),
        Check::of("input schema", input(tool)),
        Check::of("output schema", output(tool)),
        suspicious_text::of_tool(tool),
        Check::of("annotations", annotations(tool)),
    ]);
    suite
}

/// Its name, if it has one.
pub(crate) fn name_of(tool: &Value) -> Option<&str> {
    tool.get("name").and_then(Value::as_str)
}

/// Its output schema, if it declares one.
pub(crate) fn output_schema(tool: &Value) -> Option<&Value> {
    tool.get("outputSchema").filter(|schema| !schema.is_null())
}

fn name_findings(name: &str, all: &[Value]) -> Vec<ProbeFinding> {
    let mut findings = Vec::new();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let count = name.chars().count();
    if count == 0 || count > MAX_NAME_CHARS || !name.chars().all(plain) {
        let message = format!("`{}` has {count} characters", shown_text(name));
        findings.push(ProbeFinding::new(&rules::TOOL_NAME, message).at(["/name".to_owned()]));
    }
    let twins = all.iter().filter(|other| name_of(other) == Some(name)).count();
    if twins > 1 {
        let message = format!("{twins} tools are named `{}`", shown_text(name));
        findings.push(ProbeFinding::new(&rules::TOOL_DUPLICATE, message).at(["/name".to_owned()]));
    }
    findings
}

fn description(tool: &Value) -> Vec<ProbeFinding> {
    let said = tool.get("description").and_then(Value::as_str).unwrap_or_default();
    if said.trim().is_empty() {
        vec![ProbeFinding::new(&rules::DESCRIPTION_MISSING, "`description` is missing or empty")]
    } else {
        Vec::new()
    }
}

fn input(tool: &Value) -> Vec<ProbeFinding> {
    let bad = |pointer: &str, message: &str| {
        let pointer = format!("/inputSchema{pointer}");
        vec![ProbeFinding::new(&rules::INPUT_SCHEMA_INVALID, shown_text(message)).at([pointer])]
    };
    let Some(schema) = tool.get("inputSchema").filter(|schema| schema.is_object()) else {
        return bad("", "`inputSchema` is not an object");
    };
    if let Err(SchemaError { pointer, message }) = Schema::compile_foreign(schema) {
        return bad(&pointer, &message);
    }
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return bad("/type", "the root of an input schema must have `type: object`");
    }
    if let Err(misplaced) = parameter_headers::declared(schema) {
        return bad(&misplaced.pointer, &misplaced.message);
    }
    if closed_schema::close(schema).closing == closed_schema::Closing::Stated {
        return Vec::new();
    }
    let message = "it does not restrict additional properties";
    vec![ProbeFinding::new(&rules::INPUT_SCHEMA_OPEN, message).at(["/inputSchema".to_owned()])]
}

fn output(tool: &Value) -> Vec<ProbeFinding> {
    let Some(schema) = output_schema(tool) else {
        let message = "`outputSchema` is missing";
        return vec![ProbeFinding::new(&rules::OUTPUT_SCHEMA_MISSING, message)];
    };
    match Schema::compile_foreign(schema) {
        Ok(_) => Vec::new(),
        Err(SchemaError { pointer, message }) => {
            let pointer = format!("/outputSchema{pointer}");
            vec![
                ProbeFinding::new(&rules::OUTPUT_SCHEMA_INVALID, shown_text(&message))
                    .at([pointer]),
            ]
        }
    }
}

fn annotations(tool: &Value) -> Vec<ProbeFinding> {
    let own = match tool.get("annotations") {
        None | Some(Value::Null) => {
            return vec![ProbeFinding::new(
                &rules::ANNOTATIONS_MISSING,
                "`annotations` is missing",
            )];
        }
        Some(own @ Value::Object(_)) => own,
        Some(_) => {
            let finding =
                ProbeFinding::new(&rules::ANNOTATIONS_INVALID, "`annotations` is not an object");
            return vec![finding.at(["/annotations".to_owned()])];
        }
    };
    let mut findings = Vec::new();
    for hint in HINTS {
        if own.get(hint).is_some_and(|hint| !hint.is_boolean()) {
            let message = format!("`{hint}` is not true or false");
            let finding = ProbeFinding::new(&rules::ANNOTATIONS_INVALID, message);
            findings.push(finding.at([format!("/annotations/{hint}")]));
        }
    }
    let says = |hint: &str| own.get(hint).and_then(Value::as_bool);
    if says("readOnlyHint") == Some(true) && says("destructiveHint") == Some(true) {
        let message = "`readOnlyHint` and `destructiveHint` are both true";
        let finding = ProbeFinding::new(&rules::ANNOTATIONS_CONTRADICT, message);
        findings.push(finding.at(["/annotations".to_owned()]));
    } else if says("readOnlyHint").is_none() {
        let message = "`readOnlyHint` is missing";
        findings.push(ProbeFinding::new(&rules::ANNOTATIONS_MISSING, message));
    }
    findings
}

/// The reason why a tool is not called without --effects.
pub(crate) fn not_called(tool: &Value) -> Option<&'static str> {
    let says = |hint: &str| tool.get("annotations").and_then(|own| own.get(hint)?.as_bool());
    match (says("readOnlyHint"), says("destructiveHint")) {
        (Some(true), Some(true)) => {
            Some("`readOnlyHint` and `destructiveHint` are both true; --effects calls it anyway")
        }
        (Some(true), _) => None,
        (Some(false), _) => Some("it has effects (`readOnlyHint: false`); --effects calls it"),
        (None, _) => Some("it has no `readOnlyHint: true`; --effects calls it"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(tool: &Value) -> Vec<&'static str> {
        let suite = look(tool, std::slice::from_ref(tool));
        suite.checks.iter().flat_map(|check| &check.findings).map(|one| one.rule.id).collect()
    }

    fn good() -> Value {
        let schema = json!({ "type": "object", "additionalProperties": false });
        json!({ "name": "a", "description": "Does it.", "inputSchema": schema,
            "outputSchema": schema, "annotations": { "readOnlyHint": true } })
    }

    fn with(pointer: &str, value: Value) -> Value {
        let mut tool = good();
        tool[pointer] = value;
        tool
    }

    #[test]
    fn nothing_is_found_in_a_good_tool() {
        assert_eq!(found(&good()), [""; 0]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (tool, rule) in [
            (json!(7), "tool-malformed"),
            (Value::Null, "tool-malformed"),
            (with("name", json!("a b")), "tool-name"),
            (with("name", json!("x".repeat(65))), "tool-name"),
            (with("description", json!(" ")), "description-missing"),
            (with("inputSchema", Value::Null), "input-schema-invalid"),
            (with("inputSchema", json!({ "type": "array" })), "input-schema-invalid"),
            (with("inputSchema", json!({ "type": "objekt" })), "input-schema-invalid"),
            (with("inputSchema", json!({ "type": "object" })), "input-schema-open"),
            (with("outputSchema", Value::Null), "output-schema-missing"),
            (with("outputSchema", json!({ "$ref": "http://x.test/" })), "output-schema-invalid"),
            (with("description", json!("Adds.\u{e0049}\u{e0067}")), "text-harmful"),
            (with("annotations", json!([])), "annotations-invalid"),
            (with("annotations", Value::Null), "annotations-missing"),
            (with("annotations", json!({ "readOnlyHint": "yes" })), "annotations-invalid"),
            (
                with("annotations", json!({ "readOnlyHint": true, "destructiveHint": true })),
                "annotations-contradict",
            ),
        ] {
            assert!(found(&tool).contains(&rule), "{rule}: {:?}", found(&tool));
        }
    }

    #[test]
    fn two_of_one_name_are_told() {
        let suite = look(&good(), &[good(), good()]);
        assert_eq!(suite.checks[0].findings[0].rule, &rules::TOOL_DUPLICATE);
    }

    #[test]
    fn only_what_reads_is_called() {
        assert_eq!(not_called(&good()), None);
        for annotations in [
            Value::Null,
            json!({}),
            json!({ "readOnlyHint": "true" }),
            json!({ "readOnlyHint": false }),
            json!({ "readOnlyHint": true, "destructiveHint": true }),
        ] {
            assert!(not_called(&with("annotations", annotations)).is_some());
        }
    }
}
