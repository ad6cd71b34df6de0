//! The part of the page about one tool.

use std::collections::BTreeSet;

use contract::{Approval, Contract, Example, LargeOutput, Stability, render::output};
use gate::Tool;
use serde_json::{Map, Value, json};

use super::{
    fields,
    html::{Html, encoded},
    page::Facts,
    prose, sample,
};

/// Where a tool is on the page. Toolsets start with `toolset-`, so the two never meet.
pub(super) fn anchor(name: &str) -> String {
    format!("tool-{name}")
}

/// What a tool is called where there is room for a title.
pub(super) fn title(contract: &Contract) -> &str {
    contract.title.as_deref().unwrap_or(&contract.name)
}

/// What the filter looks at, in lower case.
pub(super) fn words(contract: &Contract) -> String {
    let mut words = vec![&*contract.name, title(contract), &contract.toolset];
    words.extend(contract.tags.iter().map(String::as_str));
    words.extend([contract.effects.word(), contract.stability.word()]);
    let about = prose::one_line(&contract.description);
    words.push(&about);
    words.join(" ").to_lowercase()
}

/// Everything about one tool.
pub(super) fn write(html: &mut Html, tool: &Tool, facts: &Facts) {
    let contract = &*tool.contract;
    let (id, find) = (anchor(&contract.name), words(contract));
    let attributes = [("class", "tool"), ("id", &*id), ("data-find", &*find)];
    html.element("article", &attributes, |html| {
        html.element("header", &[], |html| head(html, contract));
        html.element("div", &[("class", "about")], |html| {
            prose::blocks(html, &contract.description);
            html.leaf("h4", &[], "Input");
            let none = "The tool takes no arguments.";
            fields::values(html, &contract.input_schema, "the input", none);
            html.leaf("h4", &[], "Output");
            fields::values(html, &contract.output_schema, "the result", "An object.");
            if contract.large_output == LargeOutput::Artifact {
                prose::blocks(html, output::LARGE);
            }
            html.leaf("h4", &[], "Errors");
            fields::errors(html, contract);
            fields::limits(html, tool, facts.ceilings);
        });
        html.element("div", &[("class", "calls")], |html| {
            examples(html, contract, facts);
            try_it(html, contract);
        });
    });
}

fn head(html: &mut Html, contract: &Contract) {
    let link = format!("#{}", encoded(&anchor(&contract.name)));
    html.element("h3", &[], |html| {
        html.leaf("a", &[("href", &link)], title(contract));
        if contract.title.is_some() {
            html.text(" ");
            html.code(&contract.name);
        }
    });
    html.element("ul", &[("class", "badges"), ("aria-label", "Properties")], |html| {
        let mut badge = |class, text: &str| html.leaf("li", &[("class", class)], text);
        badge(
            match contract.stability {
                Stability::Stable => "badge good",
                Stability::Experimental => "badge",
                Stability::Deprecated => "badge warn",
            },
            contract.stability.word(),
        );
        let changes = contract.effects.changes_the_world();
        badge(
            if changes { "badge warn" } else { "badge" },
            &format!("effects: {}", contract.effects.word()),
        );
        match contract.approval {
            Approval::Never => badge("badge", "approval: never"),
            Approval::Required => badge("badge warn", "approval: required"),
        }
        badge("plain", &format!("version {}", contract.version));
        for tag in contract.tags.iter().collect::<BTreeSet<_>>() {
            badge("plain", &format!("#{tag}"));
        }
    });
}

/// The good calls first, the first of them open. An answer that the gate must stop
/// teaches a caller nothing.
fn examples(html: &mut Html, contract: &Contract, facts: &Facts) {
    let mut shown: Vec<&Example> =
        contract.examples.iter().filter(|example| example.bad_output.is_none()).collect();
    shown.sort_by_key(|example| !example.is_good());
    html.leaf("h4", &[], if shown.is_empty() { "Call" } else { "Examples" });
    if shown.is_empty() {
        commands(html, &contract.name, &sample::arguments(contract), facts);
    }
    for (index, example) in shown.into_iter().enumerate() {
        let open: &[_] = if index == 0 { &[("open", "")] } else { &[] };
        html.element("details", open, |html| {
            html.element("summary", &[], |html| {
                html.text(&prose::one_line(&example.title));
                if let Some(error) = &example.error {
                    html.text(" ");
                    html.leaf("code", &[("class", "badge warn")], error);
                }
            });
            if let Some(notes) = &example.notes {
                prose::blocks(html, notes);
            }
            commands(html, &contract.name, &example.input, facts);
            if let Some(output) = &example.output {
                html.listing("Result", &sample::printed(output));
            }
        });
    }
}

/// Both ways to make a call.
fn commands(html: &mut Html, tool: &str, input: &Map<String, Value>, facts: &Facts) {
    let call = (sample::path(tool), json!({ "args": input }));
    let execute = (sample::EXECUTE.to_owned(), json!({ "tool": tool, "input": input }));
    for (path, body) in [call, execute] {
        html.listing(&format!("POST /{path}"), &sample::curl(&path, &body, facts.bearer));
    }
}

/// A form that only the script can send; without it, it is not there.
fn try_it(html: &mut Html, contract: &Contract) {
    let id = format!("arguments-{}", contract.name);
    let action = sample::path(&contract.name);
    html.element("details", &[("class", "try"), ("hidden", "")], |html| {
        html.leaf("summary", &[], "Try it");
        html.element("form", &[("method", "post"), ("action", &action)], |html| {
            html.element("label", &[("for", &id)], |html| {
                html.text("Arguments of ");
                html.code(&contract.name);
                html.text(", as JSON");
            });
            let text = sample::editable(&sample::arguments(contract));
            let rows = text.lines().count().clamp(3, 16).to_string();
            let attributes = [
                ("id", &*id),
                ("rows", &*rows),
                ("spellcheck", "false"),
                ("autocomplete", "off"),
                ("autocapitalize", "off"),
            ];
            html.leaf("textarea", &attributes, &text);
            html.element("p", &[("class", "bar")], |html| {
                html.leaf("button", &[("type", "submit")], "Run");
                html.text(" ");
                html.leaf("span", &[("class", "note")], warning(contract));
            });
            html.leaf("p", &[("class", "status"), ("role", "status")], "");
            html.element(
                "pre",
                &[("class", "answer"), ("tabindex", "0"), ("hidden", "")],
                |html| {
                    html.code("");
                },
            );
        });
    });
}

/// What whoever presses the button should know.
fn warning(contract: &Contract) -> &'static str {
    match (contract.approval, contract.effects.changes_the_world()) {
        (Approval::Required, _) => "A real call. It is refused until a person agrees to it.",
        (Approval::Never, true) => "A real call. It changes something outside.",
        (Approval::Never, false) => "A real call. It changes nothing outside.",
    }
}
