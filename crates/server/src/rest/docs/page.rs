//! The page as a whole: the way in, the index, the toolsets, what all of them share.

use contract::Limits;
use gate::{Catalogue, Toolset};
use serde_json::Value;

use super::{
    fields,
    html::{Html, encoded},
    prose, routes,
    sample::SERVER,
    tool,
};

/// What the page must know beside the tools.
pub(super) struct Facts<'a> {
    pub version: &'a str,
    /// Whether callers must show a token.
    pub bearer: bool,
    /// The most that a request may ask for.
    pub ceilings: &'a Limits,
    /// The description of the whole interface.
    pub openapi: &'a Value,
}

/// A gate: two posts and what lies across. As a link, so that no browser asks for a file.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' \
    viewBox='0 0 16 16'%3E%3Cpath d='M2 2h3v12H2zM11 2h3v12h-3zM5 7h6v2H5z' \
    fill='%232f7d6b'/%3E%3C/svg%3E";

/// The page for this catalogue.
pub(super) fn render(catalogue: &Catalogue, facts: &Facts) -> String {
    let mut html = Html::document();
    html.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], head);
        html.element("body", &[], |html| {
            html.leaf("a", &[("class", "skip"), ("href", "#content")], "Skip to the tools");
            html.element("header", &[("class", "top")], |html| top(html, catalogue, facts));
            html.element("nav", &[("class", "index"), ("aria-label", "Index")], |html| {
                index(html, catalogue);
            });
            html.element("main", &[("id", "content")], |html| {
                calling(html, facts);
                for (name, toolset) in catalogue.toolsets() {
                    section(html, catalogue, name, toolset, facts);
                }
                shared(html, facts);
            });
        });
    });
    html.into_string()
}

