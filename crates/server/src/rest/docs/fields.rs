//! The tables of a tool: what goes in, what comes out, what can go wrong, what bounds it.

use contract::{Contract, Limits, codes, render};
use gate::Tool;
use serde_json::{Value, json};

use super::{html::Html, prose};

/// Every value that a schema speaks of, by its path.
pub(super) fn values(html: &mut Html, schema: &Value, whole: &str, otherwise: &str) {
    let rows = render::rows(schema, whole);
    if rows.is_empty() {
        html.leaf("p", &[], otherwise);
        return;
    }
    html.table("values", &["Name", "Type", "Required", "Description"], |html| {
        for row in &rows {
            html.element("tr", &[], |html| {
                html.element("th", &[("scope", "row")], |html| path(html, &row.name));
                html.leaf("td", &[("class", "kind")], &row.kind);
                let class = if row.required == "yes" { "required" } else { "optional" };
                html.leaf("td", &[("class", class)], row.required);
                html.element("td", &[], |html| prose::inline(html, &row.description));
            });
        }
    });
}

/// The path of a value; what stands before its own name is only said once more.
fn path(html: &mut Html, name: &str) {
    html.element("code", &[], |html| {
        // A pattern has dots of its own.
        let split = name.rfind('.').filter(|_| !name.contains('/')).map_or(0, |dot| dot + 1);
        if split > 0 {
            html.leaf("span", &[("class", "above")], &name[..split]);
        }
        html.text(&name[split..]);
    });
}

/// The errors that a contract declares, and where the others are.
pub(super) fn errors(html: &mut Html, contract: &Contract) {
    if !contract.errors.is_empty() {
        let rows = contract.errors.iter();
        error_table(html, rows.map(|one| (&*one.code, one.http_status, &*one.description)));
    }
    html.element("p", &[("class", "note")], |html| {
        html.text(if contract.errors.is_empty() { "None of its own; the " } else { "The " });
        html.leaf("a", &[("href", "#standard-errors")], "standard errors");
        let (input_error, _) = contract.input_error();
        if input_error == codes::INVALID_INPUT.code {
            html.text(" apply.");
        } else {
            html.text(" apply, with ");
            html.leaf("code", &[], input_error);
            html.text(" in place of ");
            html.leaf("code", &[], codes::INVALID_INPUT.code);
            html.text(".");
        }
    });
}

/// The errors that any route may answer with.
pub(super) fn standard_errors(html: &mut Html) {
    let rows = codes::STANDARD.iter();
    error_table(html, rows.map(|one| (one.code, one.http_status, one.description)));
}

fn error_table<'a>(html: &mut Html, rows: impl Iterator<Item = (&'a str, u16, &'a str)>) {
    html.table("errors", &["Code", "Status", "When"], |html| {
        for (code, status, when) in rows {
            html.element("tr", &[], |html| {
                html.element("th", &[("scope", "row")], |html| html.code(code));
                html.leaf("td", &[], &status.to_string());
                html.element("td", &[], |html| prose::inline(html, when));
            });
        }
    });
}

/// What bounds a call of the tool: its own numbers first in sight, all of them on demand.
pub(super) fn limits(html: &mut Html, tool: &Tool, ceilings: &Limits) {
    html.element("details", &[], |html| {
        html.element("summary", &[], |html| {
            html.leaf("h4", &[], "Limits");
            let (time, size) = (tool.limits.timeout_ms, tool.limits.max_output_bytes);
            let short =
                format!("{}, result up to {}", in_words("_ms", time), in_words("_bytes", size));
            html.leaf("span", &[("class", "note")], &short);
        });
        let own = json!(tool.contract.limits);
        let entries = tool.limits.entries().into_iter().zip(ceilings.entries());
        html.table("limits", &["Limit", "Value", "Most that a request may ask for"], |html| {
            for ((name, value, _), (_, ceiling, _)) in entries {
                limit(html, name, value, own.get(name).is_some(), &in_words(name, ceiling));
            }
            let process = json!(tool.contract.process_limits);
            for (name, value) in process.as_object().into_iter().flatten() {
                limit(html, name, value.as_u64().unwrap_or_default(), true, "fixed");
            }
        });
    });
}

fn limit(html: &mut Html, name: &str, value: u64, own: bool, ceiling: &str) {
    html.element("tr", &[], |html| {
        html.element("th", &[("scope", "row")], |html| html.code(name));
        html.element("td", &[], |html| {
            html.text(&in_words(name, value));
            if own {
                html.text(" ");
                html.leaf("span", &[("class", "badge")], "set by the contract");
            }
        });
        html.leaf("td", &[], ceiling);
    });
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
        let mut html = Html::default();
        path(&mut html, "results[].title");
        path(&mut html, "/^a.b$/");
        assert_eq!(
            html.into_string(),
            "<code><span class=\"above\">results[].</span>title</code><code>/^a.b$/</code>"
        );
    }
}
