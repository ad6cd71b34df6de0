//! What this installation serves: the tools of the binary, of the user and of all upstreams.

use contract::Status;
use serde_json::Value;
use upstream::{
    Host, Member, Phase,
    settings::{Allowlist, allows},
};
use workbench::compare::PartialContract;

use super::{
    ITSELF, Known, Set, draft,
    listing::{self, Terms},
};
use crate::{
    commands,
    settings::{Flags, Loaded},
    wiring::{
        self, overlays,
        upstreams::{self, Which},
    },
};

/// Reads it, by the names under which tools are served.
pub(super) fn read(flags: &Flags) -> anyhow::Result<Set> {
    let loaded = flags.load()?;
    let contracts = wiring::contracts(&loaded)?;
    let mut set = Set::new(ITSELF, true);
    set.diagnostics = contracts.diagnostics;
    set.tools = contracts.bound.iter().map(|one| draft::known(one.contract.clone())).collect();
    if set.is_refused() {
        // A catalogue cannot be made of these, and so nothing is served.
        return Ok(set);
    }
    let fixed = wiring::tools(contracts.bound, &loaded)?;
    let plan = upstreams::plan_to_look(&loaded, Which::All, &fixed)?;
    if plan.upstreams.is_empty() {
        return Ok(set);
    }
    let allowlist = plan.allowlist.clone();
    commands::runtime()?.block_on(async {
        let host = Host::start(plan);
        host.settled().await;
        let mut added = Ok(());
        for member in host.members().iter().filter(|member| member.settings.enabled) {
            added = added.and_then(|()| add(&mut set, member, allowlist.as_ref(), &loaded));
        }
        host.stop().await;
        added
    })?;
    Ok(set)
}

fn add(
    set: &mut Set,
    member: &Member,
    allowlist: Option<&Allowlist>,
    loaded: &Loaded,
) -> anyhow::Result<()> {
    let id = &member.id;
    let Some(offer) = member.listed() else {
        let why = match member.phase() {
            Phase::Down { error } => error,
            _ => "it was never reached".to_owned(),
        };
        set.unreached.push(format!("{id}: {why}"));
        return Ok(());
    };
    // What may not be called is not served, whatever it is like.
    let mut offer = (*offer).clone();
    offer.tools.retain(|tool| {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        allows(allowlist, id, name)
    });
    let overlays = overlays::of_upstream(loaded, id)?;
    let terms = Terms { id, settings: &member.settings, overlays: &overlays, configured: true };
    let admission = listing::judge(&terms, &offer);
    set.findings.extend(listing::diagnostics(id, &terms, &offer, &admission));
    for tool in member.tools() {
        let contract = (*tool.contract).clone();
        let mut promise = PartialContract::of_contract(&contract);
        promise.status = Some(Status::Active);
        let own_name = member.own_name(&contract.name);
        let inputs = Some(member.settings.inputs());
        set.tools.push(Known { promise, contract, listed: None, own_name, inputs });
    }
    Ok(())
}
