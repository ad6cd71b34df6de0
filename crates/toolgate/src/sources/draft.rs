//! A contract from the parts that a source knows.

use contract::{
    ApprovalRequirement, Contract, ContractStatus, DeclaredError, Effects, LargeOutput,
    LimitOverrides, Presentation, ProcessLimitOverrides, SandboxSettings, Stability, StdoutForm,
    TaskSupport,
};
use serde_json::{Value, json};
use workbench::compare::PartialContract;

use super::SourceTool;

/// A contract of these parts. A missing part has the least strict value, except effects: an unknown tool may have any.
pub(super) fn of(promise: &PartialContract, toolset: &str, version: &str) -> Contract {
    let errors = promise.errors.iter().flatten().map(|(code, status)| DeclaredError {
        code: code.clone(),
        http_status: *status,
        replaces: None,
        argument: None,
        description: String::new(),
    });
    let limits = promise.limits.iter().map(|(name, limit)| (name.clone(), json!(limit)));
    let limits = Value::Object(limits.collect());
    Contract {
        name: promise.name.clone(),
        title: None,
        description: promise.description.clone().unwrap_or_default(),
        version: version.to_owned(),
        status: promise.status.unwrap_or_default(),
        transport: None,
        endpoint: None,
        stability: Stability::Experimental,
        deprecated_since: None,
        replaced_by: None,
        removed_after: None,
        tags: Vec::new(),
        toolset: toolset.to_owned(),
        toolset_default: false,
        effects: promise.effects.unwrap_or(Effects::Control),
        effects_unknown: promise.effects.is_none(),
        approval: promise.approval.unwrap_or(ApprovalRequirement::Never),
        tasks: TaskSupport::default(),
        presentation: Presentation::Json,
        icons: Vec::new(),
        input_schema: promise.input_schema.clone().unwrap_or(json!({ "type": "object" })),
        output_schema: promise.output_schema.clone().unwrap_or(json!({})),
        errors: errors.collect(),
        limits: serde_json::from_value(limits).unwrap_or_else(|_| LimitOverrides::default()),
        large_output: LargeOutput::Refuse,
        process_limits: ProcessLimitOverrides::default(),
        examples: Vec::new(),
        run: None,
        env: Vec::new(),
        stdin: None,
        output: StdoutForm::default(),
        sandbox: SandboxSettings::default(),
        journal_values: false,
    }
}

pub(super) fn known(contract: Contract) -> SourceTool {
    let promise = PartialContract::of_contract(&contract);
    SourceTool { promise, contract, listed: None, own_name: None, inputs: None }
}

/// A tool as `GET /v1/tools` describes it; none if it has no name or no input schema.
pub(super) fn described(value: &Value) -> Option<SourceTool> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let word = |key: &str| value.get(key).cloned();
    let errors = value.get("errors").and_then(Value::as_array).map(|all| {
        let read = |one: &Value| {
            let status = one.get("http_status")?.as_u64()?.try_into().ok()?;
            Some((one.get("code")?.as_str()?.to_owned(), status))
        };
        all.iter().filter_map(read).collect::<Vec<_>>()
    });
    let limits = value.get("limits").and_then(Value::as_object).into_iter().flatten();
    let promise = PartialContract {
        name: text("name")?,
        description: text("description"),
        status: Some(
            word("status")
                .and_then(|one| serde_json::from_value(one).ok())
                .unwrap_or(ContractStatus::Active),
        ),
        effects: word("effects").and_then(|one| serde_json::from_value(one).ok()),
        approval: word("approval").and_then(|one| serde_json::from_value(one).ok()),
        input_schema: Some(value.get("input_schema")?.clone()),
        output_schema: word("output_schema"),
        errors: Some(errors.unwrap_or_default()),
        limits: limits.filter_map(|(name, value)| Some((name.clone(), value.as_u64()?))).collect(),
    };
    let toolset = text("toolset").unwrap_or_else(|| "tools".to_owned());
    let contract = of(&promise, &toolset, &text("version").unwrap_or_else(|| "0".to_owned()));
    Some(SourceTool { promise, contract, listed: None, own_name: None, inputs: None })
}
