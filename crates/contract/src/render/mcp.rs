//! What `tools/list` says of a tool.

use serde_json::{Map, Value, json};

use crate::{Contract, Effects};

/// The tools that are served, by name, in the shape of a `tools/list` result.
pub fn listing<'a>(contracts: impl Iterator<Item = &'a Contract>) -> Value {
    let tools: Vec<Value> = super::served(contracts).into_iter().map(tool).collect();
    json!({ "tools": tools })
}

/// The tool as an MCP tool object.
pub fn tool(contract: &Contract) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("name", json!(contract.name));
    if let Some(title) = &contract.title {
        put("title", json!(title));
    }
    put("description", json!(contract.description));
    put("inputSchema", contract.input_schema.clone());
    if has_structured_output(contract) {
        put("outputSchema", contract.output_schema.clone());
    }
    put("annotations", annotations(contract));
    Value::Object(fields)
}

/// Whether the result can be `structuredContent`. MCP (2025-06-18) has room for objects
/// alone, and a client that meets an `outputSchema` of another type may refuse the
/// whole listing; such a result goes as text.
pub fn has_structured_output(contract: &Contract) -> bool {
    contract.output_schema.get("type").and_then(Value::as_str) == Some("object")
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
    fn lists_what_is_served_by_name() {
        let contracts = fixtures::contracts();
        let listing = listing(contracts.iter());
        let names: Vec<_> =
            listing["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["clock", "search.web", "search_web"]);
    }

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
        assert_eq!(tool(&contract).to_string(), expected.to_string());
        assert_eq!(tool(&fixtures::named("clock")).get("outputSchema"), None);
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
