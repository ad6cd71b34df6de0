//! Where results of a tool come from: what was kept of its calls, or calls that are made now.

use std::time::Duration;

use anyhow::{Context, bail};
use contract::{Effects, Schema, Violation};
use gate::{Catalogue, JobFilter, JobState, quarantine::QuarantineFilter};
use serde_json::{Value, json};
use store::DataFolder;
use upstream::{
    Host, Upstream, UpstreamState,
    admission::RejectionReason,
    names,
    settings::{OutputFormat, Overlay},
};

use super::sample::Sample;
use crate::{
    commands,
    settings::Loaded,
    wiring::{
        self, OpenGate, overlays,
        upstreams::{self, UpstreamFilter},
    },
};

/// How many results are taken of jobs, and of quarantine.
const MAX_KEPT: usize = 200;
/// What the journal calls whoever has a tool called here.
const BY: &str = "operator (terminal)";

/// Results, and how many were errors of the tool itself.
#[derive(Default)]
pub struct Gathered {
    pub samples: Vec<Sample>,
    pub errors: usize,
}

impl Gathered {
    pub fn add(&mut self, sample: Sample) {
        match sample {
            Sample::Error => self.errors += 1,
            sample => self.samples.push(sample),
        }
    }
}

/// What jobs and quarantine of the data folder have of a tool.
pub fn kept(loaded: &Loaded, id: &str, tool: &str) -> anyhow::Result<Gathered> {
    let folder = loaded.data_dir();
    let mut gathered = Gathered::default();
    if !folder.exists() {
        return Ok(gathered);
    }
    let output = output_of(loaded, id, tool)?;
    let served = names::served(id, tool);
    let data = DataFolder::open(&folder)?;
    let kept = wiring::gate(Catalogue::default(), loaded, data, None)?;
    let (store, now) = (kept.gate.store(), kept.gate.clock().now());
    commands::runtime()?.block_on(async {
        let filter = JobFilter {
            state: Some(JobState::Succeeded),
            tool: Some(served.clone()),
            limit: MAX_KEPT,
            ..JobFilter::default()
        };
        for job in store.jobs(filter).await? {
            let Some(job) = store.job(&job.id).await? else { continue };
            let whole = job.result.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
            let output_of_job = whole.and_then(|mut whole| Some(whole.get_mut("output")?.take()));
            // Where the result was too large, what is kept points to an artifact.
            let value = output_of_job.filter(|value| value.get("artifact").is_none());
            if let Some(value) = value {
                gathered.add(Sample::kept(value, output));
            }
        }
        let filter =
            QuarantineFilter { tool: Some(served), limit: MAX_KEPT, ..QuarantineFilter::default() };
        for entry in store.all_quarantined(filter, now).await? {
            let Some(entry) = store.quarantined(&entry.id, now).await? else { continue };
            let value = serde_json::from_str::<Value>(entry.payload.get()).ok();
            if let Some(value) = value.filter(|value| entry.summary.whole && !value.is_null()) {
                gathered.add(Sample::kept(value, output));
            }
        }
        Ok(gathered)
    })
}

/// What a tool was taken to return while its results were kept.
fn output_of(loaded: &Loaded, id: &str, tool: &str) -> anyhow::Result<OutputFormat> {
    let overlay = overlays::of_upstream(loaded, id)?.remove(tool).unwrap_or_default();
    let usual = loaded.settings.upstreams.get(id).map(|own| own.output).unwrap_or_default();
    Ok(overlay.output.unwrap_or(usual))
}

/// Calls a tool with each of these arguments, one after the other. These calls do not go through the gate,
/// which has no contract to hold them to yet; the journal has them all the same.
pub fn called(
    loaded: &Loaded,
    id: &str,
    tool: &str,
    calls: &[Value],
    effects: bool,
) -> anyhow::Result<Gathered> {
    let contracts = wiring::contracts(loaded)?;
    let fixed = wiring::tools(contracts.bound, loaded)?;
    let config = upstreams::eager_host_config(loaded, UpstreamFilter::One(id), &fixed)?;
    let overlay = overlays::of_upstream(loaded, id)?.remove(tool).unwrap_or_default();
    let data = DataFolder::open(&loaded.data_dir())?;
    let kept = wiring::gate(Catalogue::default(), loaded, data, None)?;
    let timeout_ms = loaded.settings.limits.defaults().timeout_ms;
    let wanted = RequestedCalls { tool, overlay: &overlay, calls, effects, timeout_ms };
    commands::runtime()?.block_on(async {
        let host = Host::start(config);
        host.settled().await;
        let gathered = match host.upstream(id) {
            Some(upstream) => call(&kept, upstream, &wanted).await,
            None => Err(anyhow::anyhow!("there is no upstream `{id}`")),
        };
        host.stop().await;
        gathered
    })
}

