//! Applies the approval policy to contracts.

use std::time::Duration;

use contract::{ApprovalRequirement, Contract, Diagnostic};
use gate::approvals::ApprovalSettings;
use upstream::{ToolPolicy, lock::ContractLock, methods::UpstreamMethod, names, settings::Overlay};

use super::{BoundTool, absent_tools::AbsentTools, exists};
use crate::settings::{
    ApprovalRule, LoadedSettings, PolicyPreset, PolicySection, RuleRequirement, SettingsError,
    ToolgateSettings,
};

/// Applies the rules: the first that matches a tool decides whether its calls need approval. The contract is changed,
/// so that listings and the gate agree.
pub fn apply(
    bound: &mut [BoundTool],
    settings: &ToolgateSettings,
    absent: &AbsentTools,
) -> Result<(), SettingsError> {
    for (index, rule) in settings.policy.approval.iter().enumerate() {
        check(&format!("/policy/approval/{index}"), rule, bound, settings, absent)?;
    }
    for BoundTool { contract, .. } in bound {
        adjust(contract, &[], &settings.policy);
    }
    Ok(())
}

/// Applies the rules to one contract, whose tool has these names too.
fn adjust(contract: &mut Contract, names: &[String], policy: &PolicySection) {
    if let Some(rule) = policy.approval.iter().find(|rule| fits(rule, contract, names)) {
        contract.approval = match rule.require {
            RuleRequirement::Always => ApprovalRequirement::Required,
            RuleRequirement::Never => ApprovalRequirement::Never,
        };
        return;
    }
    match policy.preset {
        // Effects that are not known count as changing.
        PolicyPreset::Strict if contract.effects.changes_the_world() => {
            contract.approval = ApprovalRequirement::Required;
        }
        PolicyPreset::Open => contract.approval = ApprovalRequirement::Never,
        PolicyPreset::Strict | PolicyPreset::Standard => {}
    }
}

fn fits(rule: &ApprovalRule, contract: &Contract, names: &[String]) -> bool {
    rule.tool.as_ref().is_none_or(|tool| *tool == contract.name || names.contains(tool))
        && rule.toolset.as_ref().is_none_or(|toolset| *toolset == contract.toolset)
        && rule.effects.is_none_or(|effects| match rule.require {
            // Who wants to be asked about `write` wants to be asked about worse; who does not about
            // `read`, not about less.
            RuleRequirement::Always => contract.effects >= effects,
            RuleRequirement::Never => contract.effects <= effects,
        })
}

/// The rules for the tools of upstreams.
pub struct UpstreamPolicy {
    policy: PolicySection,
    /// The names that the settings give to tools, with the upstream of each.
    chosen_names: Vec<(String, String)>,
}

impl UpstreamPolicy {
    pub fn new(settings: &ToolgateSettings) -> Self {
        let chosen = settings.upstreams.iter().flat_map(|(id, upstream)| {
            let names = upstream.tools.values().filter_map(Overlay::chosen_name);
            names.map(|name| (name.to_owned(), id.clone()))
        });
        Self { policy: settings.policy.clone(), chosen_names: chosen.collect() }
    }

    /// True if a rule names a tool of this upstream.
    fn is_about(&self, rule: &ApprovalRule, upstream: &str) -> bool {
        let is_chosen =
            |tool: &str| self.chosen_names.iter().any(|(name, id)| name == tool && id == upstream);
        rule.tool.as_ref().is_some_and(|tool| names::is_below(upstream, tool) || is_chosen(tool))
    }

    /// The rules about an upstream that match none of these names, by index.
    fn unmatched_rules(&self, upstream: &str, tools: &[String]) -> Vec<(usize, String)> {
        let rules = self.policy.approval.iter().enumerate();
        let unmatched = rules.filter_map(|(index, rule)| {
            let tool = rule.tool.as_ref().filter(|_| self.is_about(rule, upstream))?;
            if tools.contains(tool) {
                return None;
            }
            let near = contract::did_you_mean(tool, tools.iter().map(String::as_str));
            let message = format!(
                "the rule matches nothing: the upstream `{upstream}` has no tool `{tool}`{near}"
            );
            Some((index, message))
        });
        unmatched.collect()
    }
}

impl ToolPolicy for UpstreamPolicy {
    fn apply(&self, contract: &mut Contract, names: &[String]) {
        adjust(contract, names, &self.policy);
    }

    fn unmatched(&self, upstream: &str, tools: &[String]) -> Vec<String> {
        let unmatched = self.unmatched_rules(upstream, tools).into_iter();
        unmatched.map(|(index, message)| format!("policy.approval.{index}: {message}")).collect()
    }
}

/// The rules about upstreams that match no pinned tool. Those about an upstream that is not pinned are checked when
/// it is connected.
pub fn unmatched_pinned(loaded: &LoadedSettings) -> Vec<Diagnostic> {
    let settings = &loaded.settings;
    let Ok(Some(lock)) = ContractLock::read(&loaded.path(&settings.lock)) else {
        return Vec::new();
    };
    let policy = UpstreamPolicy::new(settings);
    let found = lock.upstreams.iter().flat_map(|(id, pinned)| {
        let upstream = settings.upstreams.get(id);
        let names = pinned.tools.keys().flat_map(|own| {
            let overlay = upstream.and_then(|upstream| upstream.tools.get(own));
            let served = overlay.and_then(Overlay::chosen_name).map(str::to_owned);
            names::all(id, own, &served.unwrap_or_else(|| names::served(id, own)))
        });
        let methods = UpstreamMethod::ALL.iter().map(|method| method.tool_name(id));
        policy.unmatched_rules(id, &names.chain(methods).collect::<Vec<_>>())
    });
    found
        .map(|(index, message)| loaded.error(&format!("/policy/approval/{index}/tool"), message))
        .collect()
}

/// Refuses a rule that matches nothing: a typing error would leave a tool unguarded.
fn check(
    pointer: &str,
    rule: &ApprovalRule,
    bound: &[BoundTool],
    settings: &ToolgateSettings,
    absent: &AbsentTools,
) -> Result<(), SettingsError> {
    if rule.tool.is_none() && rule.toolset.is_none() && rule.effects.is_none() {
        let message = "a rule needs a `tool`, a `toolset` or `effects`";
        return Err(SettingsError::new(pointer, message));
    }
    if is_about_upstream(rule, settings) {
        // Its tools are not known yet.
        return Ok(());
    }
    let is_absent = rule.tool.as_ref().is_some_and(|tool| absent.takes(tool))
        || rule.toolset.as_ref().is_some_and(|toolset| absent.has_toolset(toolset));
    if is_absent {
        // It matches again once the contract is corrected. Until then there is nothing to guard.
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
        && !bound.iter().any(|one| fits(rule, &one.contract, &[]))
    {
        let message = format!("no tool matches every condition of the rule for `{name}`");
        return Err(SettingsError::new(pointer, message));
    }
    Ok(())
}

/// True if a rule is about an upstream.
fn is_about_upstream(rule: &ApprovalRule, settings: &ToolgateSettings) -> bool {
    let policy = UpstreamPolicy::new(settings);
    rule.toolset.as_ref().is_some_and(|id| settings.upstreams.contains_key(id))
        || settings.upstreams.keys().any(|id| policy.is_about(rule, id))
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
