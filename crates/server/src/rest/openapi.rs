//! `/openapi.json`, `/openapi.yaml`: the HTTP interface as an `OpenAPI` 3.1 document.
//!
//! The routes that are always there are data: `openapi/` has a YAML file for every noun of `rest/`,
//! written in `OpenAPI` itself. `operations` adds what all operations share, `tool_paths` makes
//! a path for every tool and toolset from its contract.

mod operations;
#[cfg(test)]
mod tests;
mod tool_paths;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, LazyLock},
};

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use contract::{Contract, Document, Limits, render};
use serde_json::{Map, Value, json};

use crate::{App, rest::tools::tagged};
use operations::Paths;

pub(crate) async fn json(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    tagged(&app.documents().openapi().0, &headers)
}

pub(crate) async fn yaml(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let mut response = tagged(&app.documents().openapi().1, &headers);
    let kind = HeaderValue::from_static("application/yaml");
    if response.headers().contains_key(header::CONTENT_TYPE) {
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    response
}

/// Facts about the server that the document needs beside its tools.
#[derive(Debug, Clone, Copy)]
pub struct OpenApiSettings<'a> {
    /// The version of the interface.
    pub version: &'a str,
    /// The largest request body that is read.
    pub max_body_bytes: u64,
    /// The URL of the server, if it is known.
    pub server_url: Option<&'a str>,
    /// True if callers need a bearer token.
    pub bearer: bool,
    /// The most that a request may ask for.
    pub ceilings: Limits,
}

const ABOUT: &str = "A gate between AI agents and their tools. Every tool has a contract, and a \
    call crosses the gate only if it matches the contract: arguments on the way in, results on \
    the way out.";

/// The tags of the fixed routes, in the order in which they are shown.
const TAGS: [(&str, &str); 7] = [
    ("Server", "The server itself."),
    ("Tools", "Which tools there are, and the call of any of them."),
    ("Jobs", "Recorded calls and the files that they left."),
    ("Quarantine", "Results that broke their contract."),
    ("Approvals", "Calls that wait for a person's approval."),
    ("Ask", "Questions that are answered with at most one call."),
    ("Upstreams", "Other people's MCP servers."),
];

/// The routes that are always there: the paths and schemas of each noun.
static NOUNS: LazyLock<[Value; 8]> = LazyLock::new(|| {
    [
        include_str!("openapi/server.yaml"),
        include_str!("openapi/tools.yaml"),
        include_str!("openapi/jobs.yaml"),
        include_str!("openapi/quarantine.yaml"),
        include_str!("openapi/approvals.yaml"),
        include_str!("openapi/ask.yaml"),
        include_str!("openapi/upstreams.yaml"),
        include_str!("openapi/config.yaml"),
    ]
    .map(embedded)
});

static COMPONENTS: LazyLock<Value> =
    LazyLock::new(|| embedded(include_str!("openapi/components.yaml")));

fn embedded(text: &str) -> Value {
    let document = Document::parse("openapi", text).expect("a test reads every embedded file");
    document.value().clone()
}

/// The document for these tools; those that are not served are left out.
pub fn document(contracts: &[&Contract], settings: &OpenApiSettings) -> Value {
    let contracts = render::served(contracts.iter().copied());
    let mut paths = Paths::new(settings.bearer);
    for noun in NOUNS.iter() {
        for (path, item) in fields(&noun["paths"]) {
            for (method, operation) in fields(item) {
                let operation = tool_paths::with_contracts(operation.clone(), &contracts, &paths);
                paths.add(path, method, operation);
            }
        }
        // After the fixed routes of tools, which win over a tool of their name.
        if noun["paths"].get(tool_paths::ANY_TOOL).is_some() {
            tool_paths::add(&mut paths, &contracts);
        }
    }

    let mut document = Map::new();
    let mut put = |name: &str, value: Value| document.insert(name.to_owned(), value);
    put("openapi", json!("3.1.0"));
    let about = format!("{ABOUT} A request body has at most {} bytes.", settings.max_body_bytes);
    put("info", json!({ "title": "Toolgate", "description": about, "version": settings.version }));
    put("jsonSchemaDialect", json!("https://json-schema.org/draft/2020-12/schema"));
    if let Some(url) = settings.server_url {
        put("servers", json!([{ "url": url }]));
    }
    if settings.bearer {
        put("security", json!([{ "bearer": [] }]));
    }
    put("tags", tags(&contracts));
    put("paths", paths.into_value());
    put("components", components(&contracts, settings));
    Value::Object(document)
}

