//! Other people's MCP servers.

use upstream::{Host, Phase, Report};

use super::Finding;
use crate::{
    settings::Loaded,
    wiring::{
        self, Bound,
        upstreams::{self, Which},
    },
};

const SUBJECT: &str = "upstreams";
/// How many rejected tools of one server are told one by one.
const MAX_TOLD: usize = 5;

/// Whether each can be reached, and what is not served of it.
pub(super) async fn servers(bound: Vec<Bound>, loaded: &Loaded) -> Vec<Finding> {
    if loaded.settings.upstreams.is_empty() {
        return Vec::new();
    }
    let planned = wiring::tools(bound, loaded)
        .and_then(|fixed| upstreams::plan_to_look(loaded, Which::All, &fixed));
    let plan = match planned {
        Ok(plan) => plan,
        Err(error) => return vec![Finding::problem(SUBJECT, format!("{error:#}"))],
    };
    let pinned = plan.lock.is_some();
    let host = Host::start(plan);
    host.settled().await;
    let reports = host.reports();
    host.stop().await;
    let mut findings: Vec<_> = reports.iter().flat_map(about).collect();
    if !pinned {
        let message = "nothing is pinned: a server that changes its tools goes unnoticed";
        findings.push(
            Finding::warning(SUBJECT, message).hint("`toolgate lock` pins what is there now"),
        );
    }
    findings
}

fn about(report: &Report) -> Vec<Finding> {
    let id = &report.id;
    let mut findings = vec![match &report.phase {
        Phase::Disabled => Finding::ok(SUBJECT, format!("{id} is turned off")),
        Phase::Down { error } => {
            Finding::problem(SUBJECT, format!("{id}: {error}")).hint(mend(error))
        }
        _ => {
            let protocol = report.protocol.as_deref().unwrap_or("the lock");
            let message = format!("{id}: {} tools, by {protocol}", report.tools.len());
            Finding::ok(SUBJECT, message)
        }
    }];
    for one in report.rejected.iter().take(MAX_TOLD) {
        let message = format!("{id}.{} is not served: {}", one.tool, one.message);
        findings.push(Finding::warning(SUBJECT, message).hint(&*one.fix));
    }
    let more = report.rejected.len().saturating_sub(MAX_TOLD);
    if more > 0 {
        let message = format!("{id}: {more} more tools are not served");
        let hint = format!("`toolgate upstream list {id}` shows all of them");
        findings.push(Finding::warning(SUBJECT, message).hint(hint));
    }
    for remark in &report.remarks {
        findings
            .push(Finding::warning(SUBJECT, format!("{id}.{}: {}", remark.tool, remark.message)));
    }
    findings
}

/// What to do about a server that cannot be reached.
fn mend(error: &str) -> &'static str {
    let says = |word: &str| error.contains(word);
    if says("environment variable") {
        "set it where the server is started, or give it a default: `${NAME:-text}`"
    } else if says("was not found") {
        "install the program, or name it by its whole path in `command`"
    } else if says("401") || says("403") {
        "look at `headers`: the server wants credentials, or others"
    } else if says("connect_timeout_ms") {
        "a first start may have to download: start it once by hand, or raise `connect_timeout_ms`"
    } else if says("refused") || says("cannot connect") {
        "start the server, or look at the address in `url`"
    } else {
        "start it by hand with the same command, and look at what it says"
    }
}
