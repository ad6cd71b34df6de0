//! Makes the contract of a tool wide enough for an answer that broke it.

use std::path::PathBuf;

use anyhow::{Context, bail};
use gate::quarantine::ReleaseDecision;
use serde_json::{Value, json};
use upstream::{Host, Member, settings::Overlay};
use workbench::widen;

use super::{given, unknown};
use crate::{
    Exit, commands,
    printer::Printer,
    settings::{Flags, Loaded},
    wiring::{
        self, Bound, Kept, overlays,
        upstreams::{self, Which},
    },
};

/// The contract that an answer broke.
struct Broken {
    /// The upstream or the toolset.
    group: String,
    /// The tool's own name there.
    tool: String,
    /// What it promises now.
    schema: Value,
}

/// Writes the overlay, and marks the entry as adopted.
pub async fn adopt(
    as_json: bool,
    kept: &Kept,
    id: &str,
    decision: ReleaseDecision,
    flags: &Flags,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let id = given(id)?;
    let Some(entry) = kept.gate.store().quarantined(&id, kept.gate.clock().now()).await? else {
        return Ok(unknown(&id, printer));
    };
    let summary = &entry.summary;
    if !summary.whole {
        bail!("only the beginning of {id} was kept: there is no telling what it was");
    }
    if summary.violations.is_empty() {
        bail!("no schema would let {id} pass: {}", summary.reason);
    }
    let (loaded, bound) = commands::ready(flags)?;
    let broken = match own(&summary.tool, &bound, &loaded)? {
        Some(broken) => broken,
        None => of_upstream(&summary.tool, bound, &loaded).await?,
    };
    let payload: Value =
        serde_json::from_str(entry.payload.get()).context("the answer is not JSON any more")?;
    let wide = widen::widen(&broken.schema, &payload).map_err(|error| {
        anyhow::anyhow!("the output schema of `{}` {error}: edit it", summary.tool)
    })?;
    if wide.changes.is_empty() {
        printer.say(format!("the contract of `{}` takes {id} as it is", summary.tool));
        return Ok(Exit::Failed);
    }
    let file = write(&loaded, &broken, wide.schema, &id)?;
    kept.gate.adopt(&id, decision).await?;
    if as_json {
        let shown = file.display().to_string();
        printer.json(&json!({ "id": id, "file": shown, "changes": wide.changes }));
    } else {
        printer.data(format!("wrote {}", file.display()));
        for change in wide.changes {
            printer.say(change);
        }
        printer.say(if loaded.settings.upstreams.contains_key(&broken.group) {
            "a running server takes it by itself"
        } else {
            "it holds from the next start of the server on"
        });
    }
    Ok(Exit::Ok)
}

/// Writes the overlay; whatever else it says already stays.
fn write(loaded: &Loaded, broken: &Broken, schema: Value, id: &str) -> anyhow::Result<PathBuf> {
    let (file, before) = overlays::place(loaded, &broken.group, &broken.tool)?;
    let overlay = Overlay {
        tool: Some(broken.tool.clone()),
        output_schema: Some(schema),
        ..before.unwrap_or_default()
    };
    let origin =
        format!("Wide enough for {id}, by `toolgate quarantine adopt`. Edit it as you like.");
    overlays::write(&file, &overlays::to_text(&overlay, &origin))?;
    Ok(file)
}

/// The contract of a tool that is not an upstream's, if it is one that the operator may change.
fn own(name: &str, bound: &[Bound], loaded: &Loaded) -> anyhow::Result<Option<Broken>> {
    let Some(tool) = bound.iter().find(|one| one.contract.name == name) else { return Ok(None) };
    let settings = loaded.tools();
    let is_built_in = tools::built_in(&settings).iter().any(|tool| {
        contract::read::trusted(tool.contract).is_ok_and(|contract| contract.name == name)
    });
    if is_built_in {
        bail!("`{name}` is built in: its contract is not changed, and its answer is a bug of ours");
    }
    Ok(Some(Broken {
        group: tool.contract.toolset.clone(),
        tool: name.to_owned(),
        schema: tool.contract.output_schema.clone(),
    }))
}

/// The contract of a tool of an upstream, as it is now: the server is asked.
async fn of_upstream(name: &str, bound: Vec<Bound>, loaded: &Loaded) -> anyhow::Result<Broken> {
    let fixed = wiring::tools(bound, loaded)?;
    let plan = upstreams::plan_to_look(loaded, Which::Of(name), &fixed)?;
    if plan.upstreams.is_empty() {
        bail!("there is no tool `{name}` any more");
    }
    let host = Host::start(plan);
    host.settled().await;
    let found = host.members().iter().find_map(|member| served_by(member, name));
    let why_not = host.members().first().map(|member| why_not(member, name));
    host.stop().await;
    found.with_context(|| why_not.unwrap_or_default())
}

fn served_by(member: &Member, name: &str) -> Option<Broken> {
    let tool = member.tools().into_iter().find(|tool| tool.contract.name == name)?;
    let own = member.own_name(name)?;
    Some(Broken {
        group: member.id.clone(),
        tool: own,
        // In 2020-12, whatever the server wrote it in.
        schema: tool.contract.output_schema.clone(),
    })
}

/// Why an upstream does not serve a tool.
fn why_not(member: &Member, name: &str) -> String {
    if let upstream::Phase::Down { error } = member.phase() {
        return format!("the upstream `{}` cannot be reached: {error}", member.id);
    }
    match member.rejected().into_iter().find(|one| one.served_as == name) {
        Some(rejected) => format!("`{name}` is not served: {}; {}", rejected.message, rejected.fix),
        None => format!("there is no tool `{name}` any more"),
    }
}
