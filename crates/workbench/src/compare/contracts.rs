//! The changes between two promises of a tool, wherever they are written down: in a contract, in a
//! document, in what a server lists.

use serde_json::Value;

use super::{ChangeClass, ContractChange, SchemaUse, schemas, texts};
use contract::{ApprovalRequirement, Contract, ContractStatus, Effects, codes};

/// The promises of a tool, as far as they are stated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PartialContract {
    pub name: String,
    pub description: Option<String>,
    pub status: Option<ContractStatus>,
    /// Its effects at most.
    pub effects: Option<Effects>,
    /// `Required` if a person must approve each call.
    pub approval: Option<ApprovalRequirement>,
    /// The schema of its arguments.
    pub input_schema: Option<Value>,
    /// The schema of its results.
    pub output_schema: Option<Value>,
    /// Its errors: code and HTTP status.
    pub errors: Option<Vec<(String, u16)>>,
    /// Its limits, by name.
    pub limits: Vec<(String, u64)>,
}

impl PartialContract {
    /// The promises of a contract.
    pub fn of_contract(contract: &Contract) -> Self {
        let limits = serde_json::to_value(contract.limits).unwrap_or_default();
        let limits = limits.as_object().into_iter().flatten();
        Self {
            name: contract.name.clone(),
            description: Some(contract.description.clone()),
            status: Some(contract.status),
            effects: Some(contract.effects),
            approval: Some(contract.approval),
            input_schema: Some(contract.input_schema.clone()),
            output_schema: Some(contract.output_schema.clone()),
            errors: Some(
                contract.errors.iter().map(|one| (one.code.clone(), one.http_status)).collect(),
            ),
            limits: limits
                .filter_map(|(name, value)| Some((name.clone(), value.as_u64()?)))
                .collect(),
        }
    }

    /// The promises of a tool of `tools/list`. Its annotations are claims, and no part of this.
    pub fn of_tool(tool: &Value) -> Self {
        let text = |key: &str| tool.get(key).and_then(Value::as_str).map(str::to_owned);
        Self {
            name: text("name").unwrap_or_default(),
            description: text("description"),
            status: Some(ContractStatus::Active),
            input_schema: tool.get("inputSchema").cloned(),
            output_schema: tool.get("outputSchema").cloned(),
            ..Self::default()
        }
    }
}

/// The changes from one promise to another. Parts that only one of them states are not compared.
pub fn contracts(old: &PartialContract, new: &PartialContract) -> Vec<ContractChange> {
    let mut changes = Vec::new();
    let mut note =
        |part, class, text: String| changes.push(ContractChange::said(part, class, text));
    if old.name != new.name {
        note(
            "name",
            ChangeClass::Breaking,
            format!("changed from `{}` to `{}`", old.name, new.name),
        );
    }
    if let (Some(old), Some(new)) = (old.status, new.status)
        && old != new
    {
        let (class, text) = match new {
            ContractStatus::Active => (ChangeClass::Widening, "changed from planned to active"),
            ContractStatus::Planned => (ChangeClass::Breaking, "changed from active to planned"),
        };
        note("status", class, text.to_owned());
    }
    // A tool that may look at the world and does not is no news.
    if let (Some(old), Some(new)) = (old.effects, new.effects)
        && (rank(new) > rank(old) || old.changes_the_world() && new != old)
    {
        let class =
            if rank(new) > rank(old) { ChangeClass::Breaking } else { ChangeClass::Widening };
        note("effects", class, format!("changed from `{}` to `{}`", old.word(), new.word()));
    }
    if let (Some(old), Some(new)) = (old.approval, new.approval)
        && old != new
    {
        // Who relied on a person being asked is let down as much as who relied on nobody being.
        let text = match new {
            ApprovalRequirement::Required => "is required now",
            ApprovalRequirement::Never => "is no longer required",
        };
        note("approval", ChangeClass::Breaking, text.to_owned());
    }
    errors(old, new, &mut note);
    limits(old, new, &mut note);
    if let (Some(before), Some(after)) = (&old.description, &new.description) {
        changes.extend(texts(Some(before), Some(after), "description"));
    }
    for (old, new, part, direction) in [
        (&old.input_schema, &new.input_schema, "input", SchemaUse::Input),
        (&old.output_schema, &new.output_schema, "output", SchemaUse::Output),
    ] {
        if let (Some(old), Some(new)) = (old, new) {
            changes.extend(schemas(Some(old), Some(new), part, direction));
        }
    }
    changes
}

fn rank(effects: Effects) -> u8 {
    match effects {
        Effects::None => 0,
        Effects::Read => 1,
        Effects::Append => 2,
        Effects::Write => 3,
        Effects::Control => 4,
    }
}

fn errors(
    old: &PartialContract,
    new: &PartialContract,
    note: &mut impl FnMut(&'static str, ChangeClass, String),
) {
    let (Some(before), Some(after)) = (&old.errors, &new.errors) else { return };
    let status = |list: &[(String, u16)], code: &str| {
        list.iter().find(|(known, _)| known == code).map(|(_, status)| *status)
    };
    for (code, old) in before {
        match status(after, code) {
            Some(new) if new != *old => {
                let text = format!("the status of `{code}` changed from {old} to {new}");
                note("errors", ChangeClass::Breaking, text);
            }
            // Every tool can end with a standard code.
            None if codes::standard(code).is_none() => {
                note("errors", ChangeClass::Widening, format!("`{code}` was removed"));
            }
            _ => {}
        }
    }
    for (code, status_of_new) in after {
        if status(before, code).is_none() && codes::standard(code).is_none() {
            let text = format!("`{code}` was added, with the status {status_of_new}");
            note("errors", ChangeClass::Breaking, text);
        }
    }
}

fn limits(
    old: &PartialContract,
    new: &PartialContract,
    note: &mut impl FnMut(&'static str, ChangeClass, String),
) {
    for (name, before) in &old.limits {
        let after = new.limits.iter().find(|(known, _)| known == name).map(|(_, limit)| *limit);
        if let Some(after) = after.filter(|after| after != before) {
            let class = if after < *before { ChangeClass::Breaking } else { ChangeClass::Widening };
            note("limits", class, format!("`{name}` changed from {before} to {after}"));
        }
    }
}
