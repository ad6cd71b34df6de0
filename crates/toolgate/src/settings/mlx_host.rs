//! `tools.mlx.host`: models that are served on another machine. The Toolgate there becomes an upstream, whose tools
//! have the names and contracts that they have here.

use std::{collections::BTreeMap, sync::Arc};

use anyhow::Context;
use tools::settings::MlxSettings;
use upstream::{
    settings::{AllowedTools, Overlay, Star, UpstreamSettings},
    variables,
};

use super::{AllowlistSetting, ToolgateSettings};
use crate::wiring::upstream_targets::secret_variable;

/// The id of the upstream, and the toolset that it replaces.
pub const MLXCTL: &str = "mlxctl";

/// `ssh` must not ask for a password, nor wait long for a machine that does not answer.
const SSH_OPTIONS: [&str; 4] =
    ["BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=10", "ServerAliveCountMax=3"];

/// Adds the upstream for `tools.mlx.host`, if it is set.
pub fn add(settings: &mut ToolgateSettings) -> anyhow::Result<()> {
    if !is_remote(settings) {
        return Ok(());
    }
    let upstream = ssh_upstream(&settings.tools.mlx)?;
    if settings.upstreams.insert(MLXCTL.into(), upstream).is_some() {
        anyhow::bail!(
            "tools.mlx.host: there is already an upstream `{MLXCTL}`; remove one of them"
        );
    }
    if let Some(AllowlistSetting::Here(list)) = &mut settings.allowlist {
        list.entry(MLXCTL.into()).or_insert(AllowedTools::All(Star::Star));
    }
    Ok(())
}

/// True if models are served on another machine.
pub fn is_remote(settings: &ToolgateSettings) -> bool {
    let enabled = settings.tools.enable.as_ref();
    let wanted = enabled.is_none_or(|toolsets| toolsets.iter().any(|name| name == MLXCTL));
    !settings.tools.mlx.is_local() && wanted
}

/// The settings without the upstream that `add` adds.
pub fn without(settings: &ToolgateSettings) -> ToolgateSettings {
    let mut own = settings.clone();
    if is_remote(settings) {
        own.upstreams.remove(MLXCTL);
    }
    own
}

/// Expands variables in the environment of model servers. One that is not set is left out.
pub fn expanded(settings: &MlxSettings) -> MlxSettings {
    let mut filled = settings.clone();
    filled.env = settings
        .env
        .iter()
        .filter_map(|(name, value)| {
            let value = variables::expand(value, secret_variable).ok()?;
            Some((name.clone(), value))
        })
        .collect();
    filled
}

fn ssh_upstream(settings: &MlxSettings) -> anyhow::Result<UpstreamSettings> {
    let options = SSH_OPTIONS.iter().flat_map(|option| ["-o".to_owned(), (*option).to_owned()]);
    let target = ["--".to_owned(), settings.host.clone()];
    // The remote shell reads these words, and nothing that a caller wrote.
    let words = settings.host_command.iter().map(|word| quoted(word));
    let mut env = BTreeMap::new();
    if let Ok(agent) = std::env::var("SSH_AUTH_SOCK") {
        env.insert("SSH_AUTH_SOCK".to_owned(), agent);
    }
    Ok(UpstreamSettings {
        command: Some("ssh".into()),
        args: options.chain(target).chain(words).collect(),
        env,
        tools: overlays()?,
        ..UpstreamSettings::default()
    })
}

/// Overlays that hold the tools to the built-in contracts, whatever the other side says.
fn overlays() -> anyhow::Result<BTreeMap<String, Overlay>> {
    let mut all = BTreeMap::new();
    for tool in tools::built_in(&tools::ToolSettings::default()) {
        let contract = contract::read::trusted(tool.contract).map_err(anyhow::Error::msg)?;
        if contract.toolset == MLXCTL {
            let overlay = Overlay {
                description: Some(contract.description.clone()),
                effects: Some(contract.effects),
                input_schema: Some(contract.input_schema.clone()),
                output_schema: Some(contract.output_schema.clone()),
                whole: Some(Arc::new(contract.clone())),
                ..Overlay::default()
            };
            all.insert(contract.name, overlay);
        }
    }
    (!all.is_empty()).then_some(all).context("there is no toolset for models")
}

/// Quotes a word for a POSIX shell, except a leading `~/`.
fn quoted(word: &str) -> String {
    if let Some(rest) = word.strip_prefix("~/").filter(|rest| !rest.is_empty()) {
        return format!("~/{}", quoted(rest));
    }
    let plain = |one: char| one.is_ascii_alphanumeric() || "-_./:=@%+,".contains(one);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_host(yaml: &str) -> ToolgateSettings {
        let value = contract::Document::parse("x", yaml).unwrap().value().clone();
        let mut settings: ToolgateSettings = serde_json::from_value(value).unwrap();
        add(&mut settings).unwrap();
        settings
    }

    #[test]
    fn another_machine_is_an_upstream_with_the_tools_and_contracts_that_are_known_here() {
        let settings = with_host("tools: { mlx: { host: me@studio } }\nallowlist: {}");
        let upstream = &settings.upstreams[MLXCTL];
        assert_eq!(upstream.command.as_deref(), Some("ssh"));
        let end = upstream.args.len() - 6;
        assert_eq!(
            upstream.args[end..],
            ["--", "me@studio", "toolgate", "mcp", "--toolset", "mlxctl"]
        );
        let load = upstream.tools["mlx.load"].whole.as_ref().unwrap();
        assert_eq!((load.name.as_str(), load.errors.len()), ("mlx.load", 4));
        assert!(without(&settings).upstreams.is_empty());
        let Some(AllowlistSetting::Here(list)) = settings.allowlist else { panic!("there is one") };
        assert!(list.contains_key(MLXCTL));
    }

    #[test]
    fn here_and_switched_off_there_is_none() {
        assert!(with_host("{}").upstreams.is_empty());
        let off = with_host("tools: { enable: [hello], mlx: { host: studio } }");
        assert!(off.upstreams.is_empty());
    }

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("/opt/tool-gate_1.0/bin"), "/opt/tool-gate_1.0/bin");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("~/my bin/toolgate"), "~/'my bin/toolgate'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
