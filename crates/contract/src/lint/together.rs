//! Rules for contracts that stand beside each other.

use std::collections::HashMap;

use crate::{Contract, Diagnostic, Document, Severity};

/// Names that appear more than once among contracts, or twice in different roles. Each contract that takes part is told.
pub fn lint_together(contracts: &[(&Contract, &Document)]) -> Vec<Diagnostic> {
    let (mut found, mut names, mut toolsets, mut defaults) =
        (Vec::new(), HashMap::new(), HashMap::new(), HashMap::new());
    for (index, (contract, _)) in contracts.iter().enumerate() {
        names.entry(&*contract.name).or_insert_with(Vec::new).push(index);
        toolsets.entry(&*contract.toolset).or_insert_with(Vec::new).push(index);
        if contract.toolset_default {
            defaults.entry(&*contract.toolset).or_insert_with(Vec::new).push(index);
        }
    }
    let one_namespace = "toolsets and tools share one namespace: rename one of them";
    for (index, (contract, document)) in contracts.iter().enumerate() {
        let other_of = |group: &HashMap<&str, Vec<usize>>, key: &str| {
            let others = group.get(key).into_iter().flatten();
            others.copied().find(|other| *other != index).map(|other| contracts[other])
        };
        if let Some((_, other)) = other_of(&names, &contract.name) {
            let message = format!("the name `{}` is already taken", contract.name);
            let hint = format!("the other contract is `{}`", other.name());
            found.push(document.error("/name", message).hint(hint));
        }
        if other_of(&toolsets, &contract.name).is_some() {
            let message = format!("`{}` is the name of a toolset", contract.name);
            found.push(document.error("/name", message).hint(one_namespace));
        }
        if names.contains_key(&*contract.toolset) {
            let message = format!("`{}` is the name of a tool", contract.toolset);
            found.push(document.error("/toolset", message).hint(one_namespace));
        }
        if contract.toolset_default
            && let Some((other, _)) = other_of(&defaults, &contract.toolset)
        {
            let message = format!("the toolset already has the default `{}`", other.name);
            found.push(document.error("/toolset_default", message));
        }
    }
    found
}

/// Tools that are replaced by one that nobody knows. `known` are the names that there are; where they may not be all, it is
/// only a warning.
pub fn lint_replacements(
    contracts: &[(&Contract, &Document)],
    known: &[&str],
    severity: Severity,
) -> Vec<Diagnostic> {
    let unknown = contracts.iter().filter_map(|(contract, document)| {
        let replacement = contract.replaced_by.as_deref()?;
        if known.contains(&replacement) {
            return None;
        }
        let message = format!("there is no tool `{replacement}`");
        let found = match severity {
            Severity::Error => document.error("/replaced_by", message),
            Severity::Warning => document.warning("/replaced_by", message),
        };
        Some(match crate::nearest(replacement, known.iter().copied()) {
            Some(near) => found.hint(format!("did you mean `{near}`?")),
            None => found,
        })
    });
    unknown.collect()
}
