//! Collects results of a tool: those that are stored, or those of calls that are made now.

use std::time::Duration;

use anyhow::{Context, bail};
use contract::{Effects, Schema, Violation};
use gate::{JobFilter, JobState, quarantine::QuarantineFilter};
use serde_json::{Value, json};
use upstream::{
    Upstream,
    admission::RejectionReason,
    names,
    settings::{OutputFormat, Overlay},
};

use super::sample::Sample;
use crate::{
    commands, interrupts,
    settings::LoadedSettings,
    wiring::{
        self, OpenGate, overlays,
        upstreams::{self, UpstreamFilter},
    },
};

/// The most results that are taken of jobs, and of quarantine.
const MAX_KEPT: usize = 200;

/// Results, and the number of errors of the tool itself.
#[derive(Default)]
pub struct CollectedResults {
    pub samples: Vec<Sample>,
    pub errors: usize,
}

impl CollectedResults {
    pub fn add(&mut self, sample: Sample) {
        match sample {
            Sample::Error => self.errors += 1,
            sample => self.samples.push(sample),
        }
    }
}

/// The results of a tool in the jobs and the quarantine of the data folder.
pub fn kept(loaded: &LoadedSettings, id: &str, tool: &str) -> anyhow::Result<CollectedResults> {
    let mut results = CollectedResults::default();
    if !loaded.data_dir().exists() {
        return Ok(results);
    }
    let output = output_of(loaded, id, tool)?;
    let served = names::served(id, tool);
    let kept = wiring::records(loaded)?;
    let (store, now) = (kept.gate.store(), kept.gate.clock().now());
    commands::block_on(async {
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
                results.add(Sample::kept(value, output));
            }
        }
        let filter =
            QuarantineFilter { tool: Some(served), limit: MAX_KEPT, ..QuarantineFilter::default() };
        for entry in store.all_quarantined(filter, now).await? {
            let Some(entry) = store.quarantined(&entry.id, now).await? else { continue };
            let value = serde_json::from_str::<Value>(entry.payload.get()).ok();
            if let Some(value) = value.filter(|value| entry.summary.whole && !value.is_null()) {
                results.add(Sample::kept(value, output));
            }
        }
        anyhow::Ok(results)
    })
}

/// The output format of a tool when its results were stored.
fn output_of(loaded: &LoadedSettings, id: &str, tool: &str) -> anyhow::Result<OutputFormat> {
    let overlay = overlays::of_upstream(loaded, id)?.remove(tool).unwrap_or_default();
    let usual = loaded.settings.upstreams.get(id).map(|own| own.output).unwrap_or_default();
    Ok(overlay.output.unwrap_or(usual))
}

/// Calls a tool with each of these arguments, one after the other. These calls do not go through the gate, which has
/// no contract for them yet; the journal records them.
pub fn called(
    loaded: &LoadedSettings,
    id: &str,
    tool: &str,
    calls: &[Value],
    effects: bool,
) -> anyhow::Result<CollectedResults> {
    let fixed = wiring::tools(wiring::contracts(loaded)?, loaded)?;
    let config = upstreams::eager_host_config(loaded, UpstreamFilter::One(id), &fixed)?;
    let overlay = overlays::of_upstream(loaded, id)?.remove(tool).unwrap_or_default();
    let kept = wiring::records(loaded)?;
    let timeout_ms = loaded.settings.limits.defaults().timeout_ms;
    let wanted = RequestedCalls { tool, overlay: &overlay, calls, effects, timeout_ms };
    commands::runtime()?.block_on(upstreams::with_host(config, async |host| {
        let upstream = host.upstream(id).with_context(|| format!("there is no upstream `{id}`"))?;
        let calls = call(&kept, &upstream, &wanted);
        interrupts::or_stopped(calls).await?
    }))
}

/// The calls to make.
struct RequestedCalls<'a> {
    tool: &'a str,
    overlay: &'a Overlay,
    calls: &'a [Value],
    /// True if the tool may have effects.
    effects: bool,
    timeout_ms: u64,
}

async fn call(
    kept: &OpenGate,
    upstream: &Upstream,
    wanted: &RequestedCalls<'_>,
) -> anyhow::Result<CollectedResults> {
    let (id, tool, overlay) = (&upstream.id, wanted.tool, wanted.overlay);
    let Some(listings) = upstream.own_listings() else {
        let disabled = || format!("the upstream `{id}` is disabled (`enabled: false`)");
        bail!(commands::unreachable(upstream).unwrap_or_else(disabled));
    };
    let own = |one: &&Value| one.get("name").is_some_and(|name| name == tool);
    let Some(listed) = listings.tools.iter().find(own) else {
        let names = listings.tools.iter().filter_map(|one| one.get("name")?.as_str());
        bail!("`{id}` lists no tool `{tool}`{}", contract::did_you_mean(tool, names));
    };
    may_be_called(upstream, tool)?;
    if !wanted.effects && !is_read_only(listed, overlay) {
        bail!(
            "`{id}.{tool}` is not called because it does not say that it only reads; set `effects: read` in its \
             overlay, or use --effects to call it all the same"
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
    let mut results = CollectedResults::default();
    for arguments in wanted.calls {
        let event = json!({
            "tool": names::served(id, tool),
            "input_sha256": contract::canonical::sha256(arguments),
            "by": commands::OPERATOR,
        });
        kept.gate.journal().event(kept.gate.clock().now(), "tool_sampled", event);
        let result = upstream
            .call_unserved(tool, arguments, timeout)
            .await
            .map_err(anyhow::Error::msg)
            .with_context(|| format!("`{id}.{tool}` with {arguments}"))?;
        if result.get("resultType").is_some_and(|kind| kind == "input_required") {
            bail!(
                "`{id}.{tool}` needs more input before it returns a result; give results with --results FILE"
            );
        }
        results.add(Sample::read(result));
    }
    Ok(results)
}

/// Refuses a tool that is rejected for another reason than its output schema.
fn may_be_called(upstream: &Upstream, tool: &str) -> anyhow::Result<()> {
    let rejected = upstream.rejected().into_iter().find(|one| one.tool == tool);
    match rejected {
        Some(one)
            if !matches!(
                one.reason,
                RejectionReason::Uncontracted | RejectionReason::BadOutputSchema
            ) =>
        {
            bail!("`{}.{tool}` is rejected: {}; {}", upstream.id, one.message, one.fix)
        }
        _ => Ok(()),
    }
}

/// True if a tool only reads, according to its overlay or its own annotations.
fn is_read_only(listed: &Value, overlay: &Overlay) -> bool {
    match overlay.effects {
        Some(effects) => matches!(effects, Effects::None | Effects::Read),
        None => {
            let annotations = listed.get("annotations");
            annotations.and_then(|all| all.get("readOnlyHint")?.as_bool()) == Some(true)
        }
    }
}
