//! The page as a whole: the header, the index, the toolsets, what all of them share.

use contract::{Limits, counted};
use gate::{Catalogue, Toolset};
use maud::{DOCTYPE, Markup, html};
use serde_json::Value;

use super::{
    markdown, routes,
    sample::SERVER,
    tables, tool,
    untrusted::{Untrusted, encoded},
};

/// Facts that the page needs beside the tools.
pub(super) struct PageFacts<'a> {
    pub version: &'a str,
    /// True if callers need a token.
    pub bearer: bool,
    /// The most that a request may ask for.
    pub ceilings: &'a Limits,
    /// The description of the whole interface.
    pub openapi: &'a Value,
}

impl PageFacts<'_> {
    /// The address, from the page, under which a browser can open what is at this path; none where it would have to show
    /// the token, which a link cannot.
    pub(super) fn opens(&self, path: &str) -> Option<String> {
        match path {
            _ if !self.bearer => Some(path.to_owned()),
            "openapi.json" | "openapi.yaml" => Some(format!("docs/{path}")),
            "docs" | "healthz" | "readyz" => Some(path.to_owned()),
            _ => None,
        }
    }

    /// What a browser can open as a link, everything else as it is.
    pub(super) fn link(&self, path: &str, shown: &Markup) -> Markup {
        match self.opens(path) {
            Some(address) => html! { a href=(address) { (shown) } },
            None => shown.clone(),
        }
    }
}

/// A gate: two posts and a bar across. As a link, so that no browser asks for a file.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' \
    viewBox='0 0 16 16'%3E%3Cpath d='M2 2h3v12H2zM11 2h3v12h-3zM5 7h6v2H5z' \
    fill='%232f7d6b'/%3E%3C/svg%3E";

pub(super) fn render(catalogue: &Catalogue, facts: &PageFacts) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (head("docs/", "Toolgate API"))
                script src="docs/page.js" defer {}
            }
            body {
                a.skip href="#content" { "Skip to the tools" }
                header.top { (top(catalogue, facts)) }
                nav.index aria-label="Index" { (index(catalogue)) }
                main #content {
                    (calling(facts))
                    @for (name, toolset) in catalogue.toolsets() {
                        (section(catalogue, name, toolset, facts))
                    }
                    (shared(facts))
                }
            }
        }
    };
    page.into_string()
}

/// What every page begins with. `base` leads to the folder of its files.
pub(super) fn head(base: &str, title: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        title { (title) }
        link rel="icon" href=(ICON);
        link rel="stylesheet" href={ (base) "page.css" };
    }
}

fn top(catalogue: &Catalogue, facts: &PageFacts) -> Markup {
    let tools = counted(catalogue.len(), "tool");
    let toolsets = counted(catalogue.toolsets().count(), "toolset");
    html! {
        h1 { "Toolgate " span.version { (facts.version) } }
        p.note { (tools) " in " (toolsets) }
        nav aria-label="Documents" {
            @for link in ["openapi.json", "openapi.yaml", "v1/tools", "metrics"] {
                (facts.link(link, &html! { "/" (link) })) " "
            }
        }
    }
}

fn index(catalogue: &Catalogue) -> Markup {
    html! {
        // The script shows it: without it, it would do nothing.
        p.filter hidden {
            label.unseen for="filter" { "Filter the tools" }
            input #filter type="search" placeholder="Filter ( / )" autocomplete="off" spellcheck="false";
            span.note role="status" {}
        }
        ul {
            li { a href="#calling" { "Calling a tool" } }
            @for (name, toolset) in catalogue.toolsets() {
                li.toolset {
                    a href={ "#" (encoded(&toolset_anchor(name))) } { (Untrusted(name)) }
                    ul {
                        @for name in &toolset.tools {
                            li data-tool=(Untrusted(name)) {
                                a href={ "#" (encoded(&tool::anchor(name))) } { code { (Untrusted(name)) } }
                            }
                        }
                    }
                }
            }
            li { a href="#standard-errors" { "Standard errors" } }
            li { a href="#routes" { "Other routes" } }
        }
    }
}

fn toolset_anchor(name: &str) -> String {
    format!("toolset-{name}")
}

/// The rules of a call that hold for every tool.
fn calling(facts: &PageFacts) -> Markup {
    let ways = [
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
    ];
    html! {
        section #calling {
            h2 { "Calling a tool" }
            p {
                "Every tool has a contract. A call runs only if its arguments match it, and a \
                 result is returned only if it matches too. There are two ways to call:"
            }
            (tables::table("routes", &["Route", "Body and answer"], &html! {
                @for (path, text) in ways {
                    tr {
                        th scope="row" { span.method { "POST" } " " code { (path) } }
                        td { (markdown::inline(text)) }
                    }
                }
            }))
            p {
                "The HTTP status is that of the error code, 200 otherwise. A call with an "
                code { "Idempotency-Key" } " runs once, however often it is sent. Every answer carries an "
                code { "X-Request-Id" } "; the same id is in the journal."
            }
            @if facts.bearer { (token()) }
            p.note { "The commands on this page call " code.server { (SERVER) } "." }
        }
    }
}

/// The field for the token that the script needs. The token stays in the page.
fn token() -> Markup {
    html! {
        p { "This server needs a token: send " code { "Authorization: Bearer …" } "." }
        p.bar.token hidden {
            label for="token" { "Token for “Try it”" } " "
            input #token type="password" autocomplete="off";
            span.note { "Kept until the page is left." }
        }
    }
}

fn section(catalogue: &Catalogue, name: &str, set: &Toolset, facts: &PageFacts) -> Markup {
    let one = encoded(name);
    let link = format!("v1/tools?toolset={one}");
    html! {
        section.toolset id=(Untrusted(&toolset_anchor(name))) {
            h2 { (Untrusted(name)) }
            p.note {
                "The whole toolset: " (facts.link(&link, &html! { code { "GET /" (link) } })) " lists it"
                // A tool of the same name is meant before the toolset.
                @if catalogue.find(name).is_none() {
                    ", " code { "POST /v1/tools/" (one) } " calls the tool that "
                    code { "args.command" } " names"
                    @if let Some(default) = &set.default { ", or else " code { (Untrusted(default)) } }
                }
                "."
            }
            @for tool in set.tools.iter().filter_map(|name| catalogue.find(name)) {
                (tool::article(tool, facts))
            }
        }
    }
}

fn shared(facts: &PageFacts) -> Markup {
    html! {
        section #standard-errors {
            h2 { "Standard errors" }
            p { "Any route may answer with these, whatever a contract declares." }
            (tables::standard_errors())
        }
        section #routes {
            h2 { "Other routes" }
            p {
                "Errors outside a tool call have the shape "
                code { "{\"error\": {\"code\", \"message\", \"details\"}}" }
                ". Bodies and answers of every route are in the OpenAPI document."
            }
            (routes::table(facts))
        }
    }
}
