//! A tool as `tools/list` shows it.

use serde_json::{Map, Value, json};

use super::{deprecation, output};
use crate::{Contract, Effects, Icon, Presentation};

/// The values that a client's protocol version takes as structured content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputForm {
    /// Objects only: 2025-11-25 and older.
    Object,
    /// Any JSON value: 2026-07-28 and newer.
    Any,
}

/// The tools that are served, by name, in the shape of a `tools/list` result.
pub fn listing<'a>(contracts: impl Iterator<Item = &'a Contract>, form: OutputForm) -> Value {
    let tools: Vec<Value> =
        super::served(contracts).into_iter().map(|contract| tool(contract, form)).collect();
    json!({ "tools": tools })
}

/// The tool as an MCP tool object.
pub fn tool(contract: &Contract, form: OutputForm) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("name", json!(contract.name));
    if let Some(title) = &contract.title {
        put("title", json!(title));
    }
    put(
        "description",
        match deprecation::note(contract) {
            Some(note) => json!(format!("{}\n\n{note}.", contract.description.trim_end())),
            None => json!(contract.description),
        },
    );
    if !contract.icons.is_empty() {
        put("icons", contract.icons.iter().map(icon).collect());
    }
    put("inputSchema", contract.input_schema.clone());
    match contract.presentation {
        Presentation::Content => {}
        Presentation::Json | Presentation::Text
            if form == OutputForm::Object && !is_object(contract) =>
        {
            put("outputSchema", wrapped(contract));
        }
        Presentation::Json | Presentation::Text => {
            put("outputSchema", output::served(contract, "#").into_owned());
        }
    }
    put("annotations", annotations(contract));
    Value::Object(fields)
}

/// True if the root of the output schema says `type: object`. Until 2025-11-25
/// MCP had room for objects alone, and a client that meets an `outputSchema` of another type
/// may refuse the whole listing. So another result is wrapped as `{ "result": … }` there.
pub fn is_object(contract: &Contract) -> bool {
    contract.output_schema.get("type").and_then(Value::as_str) == Some("object")
}

fn wrapped(contract: &Contract) -> Value {
    json!({
        "type": "object",
        "properties": { "result": output::served(contract, "#/properties/result") },
        "required": ["result"],
        "additionalProperties": false,
    })
}

fn icon(icon: &Icon) -> Value {
    let mut shown = json!({ "src": icon.src });
    if let Some(kind) = &icon.mime_type {
        shown["mimeType"] = json!(kind);
    }
    if !icon.sizes.is_empty() {
        shown["sizes"] = json!(icon.sizes);
    }
    if let Some(theme) = icon.theme {
        shown["theme"] = json!(theme);
    }
    shown
}

fn annotations(contract: &Contract) -> Value {
    let effects = contract.effects;
    let mut hints = Map::new();
    if let Some(title) = &contract.title {
        hints.insert("title".into(), json!(title));
    }
    let harmless = !effects.changes_the_world();
    hints.insert("readOnlyHint".into(), json!(harmless));
    // To append destroys nothing.
    let destructive = matches!(effects, Effects::Write | Effects::Control);
    hints.insert("destructiveHint".into(), json!(destructive));
    hints.insert("idempotentHint".into(), json!(harmless));
    hints.insert("openWorldHint".into(), json!(effects != Effects::None));
    Value::Object(hints)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::fixtures;

    #[test]
    fn a_tool_carries_its_schemas_and_title() {
        let contract = fixtures::named("search.web");
        let expected = json!({
            "name": "search.web",
            "title": "Web search",
            "description": contract.description,
            "inputSchema": contract.input_schema,
            "outputSchema": contract.output_schema,
            "annotations": {
                "title": "Web search",
                "readOnlyHint": true,
                "destructiveHint": false,
                "idempotentHint": true,
                "openWorldHint": true,
            },
        });
        for form in [OutputForm::Object, OutputForm::Any] {
            assert_eq!(tool(&contract, form).to_string(), expected.to_string());
        }
    }

    #[test]
    fn what_is_no_object_is_wrapped_for_older_clients() {
        let mut contract = fixtures::named("clock");
        contract.output_schema = json!({
            "type": "array", "items": { "$ref": "#/$defs/name" },
            "$defs": { "name": { "type": "string" } },
        });
        assert_eq!(tool(&contract, OutputForm::Any)["outputSchema"], contract.output_schema);
        let wrapped = &tool(&contract, OutputForm::Object)["outputSchema"];
        let schema = crate::Schema::compile(wrapped).unwrap();
        assert!(schema.is_valid(&json!({ "result": ["a"] })));
        assert!(!schema.is_valid(&json!({ "result": [1] })));
        contract.presentation = Presentation::Content;
        assert_eq!(tool(&contract, OutputForm::Any).get("outputSchema"), None);
    }

    #[test]
    fn hints_follow_the_effects() {
        let mut contract = fixtures::named("clock");
        let mut check = |effects, expected: [bool; 4]| {
            contract.effects = effects;
            let hints = annotations(&contract);
            let names = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
            assert_eq!(names.map(|name| hints[name] == true), expected, "{effects:?}");
            assert_eq!(hints.get("title"), None);
        };
        check(Effects::None, [true, false, true, false]);
        check(Effects::Read, [true, false, true, true]);
        check(Effects::Append, [false, false, false, true]);
        check(Effects::Write, [false, true, false, true]);
        check(Effects::Control, [false, true, false, true]);
    }
}