fn tags(contracts: &[&Contract]) -> Value {
    // A toolset may have one of these names; a tag is declared once.
    let mut known = BTreeSet::from(TAGS.map(|(name, _)| name));
    let tag = |name: &str, description: &str| json!({ "name": name, "description": description });
    let mut tags: Vec<Value> = TAGS.iter().map(|(name, about)| tag(name, about)).collect();
    for toolset in toolsets(contracts).keys() {
        if known.insert(toolset) {
            tags.push(tag(toolset, &format!("The toolset `{toolset}`.")));
        }
    }
    Value::Array(tags)
}

fn components(contracts: &[&Contract], settings: &OpenApiSettings) -> Value {
    let mut schemas = Map::new();
    schemas.insert("Limits".into(), limits(None));
    schemas.insert("RequestLimits".into(), limits(Some(&settings.ceilings)));
    for file in [&*COMPONENTS].into_iter().chain(NOUNS.iter()) {
        schemas.extend(fields(&file["schemas"]).map(|(name, one)| (name.clone(), one.clone())));
    }
    for contract in contracts {
        let home = |name: &str| format!("#/components/schemas/{name}");
        let name = format!("{}.input", contract.name);
        let input = contract::references::relocate(&contract.input_schema, &home(&name));
        schemas.insert(name, input);
        let name = format!("{}.output", contract.name);
        let output = render::output::served(contract, &home(&name)).into_owned();
        schemas.insert(name, output);
    }
    let mut responses: Map<String, Value> = fields(&COMPONENTS["responses"])
        .map(|(name, response)| (name.clone(), operations::with_request_id(response)))
        .collect();
    responses["Error413"]["description"] =
        json!(format!("The body is larger than {} bytes.", settings.max_body_bytes));
    for (status, codes) in tool_paths::errors(&[], settings.bearer) {
        let response = tool_paths::error_response(status, &codes);
        let response = operations::with_request_id(&response);
        responses.insert(format!("CallError{status}"), response);
    }
    let mut parameters = COMPONENTS["parameters"].clone();
    parameters
        .as_object_mut()
        .into_iter()
        .flatten()
        .for_each(|(_, one)| operations::allow_empty(one));
    let scheme = |description: &str| json!({ "type": "http", "scheme": "bearer", "description": description });
    let mut all = json!({
        "schemas": schemas,
        "responses": responses,
        "parameters": parameters,
        "headers": COMPONENTS["headers"],
        "securitySchemes": {
            "operator": scheme("The operator's token: `operator.token` in the data folder."),
        },
    });
    if settings.bearer {
        all["securitySchemes"]["bearer"] = scheme("The caller's token.");
    }
    all
}

/// The schema of any subset of the limits: of a contract, which may set any value, or of a request,
/// which the server bounds.
fn limits(ceilings: Option<&Limits>) -> Value {
    // The model's own descriptions, so that they are written once.
    let model = contract::document::schema_of::<Limits>();
    let most: Vec<_> = ceilings.map(Limits::entries).unwrap_or_default();
    let mut properties = Map::new();
    for (index, (name, default, least)) in Limits::default().entries().into_iter().enumerate() {
        let words = model["properties"][name]["description"].as_str().unwrap_or_default();
        let description =
            format!("{words} {default} unless the server or the tool says otherwise.");
        let mut schema = json!({ "type": "integer", "minimum": least });
        if let Some((_, ceiling, _)) = most.get(index) {
            schema["maximum"] = json!(ceiling);
        }
        schema["description"] = json!(description.trim());
        properties.insert(name.to_owned(), schema);
    }
    json!({
        "type": "object",
        "description": "Any subset of the limits of a call.",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// The tools of each toolset, both by name.
fn toolsets<'a>(contracts: &[&'a Contract]) -> BTreeMap<&'a str, Vec<&'a Contract>> {
    let mut toolsets: BTreeMap<&str, Vec<&Contract>> = BTreeMap::new();
    for contract in contracts {
        toolsets.entry(contract.toolset.as_str()).or_default().push(contract);
    }
    toolsets
}

/// The entries of an object; none of anything else.
fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
