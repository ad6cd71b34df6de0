//! A report as SARIF 2.1.0.

use crate::{CheckSuite, FindingSeverity, ProbeFinding, ProbeReport, ProbeRule};
use serde_json::{Value, json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The log: every broken rule, and every finding.
pub fn log(report: &ProbeReport) -> Value {
    let mut broken: Vec<&'static ProbeRule> = Vec::new();
    let mut results = Vec::new();
    for (suite, check, finding) in report.findings() {
        let index = broken.iter().position(|known| *known == finding.rule).unwrap_or_else(|| {
            broken.push(finding.rule);
            broken.len() - 1
        });
        results.push(result(report, suite, &check.title, finding, index));
    }
    let rules: Vec<_> = broken.into_iter().map(rule).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "toolgate probe",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "invocations": [{ "executionSuccessful": report.cut.is_none() }],
            "properties": {
                "server": report.server,
                "protocol": report.protocol,
                "seed": report.seed,
            },
            "results": results,
        }],
    })
}

fn rule(rule: &ProbeRule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.title },
        "help": { "text": rule.fix },
        "defaultConfiguration": { "level": level(rule.severity) },
    })
}

fn result(
    report: &ProbeReport,
    suite: &CheckSuite,
    check: &str,
    finding: &ProbeFinding,
    index: usize,
) -> Value {
    let whole = match &suite.tool {
        Some(tool) => format!("{}/{tool}", report.server),
        None => report.server.clone(),
    };
    let kind = if suite.tool.is_some() { "function" } else { "module" };
    let mut places =
        vec![json!({ "name": suite.subject(), "fullyQualifiedName": whole, "kind": kind })];
    places.extend(finding.pointers.iter().map(|pointer| {
        json!({ "name": pointer, "fullyQualifiedName": format!("{whole}#{pointer}"), "kind": "value" })
    }));
    let mut properties = json!({ "check": check });
    if let Some(input) = &finding.input {
        properties["input"] = input.clone();
    }
    json!({
        "ruleId": finding.rule.id,
        "ruleIndex": index,
        "level": level(finding.rule.severity),
        "message": { "text": format!("{}: {}", finding.rule.title, finding.message) },
        "locations": [{ "logicalLocations": places }],
        "properties": properties,
    })
}

fn level(severity: FindingSeverity) -> &'static str {
    match severity {
        FindingSeverity::Failure => "error",
        FindingSeverity::Warning => "warning",
        FindingSeverity::Note => "note",
    }
}
