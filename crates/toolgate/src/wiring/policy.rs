//! Applies the approval policy to contracts.

use std::time::Duration;

use contract::{ApprovalRequirement, Contract};
use gate::approvals::ApprovalSettings;

use super::{BoundTool, exists};
use crate::settings::{
    ApprovalRule, PolicySection, RuleRequirement, SettingsError, ToolgateSettings,
};

/// Applies the rules: the first that matches a tool decides whether its calls need approval. The contract is changed,
/// so that listings and the gate agree.
pub fn apply(bound: &mut [BoundTool], settings: &ToolgateSettings) -> Result<(), SettingsError> {
    for (index, rule) in settings.policy.approval.iter().enumerate() {
        check(&format!("/policy/approval/{index}"), rule, bound, settings)?;
    }
    for BoundTool { contract, .. } in bound {
        adjust(contract, &settings.policy);
    }
    Ok(())
}

/// Applies the rules to one contract.
pub fn adjust(contract: &mut Contract, policy: &PolicySection) {
    if let Some(rule) = policy.approval.iter().find(|rule| fits(rule, contract)) {
        contract.approval = match rule.require {
            RuleRequirement::Always => ApprovalRequirement::Required,
            RuleRequirement::Never => ApprovalRequirement::Never,
        };
    }
}

fn fits(rule: &ApprovalRule, contract: &Contract) -> bool {
    rule.tool.as_ref().is_none_or(|tool| *tool == contract.name)
        && rule.toolset.as_ref().is_none_or(|toolset| *toolset == contract.toolset)
        && rule.effects.is_none_or(|effects| effects == contract.effects)
}

/// Refuses a rule that matches nothing: a typing error would leave a tool unguarded.
fn check(
    pointer: &str,
    rule: &ApprovalRule,
    bound: &[BoundTool],
    settings: &ToolgateSettings,
) -> Result<(), SettingsError> {
    if rule.tool.is_none() && rule.toolset.is_none() && rule.effects.is_none() {
        let message = "a rule needs a `tool`, a `toolset` or `effects`";
        return Err(SettingsError::new(pointer, message));
    }
    if is_about_upstream(rule, settings) {
        // Its tools are not known yet.
        return Ok(());
    }
    if let Some(tool) = &rule.tool {
        let known = bound.iter().map(|one| one.contract.name.as_str());
        exists(format!("{pointer}/tool"), "tool", tool, known)?;
    }
    if let Some(toolset) = &rule.toolset {
        let known = bound.iter().map(|one| one.contract.toolset.as_str());
        exists(format!("{pointer}/toolset"), "toolset", toolset, known)?;
    }
    let named = rule.tool.as_ref().or(rule.toolset.as_ref());
    if let Some(name) = named
        && !bound.iter().any(|one| fits(rule, &one.contract))
    {
        let message = format!("no tool matches every condition of the rule for `{name}`");
        return Err(SettingsError::new(pointer, message));
    }
    Ok(())
}

/// True if a rule is about an upstream.
fn is_about_upstream(rule: &ApprovalRule, settings: &ToolgateSettings) -> bool {
    let is_one = |id: &str| settings.upstreams.contains_key(id);
    let of_one = |tool: &String| tool.split_once("__").is_some_and(|(id, _)| is_one(id));
    rule.tool.as_ref().is_some_and(of_one) || rule.toolset.as_ref().is_some_and(|id| is_one(id))
}

/// The settings of approvals for the gate.
pub fn approvals(policy: &PolicySection) -> ApprovalSettings {
    ApprovalSettings {
        wait: Duration::from_millis(policy.approval_wait_ms),
        valid: Duration::from_millis(policy.approval_valid_ms),
        max_waiting: policy.max_waiting_approvals,
        max_waiting_of_caller: policy.max_waiting_approvals_per_caller,
    }
}
