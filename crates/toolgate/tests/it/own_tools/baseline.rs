//! The promises of the stable tools that are shipped. `contracts/baseline/stable.json` has them as they were last accepted.
//!
//! `UPDATE_BASELINE=1 cargo test -p toolgate --test it baseline` accepts the contracts as they are, unless a change breaks
//! callers. Such a change needs a new major version of the contract.

use std::collections::BTreeMap;

use contract::{Contract, Stability, read};
use serde_json::{Value, json};
use tools::ToolSettings;
use workbench::compare::{self, ChangeClass, PartialContract};

use crate::root;

const FILE: &str = "contracts/baseline/stable.json";
/// The parts of a contract that callers rely on.
const PARTS: [&str; 9] = [
    "version",
    "status",
    "effects",
    "approval",
    "toolset",
    "input_schema",
    "output_schema",
    "errors",
    "limits",
];

fn shipped() -> Vec<Contract> {
    let all = tools::built_in(&ToolSettings::default()).into_iter();
    all.map(|tool| read::trusted(tool.contract).unwrap()).collect()
}

/// The promise of a contract, as the file has it.
fn promise(contract: &Contract) -> Value {
    let whole = contract.to_value();
    let parts = PARTS.iter().filter_map(|part| Some((*part, whole.get(*part)?.clone())));
    json!(parts.collect::<BTreeMap<_, _>>())
}

/// The promise that was accepted, for the comparison.
fn accepted(name: &str, promise: &Value) -> PartialContract {
    let part = |key: &str| promise.get(key).cloned();
    let errors = promise["errors"].as_array().into_iter().flatten().map(|error| {
        let status = error["http_status"].as_u64().unwrap().try_into().unwrap();
        (error["code"].as_str().unwrap().to_owned(), status)
    });
    let limits = promise["limits"].as_object().into_iter().flatten();
    PartialContract {
        name: name.to_owned(),
        description: None,
        status: part("status").map(|one| serde_json::from_value(one).unwrap()),
        effects: part("effects").map(|one| serde_json::from_value(one).unwrap()),
        approval: part("approval").map(|one| serde_json::from_value(one).unwrap()),
        input_schema: part("input_schema"),
        output_schema: part("output_schema"),
        errors: Some(errors.collect()),
        limits: limits.map(|(name, limit)| (name.clone(), limit.as_u64().unwrap())).collect(),
    }
}

fn major(version: &str) -> &str {
    version.split('.').next().unwrap_or_default()
}

/// What callers of stable tools would notice, a line each.
fn breaking(baseline: &Value, contracts: &[Contract]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, before) in baseline.as_object().unwrap() {
        let Some(contract) = contracts.iter().find(|one| one.name == *name) else {
            found.push(format!("`{name}` is gone"));
            continue;
        };
        if major(before["version"].as_str().unwrap()) != major(&contract.version) {
            continue;
        }
        if contract.stability == Stability::Experimental {
            found.push(format!("`{name}` is experimental again"));
        }
        if before["toolset"] != contract.toolset.as_str() {
            found.push(format!("`{name}` has moved to another toolset"));
        }
        let changes =
            compare::contracts(&accepted(name, before), &PartialContract::of_contract(contract));
        let breaking = changes.into_iter().filter(|change| change.class == ChangeClass::Breaking);
        found.extend(
            breaking.map(|one| format!("`{name}`: {} {}: {}", one.part, one.pointer, one.text)),
        );
    }
    found
}

#[test]
fn stable_tools_keep_their_promises() {
    let contracts = shipped();
    let file = root().join(FILE);
    let kept = std::fs::read_to_string(&file).unwrap_or_else(|_| "{}".to_owned());
    let baseline: Value = serde_json::from_str(&kept).unwrap();
    let broken = breaking(&baseline, &contracts);
    assert!(
        broken.is_empty(),
        "callers of stable tools would break; see CONTRIBUTING.md, \"A stable tool\":\n{}",
        broken.join("\n")
    );
    let stable = contracts.iter().filter(|one| one.stability != Stability::Experimental);
    let now: BTreeMap<_, _> = stable.map(|one| (one.name.as_str(), promise(one))).collect();
    let now = format!("{:#}\n", json!(now));
    if std::env::var_os("UPDATE_BASELINE").is_some() {
        std::fs::write(&file, now).unwrap();
        return;
    }
    assert!(
        kept == now,
        "{FILE} is not what the contracts promise now; nothing breaks, so run \
         UPDATE_BASELINE=1 cargo test -p toolgate --test it baseline"
    );
}

#[test]
fn a_change_that_breaks_callers_is_found() {
    let contracts = shipped();
    let echo = || contracts.iter().find(|one| one.name == "echo_json").unwrap().clone();
    let baseline = json!({ "echo_json": promise(&echo()) });
    let check = |change: &dyn Fn(&mut Contract), expected: &[&str]| {
        let mut changed = echo();
        change(&mut changed);
        let found = breaking(&baseline, &[changed]);
        assert_eq!(found.is_empty(), expected.is_empty(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found}");
        }
    };
    check(&|_| {}, &[]);
    check(&|one| one.description = "Other words.".into(), &[]);
    check(&|one| one.input_schema["required"] = json!(["message", "n"]), &["`echo_json`: input"]);
    check(&|one| one.output_schema = json!({ "type": "array" }), &["`echo_json`: output"]);
    check(&|one| one.stability = Stability::Experimental, &["is experimental again"]);
    check(&|one| one.stability = Stability::Deprecated, &[]);
    check(&|one| one.toolset = "other".into(), &["has moved"]);
    check(&|one| one.name = "hi".into(), &["is gone"]);
    // A new major version says that it breaks.
    check(
        &|one| {
            one.version = "99".into();
            one.output_schema = json!({ "type": "array" });
        },
        &[],
    );
}
