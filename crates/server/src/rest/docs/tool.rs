//! The part of the page about one tool.

use std::collections::BTreeSet;

use contract::{ApprovalRequirement, Contract, Example, LargeOutput, Stability, render::output};
use gate::Tool;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::{
    markdown,
    page::PageFacts,
    sample, tables,
    untrusted::{Untrusted, encoded},
};

/// The anchor of a tool on the page. Toolsets start with `toolset-`, so the two never meet.
pub(super) fn anchor(name: &str) -> String {
    format!("tool-{name}")
}

/// The title of a tool.
pub(super) fn title(contract: &Contract) -> &str {
    contract.title.as_deref().unwrap_or(&contract.name)
}

/// The text that the filter looks at, in lower case.
pub(super) fn words(contract: &Contract) -> String {
    let mut words = vec![&*contract.name, title(contract), &contract.toolset];
    words.extend(contract.tags.iter().map(String::as_str));
    words.extend([contract.effects_text(), contract.stability.word()]);
    let about = markdown::one_line(&contract.description);
    words.push(&about);
    words.join(" ").to_lowercase()
}

/// Everything about one tool.
pub(super) fn article(tool: &Tool, facts: &PageFacts) -> Markup {
    let contract = &*tool.contract;
    let (id, find) = (anchor(&contract.name), words(contract));
    html! {
        article.tool id=(Untrusted(&id)) data-find=(Untrusted(&find)) {
            header { (head(contract)) }
            div.about {
                (markdown::blocks(&contract.description))
                h4 { "Input" }
                (tables::values(&contract.input_schema, "the input", "The tool takes no arguments."))
                h4 { "Output" }
                (tables::values(&contract.output_schema, "the result", "An object."))
                @if contract.large_output == LargeOutput::Artifact { (markdown::blocks(output::LARGE)) }
                h4 { "Errors" }
                (tables::errors(contract))
                (tables::limits(tool, facts.ceilings))
            }
            div.calls {
                (examples(contract, facts))
                (try_it(contract))
            }
        }
    }
}

fn head(contract: &Contract) -> Markup {
    let stability = match contract.stability {
        Stability::Stable => "badge good",
        Stability::Experimental => "badge",
        Stability::Deprecated => "badge warn",
    };
    let effects = if contract.effects.changes_the_world() { "badge warn" } else { "badge" };
    let (approval, word) = match contract.approval {
        ApprovalRequirement::Never => ("badge", "never"),
        ApprovalRequirement::Required => ("badge warn", "required"),
    };
    html! {
        h3 {
            a href={ "#" (encoded(&anchor(&contract.name))) } { (Untrusted(title(contract))) }
            @if contract.title.is_some() { " " code { (Untrusted(&contract.name)) } }
        }
        ul.badges aria-label="Properties" {
            li class=(stability) { (contract.stability.word()) }
            li class=(effects) { "effects: " (contract.effects_text()) }
            li class=(approval) { "approval: " (word) }
            li.plain { "version " (Untrusted(&contract.version)) }
            @for tag in contract.tags.iter().collect::<BTreeSet<_>>() {
                li.plain { "#" (Untrusted(tag)) }
            }
        }
    }
}

/// The good calls first, the first of them open. An answer that the gate must stop
/// teaches a caller nothing.
fn examples(contract: &Contract, facts: &PageFacts) -> Markup {
    let mut shown: Vec<&Example> =
        contract.examples.iter().filter(|example| example.bad_output.is_none()).collect();
    shown.sort_by_key(|example| !example.is_good());
    html! {
        @if shown.is_empty() {
            h4 { "Call" }
            (commands(&contract.name, &sample::arguments(contract), facts))
        } @else {
            h4 { "Examples" }
        }
        @for (index, example) in shown.into_iter().enumerate() {
            details open[index == 0] {
                summary {
                    (Untrusted(&markdown::one_line(&example.title)))
                    @if let Some(error) = &example.error {
                        " " code.badge.warn { (Untrusted(error)) }
                    }
                }
                @if let Some(notes) = &example.notes { (markdown::blocks(notes)) }
                (commands(&contract.name, &example.input, facts))
                @if let Some(output) = &example.output {
                    (listing("Result", &sample::printed(output)))
                }
            }
        }
    }
}

/// Both ways to make a call.
fn commands(tool: &str, input: &Map<String, Value>, facts: &PageFacts) -> Markup {
    let call = (sample::path(tool), json!({ "args": input }));
    let execute = (sample::EXECUTE.to_owned(), json!({ "tool": tool, "input": input }));
    html! {
        @for (path, body) in [call, execute] {
            (listing(&format!("POST /{path}"), &sample::curl(&path, &body, facts.bearer)))
        }
    }
}

/// A block of code that can be copied.
fn listing(label: &str, text: &str) -> Markup {
    html! {
        figure.listing {
            figcaption { (label) }
            // It scrolls, so the keyboard must reach it.
            pre tabindex="0" { code { (Untrusted(text)) } }
        }
    }
}

/// A form that only the script can send; without it, it is not there.
fn try_it(contract: &Contract) -> Markup {
    let id = format!("arguments-{}", contract.name);
    let text = sample::editable(&sample::arguments(contract));
    let rows = text.lines().count().clamp(3, 16);
    html! {
        details.try hidden {
            summary { "Try it" }
            form method="post" action=(sample::path(&contract.name)) {
                label for=(Untrusted(&id)) {
                    "Arguments of " code { (Untrusted(&contract.name)) } ", as JSON"
                }
                textarea id=(Untrusted(&id)) rows=(rows) spellcheck="false" autocomplete="off" autocapitalize="off" {
                    (Untrusted(&text))
                }
                p.bar { button type="submit" { "Run" } " " span.note { (warning(contract)) } }
                p.status role="status" {}
                pre.answer tabindex="0" hidden { code {} }
            }
        }
    }
}

/// The effect of pressing the button.
fn warning(contract: &Contract) -> &'static str {
    match (contract.approval, contract.effects.changes_the_world()) {
        (ApprovalRequirement::Required, _) => {
            "A real call. It is refused until a person agrees to it."
        }
        (ApprovalRequirement::Never, true) if contract.effects_unknown => {
            "A real call. It may change something outside."
        }
        (ApprovalRequirement::Never, true) => "A real call. It changes something outside.",
        (ApprovalRequirement::Never, false) => "A real call. It changes nothing outside.",
    }
}
