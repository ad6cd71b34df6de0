//! The reference page: every tool, in Markdown.

mod contained;
mod rows;
mod words;

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write,
};

use serde_json::{Value, json};

use super::{CALL_CODES, deprecation, output};
use crate::{ApprovalRequirement, Contract, Example, LargeOutput, codes};
use contained::contained;
pub use rows::{Row, rows};
use words::{cell, code};

/// The page for these tools, by toolset and name; those that are not served are left
/// out. Descriptions are Markdown already.
pub fn reference(contracts: &[&Contract]) -> String {
    let contracts = super::served(contracts.iter().copied());
    let mut toolsets: BTreeMap<&str, Vec<&Contract>> = BTreeMap::new();
    for contract in contracts {
        toolsets.entry(&contract.toolset).or_default().push(contract);
    }
    let mut page = ReferencePage::new(&toolsets);
    page.block("# Tools");
    page.overview(&toolsets);
    for (toolset, contracts) in &toolsets {
        page.block(&format!("## {}", code(toolset)));
        for contract in contracts {
            page.tool(contract);
        }
    }
    page.standard_errors();
    page.text
}

/// The part of the page about one tool.
pub fn tool(contract: &Contract) -> String {
    let mut page =
        ReferencePage::new(&BTreeMap::from([(contract.toolset.as_str(), vec![contract])]));
    page.tool(contract);
    page.text
}

const STANDARD_ERRORS: &str = "Standard errors";

struct ReferencePage {
    text: String,
    /// The anchor of each tool on the page.
    anchors: HashMap<String, String>,
    standard_errors: String,
}

impl ReferencePage {
    fn new(toolsets: &BTreeMap<&str, Vec<&Contract>>) -> Self {
        let mut seen = HashMap::new();
        let mut anchors = HashMap::new();
        anchor("Tools", &mut seen);
        for (toolset, contracts) in toolsets {
            anchor(toolset, &mut seen);
            for contract in contracts {
                anchors.insert(contract.name.clone(), anchor(&contract.name, &mut seen));
            }
        }
        let standard_errors = anchor(STANDARD_ERRORS, &mut seen);
        Self { text: String::new(), anchors, standard_errors }
    }

