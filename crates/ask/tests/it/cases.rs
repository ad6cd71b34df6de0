//! The rows of the acceptance cases that are about one gate.

use std::{collections::HashMap, sync::Arc};

use ask::{
    Plan,
    candidates::Candidates,
    plan::{self, PlanRefusal},
    policy::{self, Policy},
    quotation::QuoteSource,
    summary,
};
use contract::closed_schema;
use gate::Catalogue;
use serde_json::Value;

use crate::fixture::{uncalled, withheld};

/// The catalogue of the fixture: what is not on the allowlist is known and not served.
fn candidates(fixture: &Value) -> Candidates {
    let (mut tools, mut hidden) = (Vec::new(), HashMap::new());
    for (server, listed) in fixture["catalog"].as_object().unwrap() {
        let allowed = fixture["allowlist"][server].as_array().unwrap();
        for tool in listed.as_array().unwrap() {
            let path = format!("{server}.{}", tool["name"].as_str().unwrap());
            if allowed.contains(&tool["name"]) {
                tools.push(uncalled(&path, &closed_schema::close(&tool["inputSchema"]).schema));
            } else {
                hidden.extend([withheld(&path)]);
            }
        }
    }
    Candidates::new(Arc::new(Catalogue::of(tools, hidden)), &[])
}

fn plan_gate(input: &Value, candidates: &Candidates) -> &'static str {
    let checked = plan::read(&input.to_string()).and_then(|plan| match plan {
        Plan::CallTool(call) => plan::check(&call, candidates, None).map(|_| "allow"),
        Plan::FinalAnswer { tool, .. } => {
            plan::clarify(tool.as_deref(), candidates, "").map(|_| "allow_final_answer")
        }
    });
    checked.unwrap_or_else(|refused| match refused {
        PlanRefusal::NotAllowed { .. } => "block_allowlist",
        PlanRefusal::Rejected(_) | PlanRefusal::Invalid(_) => "block_validate_plan",
    })
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
            "input_policy" => allow(policy.stops(input.as_str().unwrap()).is_none()),
            "plan_parse" => allow(match input {
                Value::String(text) => plan::read(text).is_ok(),
                value => plan::read(&value.to_string()).is_ok(),
            }),
            "plan_gate" => plan_gate(input, &candidates),
            "grounding" => {
                let mut source = QuoteSource::new(&row["source"]);
                let read = summary::read(&input.to_string());
                allow(read.is_ok_and(|draft| summary::ground(&draft, &mut source).is_ok()))
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
