//! What the operator's policy makes of the contracts.

use std::time::Duration;

use anyhow::bail;
use contract::{Approval, Contract};
use gate::approvals::ApprovalSettings;

use super::Bound;
use crate::settings::{ApprovalRule, Policy, Require, Settings};

/// Applies the rules: the first that fits a tool decides whether its calls need an approval. From
/// here on the contract says so, in every listing and to the gate.
pub fn apply(bound: &mut [Bound], settings: &Settings) -> anyhow::Result<()> {
    for rule in &settings.policy.approval {
        check(rule, bound, settings)?;
    }
    for Bound { contract, .. } in bound {
        adjust(contract, &settings.policy);
    }
    Ok(())
}

/// Applies the rules to one contract.
pub fn adjust(contract: &mut Contract, policy: &Policy) {
    if let Some(rule) = policy.approval.iter().find(|rule| fits(rule, contract)) {
        contract.approval = match rule.require {
            Require::Always => Approval::Required,
            Require::Never => Approval::Never,
        };
    }
}

fn fits(rule: &ApprovalRule, contract: &Contract) -> bool {
    rule.tool.as_ref().is_none_or(|tool| *tool == contract.name)
        && rule.toolset.as_ref().is_none_or(|toolset| *toolset == contract.toolset)
        && rule.effects.is_none_or(|effects| effects == contract.effects)
}

/// A rule that fits nothing by mistake would leave a tool unguarded.
fn check(rule: &ApprovalRule, bound: &[Bound], settings: &Settings) -> anyhow::Result<()> {
    if rule.tool.is_none() && rule.toolset.is_none() && rule.effects.is_none() {
        bail!("policy.approval: a rule names a `tool`, a `toolset` or `effects`");
    }
    if is_upstreams(rule, settings) {
        // What it offers is not known yet.
        return Ok(());
    }
    if let Some(tool) = &rule.tool {
        known("tool", tool, bound.iter().map(|one| one.contract.name.as_str()))?;
    }
    if let Some(toolset) = &rule.toolset {
        known("toolset", toolset, bound.iter().map(|one| one.contract.toolset.as_str()))?;
    }
    let named = rule.tool.as_ref().or(rule.toolset.as_ref());
    if let Some(name) = named
        && !bound.iter().any(|one| fits(rule, &one.contract))
    {
        bail!("policy.approval: the rule for `{name}` fits no tool: what it names must all fit");
    }
    Ok(())
}

/// Whether a rule is for something of an upstream.
fn is_upstreams(rule: &ApprovalRule, settings: &Settings) -> bool {
    let is_one = |id: &str| settings.upstreams.contains_key(id);
    let of_one = |tool: &String| tool.split_once("__").is_some_and(|(id, _)| is_one(id));
    rule.tool.as_ref().is_some_and(of_one) || rule.toolset.as_ref().is_some_and(|id| is_one(id))
}

fn known<'a>(
    what: &str,
    name: &str,
    mut all: impl Iterator<Item = &'a str> + Clone,
) -> anyhow::Result<()> {
    if all.clone().any(|one| one == name) {
        return Ok(());
    }
    match contract::nearest(name, &mut all) {
        Some(near) => {
            bail!("policy.approval: there is no {what} `{name}`; did you mean `{near}`?")
        }
        None => bail!("policy.approval: there is no {what} `{name}`"),
    }
}

/// How the gate handles approvals.
pub fn approvals(policy: &Policy) -> ApprovalSettings {
    ApprovalSettings {
        wait: Duration::from_millis(policy.approval_wait_ms),
        valid: Duration::from_millis(policy.approval_valid_ms),
        max_waiting: policy.max_waiting_approvals,
        max_waiting_of_caller: policy.max_waiting_approvals_per_caller,
    }
}