fn head(html: &mut Html) {
    html.void("meta", &[("charset", "utf-8")]);
    html.void("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    html.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
    html.leaf("title", &[], "Toolgate API");
    html.void("link", &[("rel", "icon"), ("href", ICON)]);
    html.void("link", &[("rel", "stylesheet"), ("href", "docs/page.css")]);
    html.leaf("script", &[("src", "docs/page.js"), ("defer", "")], "");
}

fn top(html: &mut Html, catalogue: &Catalogue, facts: &Facts) {
    html.element("h1", &[], |html| {
        html.text("Toolgate ");
        html.leaf("span", &[("class", "version")], facts.version);
    });
    let tools = counted(catalogue.len(), "tool");
    let toolsets = counted(catalogue.toolsets().count(), "toolset");
    html.leaf("p", &[("class", "note")], &format!("{tools} in {toolsets}"));
    html.element("nav", &[("aria-label", "Documents")], |html| {
        for link in ["openapi.json", "openapi.yaml", "v1/tools", "metrics"] {
            html.leaf("a", &[("href", link)], &format!("/{link}"));
            html.text(" ");
        }
    });
}

fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn index(html: &mut Html, catalogue: &Catalogue) {
    // The script shows it: without it, it would do nothing.
    html.element("p", &[("class", "filter"), ("hidden", "")], |html| {
        html.leaf("label", &[("for", "filter"), ("class", "unseen")], "Filter the tools");
        html.void(
            "input",
            &[
                ("id", "filter"),
                ("type", "search"),
                ("placeholder", "Filter ( / )"),
                ("autocomplete", "off"),
                ("spellcheck", "false"),
            ],
        );
        html.leaf("span", &[("class", "note"), ("role", "status")], "");
    });
    html.element("ul", &[], |html| {
        entry(html, "#calling", "Calling a tool");
        for (name, toolset) in catalogue.toolsets() {
            html.element("li", &[("class", "toolset")], |html| {
                let link = format!("#{}", encoded(&toolset_anchor(name)));
                html.leaf("a", &[("href", &link)], name);
                html.element("ul", &[], |html| {
                    for name in &toolset.tools {
                        let link = format!("#{}", encoded(&tool::anchor(name)));
                        html.element("li", &[("data-tool", name)], |html| {
                            html.element("a", &[("href", &link)], |html| html.code(name));
                        });
                    }
                });
            });
        }
        entry(html, "#standard-errors", "Standard errors");
        entry(html, "#routes", "Other routes");
    });
}

fn entry(html: &mut Html, link: &str, text: &str) {
    html.element("li", &[], |html| html.leaf("a", &[("href", link)], text));
}

fn toolset_anchor(name: &str) -> String {
    format!("toolset-{name}")
}

/// What holds for every tool, said once.
fn calling(html: &mut Html, facts: &Facts) {
    html.element("section", &[("id", "calling")], |html| {
        html.leaf("h2", &[], "Calling a tool");
        prose::blocks(
            html,
            "Every tool has a contract. A call runs only if its arguments match it, and a result \
             is handed over only if it does too. There are two ways to call:",
        );
        html.table("routes", &["Route", "Body and answer"], |html| {
            for (path, text) in [
                (
                    "/v1/tools/{tool}",
                    "`{\"args\": {…}}` is answered with `{\"tool\", \"ok\": true, \"result\"}` \
                     or `{\"tool\", \"ok\": false, \"error\", \"code\"}`.",
                ),
                (
                    "/v1/tools/execute",
                    "`{\"tool\", \"input\": {…}, \"context\": {\"limits\": {…}}}` is always \
                     recorded as a job and always answered with a `ToolResult`, errors included.",
                ),
            ] {
                html.element("tr", &[], |html| {
                    html.element("th", &[("scope", "row")], |html| {
                        html.leaf("span", &[("class", "method")], "POST");
                        html.text(" ");
                        html.code(path);
                    });
                    html.element("td", &[], |html| prose::inline(html, text));
                });
            }
        });
        prose::blocks(
            html,
            "The HTTP status is that of the error code, 200 otherwise. A call with an \
             `Idempotency-Key` runs once, however often it is sent. Every answer carries an \
             `X-Request-Id`; the same id is in the journal.",
        );
        if facts.bearer {
            token(html);
        }
        html.element("p", &[("class", "note")], |html| {
            html.text("The commands on this page call ");
            html.leaf("code", &[("class", "server")], SERVER);
            html.text(".");
        });
    });
}

/// Where the server wants a token, the script needs one. It stays in the page.
fn token(html: &mut Html) {
    prose::blocks(html, "This server wants a token: send `Authorization: Bearer …`.");
    html.element("p", &[("class", "bar token"), ("hidden", "")], |html| {
        html.leaf("label", &[("for", "token")], "Token for “Try it”");
        html.text(" ");
        html.void("input", &[("id", "token"), ("type", "password"), ("autocomplete", "off")]);
        html.leaf("span", &[("class", "note")], "Kept until the page is left.");
    });
}

fn section(html: &mut Html, catalogue: &Catalogue, name: &str, set: &Toolset, facts: &Facts) {
    let id = toolset_anchor(name);
    html.element("section", &[("class", "toolset"), ("id", &id)], |html| {
        html.leaf("h2", &[], name);
        html.element("p", &[("class", "note")], |html| {
            let one = encoded(name);
            html.text("The whole toolset: ");
            let link = format!("v1/tools?toolset={one}");
            html.element("a", &[("href", &link)], |html| html.code(&format!("GET /{link}")));
            html.text(" lists it");
            // A tool of the same name is meant before the toolset.
            if catalogue.find(name).is_none() {
                html.text(", ");
                html.code(&format!("POST /v1/tools/{one}"));
                html.text(" calls the tool that ");
                html.code("args.command");
                html.text(" names");
                if let Some(default) = &set.default {
                    html.text(", or else ");
                    html.code(default);
                }
            }
            html.text(".");
        });
        for tool in set.tools.iter().filter_map(|name| catalogue.find(name)) {
            tool::write(html, tool, facts);
        }
    });
}

fn shared(html: &mut Html, facts: &Facts) {
    html.element("section", &[("id", "standard-errors")], |html| {
        html.leaf("h2", &[], "Standard errors");
        html.leaf("p", &[], "Any route may answer with these, whatever a contract declares.");
        fields::standard_errors(html);
    });
    html.element("section", &[("id", "routes")], |html| {
        html.leaf("h2", &[], "Other routes");
        prose::blocks(
            html,
            "Errors outside a tool call have the shape \
             `{\"error\": {\"code\", \"message\", \"details\"}}`. Bodies and answers of every \
             route are in the OpenAPI document.",
        );
        routes::table(html, facts.openapi);
    });
}
