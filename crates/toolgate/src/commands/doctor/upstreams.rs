//! The upstreams.

use upstream::{DownCause, UpstreamState, UpstreamStatus};

use super::DoctorFinding;
use crate::{
    printer::counted,
    settings::LoadedSettings,
    wiring::{
        self, LoadedContracts,
        upstreams::{self, UpstreamFilter},
    },
};

const SUBJECT: &str = "upstreams";
/// The most rejected tools of one server that are reported one by one.
const MAX_REPORTED: usize = 5;

/// Checks that each can be reached, and reports tools that are not served.
pub(super) async fn servers(
    contracts: LoadedContracts,
    loaded: &LoadedSettings,
) -> Vec<DoctorFinding> {
    if loaded.settings.upstreams.is_empty() {
        return Vec::new();
    }
    let planned = wiring::tools(contracts, loaded)
        .and_then(|fixed| upstreams::eager_host_config(loaded, UpstreamFilter::All, &fixed));
    let config = match planned {
        Ok(config) => config,
        Err(error) => return vec![DoctorFinding::problem(SUBJECT, format!("{error:#}"))],
    };
    let pinned = config.rules.lock.is_some();
    let statuses = match upstreams::with_host(config, async |host| Ok(host.statuses())).await {
        Ok(statuses) => statuses,
        Err(error) => return vec![DoctorFinding::problem(SUBJECT, format!("{error:#}"))],
    };
    let mut findings: Vec<_> = statuses.iter().flat_map(about).collect();
    if !pinned {
        let message = "no tools are pinned: changes of upstream tools go unnoticed";
        findings.push(
            DoctorFinding::warning(SUBJECT, message)
                .hint("run `toolgate lock` to pin the tools as they are now"),
        );
    }
    findings
}

fn about(status: &UpstreamStatus) -> Vec<DoctorFinding> {
    let id = &status.id;
    let mut findings = vec![match &status.state {
        UpstreamState::Disabled => DoctorFinding::ok(SUBJECT, format!("{id} is disabled")),
        UpstreamState::Down { error, cause } => {
            DoctorFinding::problem(SUBJECT, format!("{id}: {error}")).hint_if(hint(*cause))
        }
        _ => {
            let protocol = status.protocol.as_deref().unwrap_or("the lock");
            let message = format!("{id}: {} ({protocol})", counted(status.tools.len(), "tool"));
            DoctorFinding::ok(SUBJECT, message)
        }
    }];
    for one in status.rejected.iter().take(MAX_REPORTED) {
        let message = format!("{id}.{} is not served: {}", one.tool, one.message);
        findings.push(DoctorFinding::warning(SUBJECT, message).hint(&*one.fix));
    }
    let more = status.rejected.len().saturating_sub(MAX_REPORTED);
    if more > 0 {
        let message = format!("{id}: {more} more tools are not served");
        let hint = format!("`toolgate upstream list {id}` shows all of them");
        findings.push(DoctorFinding::warning(SUBJECT, message).hint(hint));
    }
    for remark in &status.remarks {
        findings.push(DoctorFinding::warning(
            SUBJECT,
            match remark.tool.as_str() {
                "" => format!("{id}: {}", remark.message),
                tool => format!("{id}.{tool}: {}", remark.message),
            },
        ));
    }
    findings
}

/// The next step for a server that cannot be reached, unless the error itself says it.
fn hint(cause: DownCause) -> Option<&'static str> {
    match cause {
        DownCause::Settings => {
            Some("set the variable for the server, or give it a default: `${NAME:-text}`")
        }
        DownCause::ProgramNotFound => {
            Some("install the program, or write its full path in `command`")
        }
        DownCause::Timeout => Some(
            "the first start may download files: start it once by hand, or raise `connect_timeout_ms`",
        ),
        DownCause::Address => Some("start the server, or correct the address in `url`"),
        DownCause::Other => None,
    }
}
