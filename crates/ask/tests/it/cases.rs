//! The rows of the acceptance cases that are about one gate.

use std::{collections::HashMap, sync::Arc};

use ask::{
    candidates::Candidates,
    plan::{self, CheckedPlan, PlanRefusal},
    policy::{self, Policy},
    quotation::QuoteSource,
    summary,
};
use contract::{Limits, closed_schema, codes};
use gate::{
    BoxFuture, Catalogue, Provider, RunningCall, Tool, ToolError, ToolOutput, WithheldTool,
};
use serde_json::{Value, json};

use crate::hall;

struct Nothing;

impl Provider for Nothing {
    fn run<'a>(&'a self, _: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async { Ok(ToolOutput::default()) })
    }
}

/// The catalogue of the fixture: what is not on the allowlist is known and not served.
fn candidates(fixture: &Value) -> Candidates {
    let mut tools = Vec::new();
    let mut withheld = HashMap::new();
    for (server, listed) in fixture["catalog"].as_object().unwrap() {
        for tool in listed.as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            let allowed = fixture["allowlist"][server].as_array().unwrap();
            if !allowed.contains(&tool["name"]) {
                let message = format!("Tool not allowed: {server}.{name}");
                let one = WithheldTool {
                    toolset: server.clone(),
                    code: codes::NOT_ALLOWED,
                    message,
                    reason: "not_allowed",
                };
                withheld.insert(format!("{server}__{name}"), one);
                continue;
            }
            let input = closed_schema::close(&tool["inputSchema"]).schema;
            let contract =
                hall::contract(server, name, "read", &input, &json!({ "type": "object" }));
            tools.push(Arc::new(
                Tool::new(contract, Arc::new(Nothing), &Limits::default()).unwrap(),
            ));
        }
    }
    Candidates::new(Arc::new(Catalogue::of(tools, withheld)), &[])
}

fn plan_gate(input: &Value, candidates: &Candidates) -> &'static str {
    let checked = plan::of(input.clone()).and_then(|plan| plan::check(&plan, candidates, None));
    match checked {
        Ok(CheckedPlan::Call(_)) => "allow",
        Ok(CheckedPlan::Clarify(_)) => "allow_final_answer",
        Err(PlanRefusal::ToolNotAllowed { .. } | PlanRefusal::ServerNotAllowed(_)) => {
            "block_allowlist"
        }
        Err(_) => "block_validate_plan",
    }
}

#[test]
fn every_row_about_one_gate_holds() {
    let rows = include_str!("../cases/gates.jsonl").lines();
    let rows: Vec<Value> = rows.map(|row| serde_json::from_str(row).unwrap()).collect();
    let candidates = candidates(&rows[0]);
    let policy = Policy::new(&policy::PolicySettings::default()).unwrap();
    let allow = |is_allowed: bool| if is_allowed { "allow" } else { "block" };
    let mut checked = 0;
    for row in &rows[1..] {
        let input = &row["input"];
        let got = match row["gate"].as_str().unwrap() {
            "input_policy" => allow(policy.check(input.as_str().unwrap()).is_ok()),
            "plan_parse" => allow(match input {
                Value::String(text) => plan::read(text).is_ok(),
                value => plan::of(value.clone()).is_ok(),
            }),
            "plan_gate" => plan_gate(input, &candidates),
            "grounding" => {
                let source = QuoteSource::new(&row["source"]);
                let read = summary::read(&input.to_string());
                allow(read.is_ok_and(|draft| summary::ground(&draft, &source).is_ok()))
            }
            // Those are about servers and whole runs: `toolgate/tests/it` has them.
            "typed_output" | "end_to_end" => continue,
            gate => panic!("{gate}"),
        };
        assert_eq!(got, row["expect"], "{}", row["id"]);
        checked += 1;
    }
    assert_eq!(checked, 36);
}
