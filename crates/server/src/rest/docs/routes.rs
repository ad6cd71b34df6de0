//! The routes that are there whatever the tools are, as the `OpenAPI` document has them:
//! a route that is added there is on the page too.

use maud::{Markup, html};
use serde_json::Value;

use super::{markdown, page::PageFacts, tables};

/// The words of `OpenAPI` for what can be done to a path.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// A route on a line.
#[derive(Debug, PartialEq)]
struct Route<'a> {
    group: &'a str,
    method: &'a str,
    path: &'a str,
    about: String,
    /// The names of what a query may say.
    query: Vec<&'a str>,
}

/// The table of the routes in the document.
pub(super) fn table(facts: &PageFacts) -> Markup {
    let openapi = facts.openapi;
    let mut routes = routes(openapi);
    // In the order in which the document lists its groups; those that it forgot come last.
    let groups: Vec<&str> = tags(openapi).collect();
    routes.sort_by_key(|route| {
        groups.iter().position(|group| *group == route.group).unwrap_or(groups.len())
    });
    let rows = html! {
        @for group in routes.chunk_by(|one, next| one.group == next.group) {
            @if let Some(Route { group, .. }) = group.first().filter(|one| !one.group.is_empty()) {
                tr.group { th scope="rowgroup" colspan="2" { (group) } }
            }
            @for route in group { (row(route, facts)) }
        }
    };
    tables::table("routes", &["Route", "What it is for"], &rows)
}

fn row(route: &Route, facts: &PageFacts) -> Markup {
    // What can be opened is a link; relative, as the server may lie below a path.
    let opens = route.method == "get" && !route.path.contains('{');
    let shown = html! { code { (route.path) } };
    html! {
        tr {
            th scope="row" {
                span.method { (route.method.to_uppercase()) } " "
                @match route.path.strip_prefix('/').filter(|_| opens) {
                    Some(path) => (facts.link(path, &shown)),
                    None => (shown),
                }
            }
            td {
                (markdown::inline(&route.about))
                @for (index, name) in route.query.iter().enumerate() {
                    (if index > 0 { ", " } else { " Query: " }) code { (name) }
                }
                @if !route.query.is_empty() { "." }
            }
        }
    }
}

fn routes(openapi: &Value) -> Vec<Route<'_>> {
    let mut routes = Vec::new();
    for (path, item) in openapi["paths"].as_object().into_iter().flatten() {
        if is_of_a_tool(path) {
            continue;
        }
        let operations = item.as_object().into_iter().flatten();
        for (method, operation) in operations.filter(|(name, _)| METHODS.contains(&&***name)) {
            let words = |field: &str| operation[field].as_str().unwrap_or_default();
            routes.push(Route {
                group: operation["tags"][0].as_str().unwrap_or_default(),
                method,
                path,
                about: sentences(words("summary"), words("description")),
                query: query(openapi, operation),
            });
        }
    }
    routes
}

/// True if the path is one tool's or one toolset's own: those have their place above.
fn is_of_a_tool(path: &str) -> bool {
    let below = path.strip_prefix("/v1/tools/");
    below.is_some_and(|name| name != "execute" && !name.starts_with('{'))
}

fn tags(openapi: &Value) -> impl Iterator<Item = &str> {
    openapi["tags"].as_array().into_iter().flatten().filter_map(|tag| tag["name"].as_str())
}

fn query<'a>(openapi: &'a Value, operation: &'a Value) -> Vec<&'a str> {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let whole = parameters.filter_map(|parameter| match parameter["$ref"].as_str() {
        Some(reference) => openapi.pointer(reference.strip_prefix('#')?),
        None => Some(parameter),
    });
    let of_query = whole.filter(|parameter| parameter["in"] == "query");
    of_query.filter_map(|parameter| parameter["name"].as_str()).collect()
}

/// A summary has no full stop, a description may say more.
fn sentences(summary: &str, description: &str) -> String {
    let text = format!("{summary}. {}", markdown::one_line(description));
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::openapi::{self, OpenApiSettings};

    fn document() -> Value {
        let settings = OpenApiSettings {
            version: "1",
            max_body_bytes: 1,
            server_url: None,
            bearer: false,
            ceilings: contract::Limits::default_ceilings(),
        };
        let tool = "name: hi\ndescription: x\nversion: '1'\nstability: stable\ntoolset: Jobs\n\
                    effects: none\ninput_schema: {}\noutput_schema: {}\n";
        openapi::document(&[&contract::read::trusted(tool).unwrap()], &settings)
    }

    #[test]
    fn every_route_but_those_of_tools_is_there() {
        let document = document();
        let routes = routes(&document);
        let paths: Vec<_> = routes.iter().map(|route| (route.method, route.path)).collect();
        for expected in [
            ("get", "/healthz"),
            ("get", "/v1/tools"),
            ("get", "/v1/tools/{tool}"),
            ("post", "/v1/tools/execute"),
            ("delete", "/v1/jobs/{id}"),
            ("get", "/v1/jobs/{id}/artifacts/{name}"),
            ("get", "/v1/quarantine"),
        ] {
            assert!(paths.contains(&expected), "{expected:?} is missing");
        }
        // A toolset may have the name of a group.
        assert!(!paths.iter().any(|(_, path)| path.contains("hi") || path.ends_with("/Jobs")));
    }

    #[test]
    fn queries_are_found_behind_references() {
        let document = document();
        let routes = routes(&document);
        let jobs = routes.iter().find(|one| one.path == "/v1/jobs" && one.method == "get");
        assert_eq!(jobs.unwrap().query, ["status", "tool", "limit", "cursor"]);
    }
}
