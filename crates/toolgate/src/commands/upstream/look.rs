//! Looks at servers before they are added to the settings: each is started as `serve` would start it, lists its tools, and
//! is stopped again.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Map, Value};
use upstream::{
    DownCause, UpstreamState, UpstreamStatus,
    admission::{Rejection, RejectionReason},
};

use super::settings_file::SettingsDraft;
use crate::{
    commands,
    settings::LoadedSettings,
    wiring::{
        self,
        upstreams::{self, UpstreamFilter},
    },
};

/// The most servers that are looked at at once.
const MAX_LOOKS: usize = 8;

/// What a server lists.
pub struct Look {
    /// The tools that are served as it is.
    pub tools: usize,
    /// The others.
    pub rejected: Vec<Rejection>,
}

impl Look {
    /// The number of tools without an output schema.
    pub fn uncontracted(&self) -> usize {
        let uncontracted = |one: &&Rejection| one.reason == RejectionReason::Uncontracted;
        self.rejected.iter().filter(uncontracted).count()
    }

    /// Serves the tools without an output schema, and says so in the settings. Returns a remark.
    pub fn accept_content(&mut self, entry: &mut Map<String, Value>) -> Option<String> {
        let (count, all) = (self.uncontracted(), self.tools + self.rejected.len());
        if count == 0 || entry.contains_key("output") {
            return None;
        }
        entry.insert("output".into(), "content".into());
        self.rejected.retain(|one| one.reason != RejectionReason::Uncontracted);
        self.tools += count;
        Some(format!(
            "`output: content` is set, because {count} of {all} tools declare no output schema: their results are only checked \
             to be MCP content (`--strict` leaves such tools out)"
        ))
    }
}

/// The reason why a server could not be looked at.
pub struct LookError {
    pub message: String,
    pub cause: DownCause,
}

impl LookError {
    /// The next step.
    pub fn hint(&self) -> &'static str {
        match self.cause {
            DownCause::Settings => {
                "set the variable, or write it to `toolgate.env` beside the settings"
            }
            DownCause::ProgramNotFound => "install the program, or name it by its whole path",
            DownCause::Timeout => "give it more time with `--timeout SECONDS`",
            DownCause::Address => "check the URL, and that the server is running",
            DownCause::Other => {
                "check that this is an MCP server, and that its arguments are right"
            }
        }
    }
}

/// Looks at these upstreams of the settings, several at once.
pub fn look(
    draft: &SettingsDraft<'_>,
    ids: &[String],
    timeout: Duration,
) -> anyhow::Result<BTreeMap<String, Result<Look, LookError>>> {
    let mut loaded = draft.load()?;
    // The allowlist would hide what else is wrong with a tool.
    loaded.settings.allowlist = None;
    let connect_timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    for id in ids {
        if let Some(own) = loaded.settings.upstreams.get_mut(id) {
            own.connect_timeout_ms = connect_timeout_ms;
        }
    }
    let mut looks = BTreeMap::new();
    for some in ids.chunks(MAX_LOOKS) {
        looks.extend(statuses(&loaded, some)?.into_iter().map(read));
    }
    Ok(looks)
}

fn statuses(loaded: &LoadedSettings, ids: &[String]) -> anyhow::Result<Vec<UpstreamStatus>> {
    let fixed = wiring::tools(commands::servable(loaded)?, loaded)?;
    let config = upstreams::eager_host_config(loaded, UpstreamFilter::These(ids), &fixed)?;
    let statuses = upstreams::with_host(config, async |host| Ok(host.statuses()));
    commands::runtime()?.block_on(statuses)
}

fn read(status: UpstreamStatus) -> (String, Result<Look, LookError>) {
    let look = match status.state {
        UpstreamState::Down { error, cause } => Err(LookError { message: error, cause }),
        _ => Ok(Look { tools: status.tools.len(), rejected: status.rejected }),
    };
    (status.id, look)
}