    fn block(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn table(&mut self, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        let mut table = format!("| {} |\n|{}", head.join(" | "), "---|".repeat(head.len()));
        for row in rows {
            let cells: Vec<_> = row.iter().map(|text| cell(text)).collect();
            // Writing to a String cannot fail.
            let _ = write!(table, "\n| {} |", cells.join(" | "));
        }
        self.block(&table);
    }

    fn overview(&mut self, toolsets: &BTreeMap<&str, Vec<&Contract>>) {
        let rows: Vec<_> = toolsets
            .values()
            .flatten()
            .map(|contract| {
                let anchor = self.anchors.get(&contract.name).map_or("", String::as_str);
                vec![
                    contract.toolset.clone(),
                    format!("[{}](#{anchor})", code(&contract.name)),
                    contract.effects_text().to_owned(),
                    contract.stability.word().to_owned(),
                    one_line(&contract.description),
                ]
            })
            .collect();
        let head = ["Toolset", "Tool", "Effects", "Stability", "Description"];
        self.table(&head, rows.into_iter());
    }

    fn tool(&mut self, contract: &Contract) {
        self.block(&format!("### {}", code(&contract.name)));
        if let Some(title) = &contract.title {
            self.block(&format!("**{}**", contained(&one_line(title))));
        }
        self.block(&contained(contract.description.trim()));
        self.facts(contract);
        self.block("**Input**");
        self.rows(&rows(&contract.input_schema, "the input"), "The tool takes no arguments.");
        self.block("**Output**");
        self.rows(&rows(&contract.output_schema, "the result"), "An object.");
        if contract.large_output == LargeOutput::Artifact {
            self.block(output::LARGE);
        }
        self.errors(contract);
        self.limits(contract);
        self.examples(contract);
    }

    fn facts(&mut self, contract: &Contract) {
        let approval = match contract.approval {
            ApprovalRequirement::Never => "never",
            ApprovalRequirement::Required => "required for every call",
        };
        let mut facts = vec![
            format!("Version: {}", contract.version),
            format!("Stability: {}", contract.stability.word()),
            format!("Effects: {}", contract.effects_text()),
            format!("Approval: {approval}"),
            format!("Toolset: {}", contract.toolset),
        ];
        if let Some(note) = deprecation::note(contract) {
            facts.insert(2, note);
        }
        if let Some(transport) = &contract.transport {
            facts.push(format!("Transport: {transport}"));
        }
        if let Some(endpoint) = &contract.endpoint {
            facts.push(format!("Endpoint: {}", code(endpoint)));
        }
        if contract.toolset_default {
            facts.push("Default: a call of the toolset without `command` means this tool".into());
        }
        let facts: Vec<_> = facts.iter().map(|fact| format!("- {fact}")).collect();
        self.block(&facts.join("\n"));
    }

    fn rows(&mut self, rows: &[Row], otherwise: &str) {
        if rows.is_empty() {
            self.block(otherwise);
            return;
        }
        let cells = rows.iter().map(|row| {
            vec![
                code(&row.name),
                row.kind.clone(),
                row.required.to_owned(),
                row.description.clone(),
            ]
        });
        self.table(&["Name", "Type", "Required", "Description"], cells);
    }

    fn errors(&mut self, contract: &Contract) {
        self.block("**Errors**");
        let mut declared: Vec<_> = contract.errors.iter().collect();
        declared.sort_by(|one, other| one.code.cmp(&other.code));
        if !declared.is_empty() {
            let rows = declared.into_iter().map(|error| {
                vec![code(&error.code), error.http_status.to_string(), error.description.clone()]
            });
            self.table(&["Code", "Status", "When"], rows);
        }
        let anchor = self.standard_errors.clone();
        let (input_error, _) = contract.input_error();
        let instead = if input_error == codes::INVALID_INPUT.code {
            String::new()
        } else {
            format!(", with `{input_error}` in place of `{}`", codes::INVALID_INPUT.code)
        };
        self.block(&format!("The [standard errors](#{anchor}) apply too{instead}."));
    }

    fn limits(&mut self, contract: &Contract) {
        let mut rows = Vec::new();
        for limits in [json!(contract.limits), json!(contract.process_limits)] {
            for (name, value) in limits.as_object().into_iter().flatten() {
                rows.push(vec![code(name), value.to_string()]);
            }
        }
        if !rows.is_empty() {
            self.block("**Limits**");
            self.table(&["Limit", "Value"], rows.into_iter());
        }
    }

    fn examples(&mut self, contract: &Contract) {
        // An answer that the gate must stop teaches a caller nothing.
        let mut shown: Vec<&Example> =
            contract.examples.iter().filter(|example| example.bad_output.is_none()).collect();
        shown.sort_by_key(|example| (!example.is_good(), &example.title));
        if !shown.is_empty() {
            self.block("**Examples**");
        }
        for example in shown {
            self.block(&format!("*{}*", contained(&one_line(&example.title))));
            if let Some(notes) = &example.notes {
                self.block(&contained(notes.trim()));
            }
            self.json("Input:", &json!(example.input));
            if let Some(output) = &example.output {
                self.json("Output:", output);
            }
            if let Some(error) = &example.error {
                self.block(&format!("Error: {}", code(error)));
            }
        }
    }

    fn json(&mut self, label: &str, value: &Value) {
        // No line of it can close the fence: in JSON a line break inside a text is escaped.
        self.block(&format!("{label}\n\n```json\n{value:#}\n```"));
    }

    fn standard_errors(&mut self) {
        self.block(&format!("## {STANDARD_ERRORS}"));
        self.block("A call of any tool can end with these, whatever its contract declares.");
        let rows = CALL_CODES.iter().map(|one| {
            vec![code(one.code), one.http_status.to_string(), one.description.to_owned()]
        });
        self.table(&["Code", "Status", "When"], rows);
    }
}

/// The first paragraph on one line.
fn one_line(text: &str) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The anchor that `GitHub` and `mdBook` make of a heading: letters, digits, `-` and `_`, in lower
/// case, with a number from the second of the same on.
fn anchor(heading: &str, seen: &mut HashMap<String, usize>) -> String {
    let plain: String = heading
        .chars()
        .filter(|one| one.is_alphanumeric() || "-_ ".contains(*one))
        .map(|one| if one == ' ' { '-' } else { one.to_ascii_lowercase() })
        .collect();
    let count = seen.entry(plain.clone()).or_default();
    *count += 1;
    if *count == 1 { plain } else { format!("{plain}-{}", *count - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::fixtures;

    #[test]
    fn the_page_reads_like_this() {
        let contracts = fixtures::contracts();
        insta::assert_snapshot!(reference(&contracts.iter().collect::<Vec<_>>()));
    }

    #[test]
    fn the_order_of_the_contracts_does_not_matter() {
        let contracts = fixtures::contracts();
        let forward: Vec<_> = contracts.iter().collect();
        let backward: Vec<_> = contracts.iter().rev().collect();
        assert_eq!(reference(&forward), reference(&backward));
    }

    #[test]
    fn anchors_are_those_of_the_headings() {
        let mut seen = HashMap::new();
        let mut check = |heading, expected| assert_eq!(anchor(heading, &mut seen), expected);
        check("search.web", "searchweb");
        check("Search_Web", "search_web");
        check("searchweb", "searchweb-1");
        check("Standard errors", "standard-errors");
    }
}
