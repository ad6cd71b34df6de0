//! The tools that are served here: built-in ones, the user's own, and those of all upstreams.

use contract::ContractStatus;
use serde_json::Value;
use upstream::{
    Upstream, UpstreamState,
    settings::{Allowlist, allows},
};
use workbench::compare::PartialContract;

use super::{
    ITSELF, SourceTool, ToolSource, draft,
    listing::{self, ListingTerms},
};
use crate::{
    commands,
    settings::{Flags, LoadedSettings},
    wiring::{
        self, overlays,
        upstreams::{self, UpstreamFilter},
    },
};

/// Reads the tools, by the names under which they are served.
pub(super) fn read(flags: &Flags) -> anyhow::Result<ToolSource> {
    let loaded = flags.load()?;
    let contracts = wiring::contracts(&loaded)?;
    let mut set = ToolSource::new(ITSELF, true);
    set.diagnostics.extend_from_slice(&contracts.diagnostics);
    set.tools = contracts.bound.iter().map(|one| draft::known(one.contract.clone())).collect();
    if set.is_refused() {
        // No catalogue can be made, so nothing is served.
        return Ok(set);
    }
    // Whoever compares with what is served wants to know that some of it is missing.
    set.diagnostics.extend(contracts.absent.diagnostics());
    let fixed = wiring::tools(contracts, &loaded)?;
    let config = upstreams::eager_host_config(&loaded, UpstreamFilter::All, &fixed)?;
    if config.upstreams.is_empty() {
        return Ok(set);
    }
    let allowlist = config.rules.allowlist.clone();
    commands::runtime()?.block_on(upstreams::with_host(config, async |host| {
        for upstream in host.upstreams().iter().filter(|upstream| upstream.settings.enabled) {
            add(&mut set, upstream, allowlist.as_ref(), &loaded)?;
        }
        Ok(set)
    }))
}

fn add(
    set: &mut ToolSource,
    upstream: &Upstream,
    allowlist: Option<&Allowlist>,
    loaded: &LoadedSettings,
) -> anyhow::Result<()> {
    let id = &upstream.id;
    let Some(listings) = upstream.own_listings() else {
        let why = match upstream.state() {
            UpstreamState::Down { error, .. } => error,
            _ => "it was never reached".to_owned(),
        };
        set.unreached.push(format!("{id}: {why}"));
        return Ok(());
    };
    // Tools that are not on the allowlist are not served.
    let mut listings = (*listings).clone();
    listings.tools.retain(|tool| {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        allows(allowlist, id, name)
    });
    let overlays = overlays::of_upstream(loaded, id)?;
    let terms =
        ListingTerms { id, settings: &upstream.settings, overlays: &overlays, configured: true };
    let admission = listing::admit(&terms, &listings);
    set.findings.extend(listing::diagnostics(id, &terms, &listings, &admission));
    for tool in upstream.tools() {
        let contract = (*tool.contract).clone();
        let mut promise = PartialContract::of_contract(&contract);
        promise.status = Some(ContractStatus::Active);
        let own_name = upstream.own_name(&contract.name);
        let inputs = Some(upstream.settings.inputs());
        set.tools.push(SourceTool { promise, contract, listed: None, own_name, inputs });
    }
    Ok(())
}
