//! A tool as `GET /v1/tools` shows it.

use serde_json::{Map, Value, json};

use super::output;
use crate::{Contract, Example, LargeOutput};

/// The tool as callers see it. How it is run (`run`, `env`) is nobody else's business.
pub fn descriptor(contract: &Contract) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("name", json!(contract.name));
    if let Some(title) = &contract.title {
        put("title", json!(title));
    }
    put("version", json!(contract.version));
    put("stability", json!(contract.stability));
    if let Some(date) = &contract.deprecated_since {
        put("deprecated_since", json!(date));
    }
    if let Some(replacement) = &contract.replaced_by {
        put("replaced_by", json!(replacement));
    }
    if let Some(date) = &contract.removed_after {
        put("removed_after", json!(date));
    }
    let mut tags: Vec<&str> = contract.tags.iter().map(String::as_str).collect();
    tags.sort_unstable();
    tags.dedup();
    if !tags.is_empty() {
        put("tags", json!(tags));
    }
    put("toolset", json!(contract.toolset));
    put("effects", json!(contract.effects));
    put("approval", json!(contract.approval));
    let mut examples: Vec<&Example> = contract.good_examples().collect();
    examples.sort_by(|one, other| one.title.cmp(&other.title));
    if !examples.is_empty() {
        put("examples", examples.into_iter().map(example).collect());
    }
    put("description", json!(contract.description));
    put("input_schema", contract.input_schema.clone());
    put("output_schema", output::served(contract, "#").into_owned());
    if contract.large_output != LargeOutput::Refuse {
        put("large_output", json!(contract.large_output));
    }
    if !contract.errors.is_empty() {
        let errors = contract.errors.iter().map(|error| {
            let mut shown = json!({ "code": error.code, "http_status": error.http_status });
            if let Some(replaced) = error.replaces {
                shown["replaces"] = json!(replaced);
            }
            if let Some(argument) = &error.argument {
                shown["argument"] = json!(argument);
            }
            shown["description"] = json!(error.description);
            shown
        });
        put("errors", errors.collect());
    }
    if !contract.limits.is_empty() {
        put("limits", json!(contract.limits));
    }
    put("sha256", json!(contract.sha256()));
    Value::Object(fields)
}

fn example(example: &Example) -> Value {
    let mut shown = json!({ "title": example.title, "input": example.input });
    if let Some(output) = &example.output {
        shown["output"] = output.clone();
    }
    if let Some(notes) = &example.notes {
        shown["notes"] = json!(notes);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::fixtures;

    #[test]
    fn says_everything_in_one_order() {
        let contract = fixtures::named("search.web");
        let expected = json!({
            "name": "search.web",
            "title": "Web search",
            "version": "1.2.0",
            "stability": "stable",
            "tags": ["search", "web"],
            "toolset": "web",
            "effects": "read",
            "approval": "never",
            "examples": [
                { "title": "a plain search", "input": { "query": "rust" } },
                {
                    "title": "two results",
                    "input": { "query": "rust", "count": 2 },
                    "output": {
                        "results": [{ "title": "Rust" }, { "title": "Rust | oxide", "score": 0.5 }],
                    },
                    "notes": "The order is the service's.",
                },
            ],
            "description": "Searches the web.\n\nGive a | b to search for either.",
            "input_schema": contract.input_schema,
            "output_schema": contract.output_schema,
            "errors": [
                {
                    "code": "search_failed",
                    "http_status": 502,
                    "description": "The search service failed.",
                },
                { "code": "rate_limited", "http_status": 429, "description": "Too many searches." },
                { "code": "teapot", "http_status": 418, "description": "" },
            ],
            "limits": { "timeout_ms": 10000 },
            "sha256": contract.sha256(),
        });
        // As text, because the order of the keys is part of the promise.
        assert_eq!(descriptor(&contract).to_string(), expected.to_string());
    }

    #[test]
    fn leaves_out_what_is_not_there_and_what_is_private() {
        let shown = descriptor(&fixtures::named("search_web"));
        let keys: Vec<_> = shown.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            [
                "name",
                "version",
                "stability",
                "toolset",
                "effects",
                "approval",
                "examples",
                "description",
                "input_schema",
                "output_schema",
                "sha256"
            ]
        );
        assert!(!shown.to_string().contains("secret-"));
    }
}
