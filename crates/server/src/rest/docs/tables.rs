//! The tables of a tool: its arguments, results, errors and limits.

use contract::{Contract, Limits, codes, render};
use gate::Tool;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::{markdown, untrusted::Untrusted};

/// A table with a head; `class` says how it is laid out.
pub(super) fn table(class: &str, head: &[&str], body: &Markup) -> Markup {
    html! {
        table class=(class) {
            thead { tr { @for name in head { th scope="col" { (name) } } } }
            tbody { (body) }
        }
    }
}

/// Every value that a schema describes, by its path.
pub(super) fn values(schema: &Value, whole: &str, otherwise: &str) -> Markup {
    let rows = render::rows(schema, whole);
    if rows.is_empty() {
        return html! { p { (otherwise) } };
    }
    table(
        "values",
        &["Name", "Type", "Required", "Description"],
        &html! {
            @for row in &rows {
                tr {
                    th scope="row" { (path(&row.name)) }
                    td.kind { (Untrusted(&row.kind)) }
                    td class=(if row.required == "yes" { "required" } else { "optional" }) { (row.required) }
                    td { (markdown::inline(&row.description)) }
                }
            }
        },
    )
}

/// The path of a value; what stands before its own name is only repeated.
fn path(name: &str) -> Markup {
    // A pattern has dots of its own.
    let split = name.rfind('.').filter(|_| !name.contains('/')).map_or(0, |dot| dot + 1);
    html! {
        code {
            @if split > 0 { span.above { (Untrusted(&name[..split])) } }
            (Untrusted(&name[split..]))
        }
    }
}

/// The errors that a contract declares, and where the others are.
pub(super) fn errors(contract: &Contract) -> Markup {
    let (input_error, _) = contract.input_error();
    html! {
        @if !contract.errors.is_empty() {
            (error_table(contract.errors.iter().map(|one| (&*one.code, one.http_status, &*one.description))))
        }
        p.note {
            (if contract.errors.is_empty() { "None of its own; the " } else { "The " })
            a href="#standard-errors" { "standard errors" } " apply"
            @if input_error != codes::INVALID_INPUT.code {
                ", with " code { (Untrusted(input_error)) }
                " in place of " code { (codes::INVALID_INPUT.code) }
            }
            "."
        }
    }
}

/// The errors that any route may answer with.
pub(super) fn standard_errors() -> Markup {
    error_table(codes::STANDARD.iter().map(|one| (one.code, one.http_status, one.description)))
}

fn error_table<'a>(rows: impl Iterator<Item = (&'a str, u16, &'a str)>) -> Markup {
    table(
        "errors",
        &["Code", "Status", "When"],
        &html! {
            @for (code, status, when) in rows {
                tr {
                    th scope="row" { code { (Untrusted(code)) } }
                    td { (status) }
                    td { (markdown::inline(when)) }
                }
            }
        },
    )
}

/// The limits of a call of the tool: time and size in sight, all of them on demand.
pub(super) fn limits(tool: &Tool, ceilings: &Limits) -> Markup {
    let own = json!(tool.contract.limits);
    let process = json!(tool.contract.process_limits);
    let entries = tool.limits.entries().into_iter().zip(ceilings.entries());
    let rows = html! {
        @for ((name, value, _), (_, ceiling, _)) in entries {
            (limit(name, value, own.get(name).is_some(), &in_words(name, ceiling)))
        }
        @for (name, value) in process.as_object().into_iter().flatten() {
            (limit(name, value.as_u64().unwrap_or_default(), true, "fixed"))
        }
    };
    html! {
        details {
            summary {
                h4 { "Limits" }
                span.note {
                    (in_words("_ms", tool.limits.timeout_ms)) ", result up to "
                    (in_words("_bytes", tool.limits.max_output_bytes))
                }
            }
            (table("limits", &["Limit", "Value", "Most that a request may ask for"], &rows))
        }
    }
}

fn limit(name: &str, value: u64, own: bool, ceiling: &str) -> Markup {
    html! {
        tr {
            th scope="row" { code { (name) } }
            td { (in_words(name, value)) @if own { " " span.badge { "set by the contract" } } }
            td { (ceiling) }
        }
    }
}

/// A number in the unit that the name of its limit ends with.
fn in_words(name: &str, value: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    if name.ends_with("_ms") {
        return if value >= 1_000 && value.is_multiple_of(1_000) {
            format!("{} s", grouped(value / 1_000))
        } else {
            format!("{} ms", grouped(value))
        };
    }
    if name.ends_with("_bytes") {
        let whole = UNITS.iter().find(|(unit, _)| value >= *unit && value.is_multiple_of(*unit));
        return match whole {
            Some((unit, word)) => format!("{} {word}", grouped(value / unit)),
            None => format!("{} bytes", grouped(value)),
        };
    }
    grouped(value)
}

/// Digits in groups of three: `25 000 000` is read, `25000000` is counted.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            // Narrow, and never the end of a line.
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_unit() {
        assert_eq!(in_words("timeout_ms", 30_000), "30 s");
        assert_eq!(in_words("timeout_ms", 1_500), "1\u{202f}500 ms");
        assert_eq!(in_words("max_output_bytes", 5_242_880), "5 MiB");
        assert_eq!(in_words("max_stdout_bytes", 1_000_000), "1\u{202f}000\u{202f}000 bytes");
        assert_eq!(in_words("max_artifacts", 64), "64");
        assert_eq!(in_words("max_stdout_bytes", 0), "0 bytes");
    }

    #[test]
    fn the_way_to_a_value_stands_back() {
        assert_eq!(
            path("results[].title").into_string(),
            "<code><span class=\"above\">results[].</span>title</code>"
        );
        assert_eq!(path("/^a.b$/").into_string(), "<code>/^a.b$/</code>");
    }
}