/// The calls that a person wants to be made.
struct RequestedCalls<'a> {
    tool: &'a str,
    overlay: &'a Overlay,
    calls: &'a [Value],
    /// Whether the tool may change something.
    effects: bool,
    timeout_ms: u64,
}

async fn call(
    kept: &OpenGate,
    upstream: &Upstream,
    wanted: &RequestedCalls<'_>,
) -> anyhow::Result<Gathered> {
    let (id, tool, overlay) = (&upstream.id, wanted.tool, wanted.overlay);
    let Some(listings) = upstream.own_listings() else {
        match upstream.state() {
            UpstreamState::Down { error } => {
                bail!("the upstream `{id}` cannot be reached: {error}")
            }
            _ => bail!("the upstream `{id}` is turned off"),
        }
    };
    let own = |one: &&Value| one.get("name").is_some_and(|name| name == tool);
    let Some(listed) = listings.tools.iter().find(own) else {
        let names = listings.tools.iter().filter_map(|one| one.get("name")?.as_str());
        match contract::nearest(tool, names) {
            Some(near) => bail!("`{id}` lists no tool `{tool}`; did you mean `{near}`?"),
            None => bail!("`{id}` lists no tool `{tool}`"),
        }
    };
    may_be_called(upstream, tool)?;
    if !wanted.effects && !is_read_only(listed, overlay) {
        bail!(
            "`{id}.{tool}` does not say that it only reads, and is not called; set `effects: read` in its \
             overlay if that is so, or give --effects if it may change something"
        );
    }
    let input = overlay.input_schema.as_ref().or_else(|| listed.get("inputSchema"));
    let input = Schema::compile_foreign(input.unwrap_or(&json!({ "type": "object" })))
        .map_err(|error| anyhow::anyhow!("the input schema of `{id}.{tool}` {error}"))?;
    for arguments in wanted.calls {
        let violations = input.violations(arguments);
        if !violations.is_empty() {
            bail!("--arguments {arguments}: {}", Violation::list(&violations));
        }
    }
    let timeout = Duration::from_millis(upstream.settings.timeout_ms.unwrap_or(wanted.timeout_ms));
    let mut gathered = Gathered::default();
    for arguments in wanted.calls {
        let event = json!({
            "tool": names::served(id, tool),
            "input_sha256": contract::canonical::sha256(arguments),
            "by": BY,
        });
        kept.gate.journal().event(kept.gate.clock().now(), "tool_sampled", event);
        let params = json!({ "name": tool, "arguments": arguments });
        let result = upstream
            .request("tools/call", Some(tool), &params, timeout)
            .await
            .map_err(anyhow::Error::msg)
            .with_context(|| format!("`{id}.{tool}` with {arguments}"))?;
        if result.get("resultType").is_some_and(|kind| kind == "input_required") {
            bail!(
                "`{id}.{tool}` asks for more before it answers; give results with --results FILE"
            );
        }
        gathered.add(Sample::read(result));
    }
    Ok(gathered)
}

/// Refuses what may not be called by anybody: only a missing or bad output schema is no reason here.
fn may_be_called(upstream: &Upstream, tool: &str) -> anyhow::Result<()> {
    let rejected = upstream.rejected().into_iter().find(|one| one.tool == tool);
    match rejected {
        Some(one)
            if !matches!(
                one.reason,
                RejectionReason::Uncontracted | RejectionReason::BadOutputSchema
            ) =>
        {
            bail!("`{}.{tool}` may not be called: {}; {}", upstream.id, one.message, one.fix)
        }
        _ => Ok(()),
    }
}

/// Whether a tool only looks at the world, by the operator's word or by its own.
fn is_read_only(listed: &Value, overlay: &Overlay) -> bool {
    match overlay.effects {
        Some(effects) => matches!(effects, Effects::None | Effects::Read),
        None => {
            let annotations = listed.get("annotations");
            annotations.and_then(|all| all.get("readOnlyHint")?.as_bool()) == Some(true)
        }
    }
}
