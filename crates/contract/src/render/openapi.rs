//! The whole HTTP interface as an `OpenAPI` 3.1 document.
//!
//! The routes that are always there stand in `server`, `listing`, `execute`, `jobs`,
//! `quarantine`, `approvals` and `upstreams`, one file a noun; `call` makes a path for every tool and every toolset.
//! What they share is in `components` and `schemas`, and `operation` is how one is put
//! together.

mod approvals;
mod ask;
mod call;
mod components;
mod execute;
mod jobs;
mod listing;
mod operation;
mod quarantine;
mod schemas;
mod server;
#[cfg(test)]
mod tests;
mod upstreams;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::{
    Contract, Limits,
    render::{output, references::relocate},
};
use operation::Paths;

/// What the document must know of the server beside its tools.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// The version of the interface.
    pub version: &'a str,
    /// The largest request body that is read.
    pub max_body_bytes: u64,
    /// Where the server is reached, if that is known.
    pub server_url: Option<&'a str>,
    /// Whether callers must show a bearer token.
    pub bearer: bool,
    /// The most that a request may ask for.
    pub ceilings: Limits,
}

const ABOUT: &str = "A gate between AI agents and their tools. Every tool has a contract, and a \
    call crosses the gate only if it matches the contract: arguments on the way in, results on \
    the way out.";

/// The document for these tools; those that are not served are left out.
pub fn document(contracts: &[&Contract], settings: &Settings) -> Value {
    let ceilings = &settings.ceilings;
    let contracts = super::served(contracts.iter().copied());
    let mut paths = Paths::new(settings.bearer);
    server::paths(&mut paths);
    listing::paths(&mut paths);
    execute::paths(&mut paths, &contracts);
    call::paths(&mut paths, &contracts);
    jobs::paths(&mut paths, &contracts);
    quarantine::paths(&mut paths);
    approvals::paths(&mut paths);
    ask::paths(&mut paths);
    upstreams::paths(&mut paths);

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
    put("components", all_components(&contracts, settings, ceilings));
    Value::Object(document)
}

fn tags(contracts: &[&Contract]) -> Value {
    let fixed = [
        ("Server", "The server itself."),
        ("Tools", "Which tools there are, and the call of any of them."),
        ("Jobs", "Recorded calls and the files that they left."),
        ("Quarantine", "Results that broke their contract."),
        ("Approvals", "Calls that wait for a person's word."),
        ("Ask", "Questions that are answered with at most one call."),
        ("Upstreams", "Other people's MCP servers."),
    ];
    // A toolset may have one of these names; a tag is declared once.
    let mut known = BTreeSet::from(fixed.map(|(name, _)| name));
    let mut tags: Vec<Value> = fixed
        .iter()
        .map(|(name, description)| json!({ "name": name, "description": description }))
        .collect();
    for toolset in toolsets(contracts).keys() {
        if known.insert(toolset) {
            tags.push(
                json!({ "name": toolset, "description": format!("The toolset `{toolset}`.") }),
            );
        }
    }
    Value::Array(tags)
}

fn all_components(contracts: &[&Contract], settings: &Settings, ceilings: &Limits) -> Value {
    let mut schemas = schemas::all(ceilings);
    for contract in contracts {
        let home = |name: &str| format!("#/components/schemas/{name}");
        let name = format!("{}.input", contract.name);
        let input = relocate(&contract.input_schema, &home(&name));
        schemas.insert(name, input);
        let name = format!("{}.output", contract.name);
        let output = output::served(contract, &home(&name)).into_owned();
        schemas.insert(name, output);
    }
    let mut all = json!({
        "schemas": schemas,
        "responses": components::responses(settings),
        "parameters": components::parameters(),
        "headers": components::headers(),
    });
    let scheme = |description: &str| json!({ "type": "http", "scheme": "bearer", "description": description });
    all["securitySchemes"] =
        json!({ "operator": scheme("The operator's token: `operator.token` in the data folder.") });
    if settings.bearer {
        all["securitySchemes"]["bearer"] = scheme("The caller's token.");
    }
    all
}

/// The tools of each toolset, both by name.
fn toolsets<'a>(contracts: &[&'a Contract]) -> BTreeMap<&'a str, Vec<&'a Contract>> {
    let mut toolsets: BTreeMap<&str, Vec<&Contract>> = BTreeMap::new();
    for contract in contracts {
        toolsets.entry(contract.toolset.as_str()).or_default().push(contract);
    }
    toolsets
}
