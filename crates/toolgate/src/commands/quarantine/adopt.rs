//! Widens the contract of a tool so that it accepts a result that broke it.

use std::path::PathBuf;

use anyhow::{Context, bail};
use gate::quarantine::ReleaseDecision;
use serde_json::{Value, json};
use upstream::{Upstream, settings::Overlay};
use workbench::widen;

use super::{find, unknown};
use crate::{
    Exit, commands,
    printer::Printer,
    settings::{Flags, LoadedSettings},
    wiring::{
        self, BoundTool, LoadedContracts, OpenGate, overlays,
        upstreams::{self, UpstreamFilter},
    },
};

/// The contract that a result broke.
struct BrokenContract {
    /// The upstream or toolset.
    group: String,
    /// The tool's own name there.
    tool: String,
    /// Its output schema.
    schema: Value,
}

/// Writes the overlay, and marks the entry as adopted.
pub async fn adopt(
    as_json: bool,
    opened: &OpenGate,
    id: &str,
    decision: ReleaseDecision,
    flags: &Flags,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let Some(id) = find(opened, id).await? else { return Ok(unknown(id, printer)) };
    let Some(entry) = opened.gate.store().quarantined(&id, opened.gate.clock().now()).await? else {
        return Ok(unknown(&id, printer));
    };
    let summary = &entry.summary;
    if !summary.whole {
        bail!("{id} was too large to be stored whole, so no schema can be made for it");
    }
    if summary.violations.is_empty() {
        bail!("no schema can accept {id}: {}", summary.reason);
    }
    let (loaded, contracts) = commands::ready(flags, printer)?;
    let broken = match own(&summary.tool, &contracts.bound)? {
        Some(broken) => broken,
        None => of_upstream(&summary.tool, contracts, &loaded).await?,
    };
    let payload: Value =
        serde_json::from_str(entry.payload.get()).context("the stored result is not JSON")?;
    let wide = widen::widen(&broken.schema, &payload).map_err(|error| {
        anyhow::anyhow!("the output schema of `{}` {error}; edit it by hand", summary.tool)
    })?;
    if wide.changes.is_empty() {
        printer.say(format!("the contract of `{}` already accepts {id}", summary.tool));
        return Ok(Exit::Failed);
    }
    let file = write(&loaded, &broken, wide.schema, &id)?;
    opened.gate.adopt(&id, decision).await?;
    if as_json {
        let shown = file.display().to_string();
        printer.json(&json!({ "id": id, "file": shown, "changes": wide.changes }));
    } else {
        printer.data(format!("wrote {}", file.display()));
        for change in wide.changes {
            printer.say(change);
        }
        printer.say("a running server reloads it");
    }
    Ok(Exit::Ok)
}

/// Writes the overlay; what it says besides the output schema stays.
fn write(
    loaded: &LoadedSettings,
    broken: &BrokenContract,
    schema: Value,
    id: &str,
) -> anyhow::Result<PathBuf> {
    let (file, before) = overlays::file_of(loaded, &broken.group, &broken.tool)?;
    let overlay = Overlay {
        tool: Some(broken.tool.clone()),
        output_schema: Some(schema),
        ..before.unwrap_or_default()
    };
    let origin =
        format!("Accepts {id}. Written by `toolgate quarantine adopt`; edit it as you like.");
    overlays::write(&file, &overlays::to_text(&overlay, &origin))?;
    Ok(file)
}

/// The contract of a user's own tool; built-in ones cannot be changed.
fn own(name: &str, bound: &[BoundTool]) -> anyhow::Result<Option<BrokenContract>> {
    let Some(tool) = bound.iter().find(|one| one.contract.name == name) else { return Ok(None) };
    if tool.contract.run.is_none() {
        bail!(
            "`{name}` is built in and its contract cannot be changed; please report this result as a bug"
        );
    }
    Ok(Some(BrokenContract {
        group: tool.contract.toolset.clone(),
        tool: name.to_owned(),
        schema: tool.contract.output_schema.clone(),
    }))
}

/// The contract of an upstream tool, as the server lists it now.
async fn of_upstream(
    name: &str,
    contracts: LoadedContracts,
    loaded: &LoadedSettings,
) -> anyhow::Result<BrokenContract> {
    let fixed = wiring::tools(contracts, loaded)?;
    let config = upstreams::eager_host_config(loaded, UpstreamFilter::OwnerOf(name), &fixed)?;
    if config.upstreams.is_empty() {
        bail!("there is no longer a tool `{name}`");
    }
    upstreams::with_host(config, async |host| {
        let upstreams = host.upstreams();
        let found = upstreams.iter().find_map(|upstream| served_by(upstream, name));
        let upstream = upstreams.first();
        found.with_context(|| upstream.map(|one| why_not(one, name)).unwrap_or_default())
    })
    .await
}

fn served_by(upstream: &Upstream, name: &str) -> Option<BrokenContract> {
    let tool = upstream.tools().into_iter().find(|tool| tool.contract.name == name)?;
    let own = upstream.own_name(name)?;
    Some(BrokenContract {
        group: upstream.id.clone(),
        tool: own,
        // In 2020-12, whichever dialect the server uses.
        schema: tool.contract.output_schema.clone(),
    })
}

/// The reason why an upstream does not serve a tool.
fn why_not(upstream: &Upstream, name: &str) -> String {
    if let Some(why) = commands::unreachable(upstream) {
        return why;
    }
    match upstream.rejected().into_iter().find(|one| one.served_as == name) {
        Some(rejected) => format!("`{name}` is not served: {}; {}", rejected.message, rejected.fix),
        None => format!("there is no longer a tool `{name}`"),
    }
}
