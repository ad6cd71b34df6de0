//! Tests one MCP server against its own contract.
//!
//! Nothing but a [`Target`] is needed. [`run`] connects, lists, looks at every tool as it stands, and
//! calls those that are said to change nothing: with values that their schemas take, at the boundaries,
//! and with values that have one defect each. What comes back is held against what was promised. The
//! same seed asks the same.

use std::{collections::BTreeMap, time::Duration};

use guard::process::Spawner;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    Check, Finding, Report, Suite,
    connection::{self, Session},
    listed_tool, rules, server_checks, tool_calls,
};
use upstream::connection::{
    ConnectError, ConnectOptions, ConnectionLimits, ProtocolChoice, RequestError, Target,
};

/// How many valid and how many invalid calls are made of each tool, unless somebody says otherwise.
pub const DEFAULT_CASES: usize = 20;
/// How many can be asked for: no more are made.
pub const MAX_CASES: usize = crate::generate::MAX_CASES;
/// How long one call may take, unless somebody says otherwise.
pub const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// How long all of it may take, unless somebody says otherwise.
pub const DEFAULT_TOTAL_TIMEOUT: Duration = Duration::from_mins(10);

/// What is asked, and how much of it.
#[derive(Debug, Clone)]
pub struct Options {
    /// Only these tools; all where there are none.
    pub tools: Vec<String>,
    /// Whether tools are called that may change something.
    pub effects: bool,
    /// How many valid and how many invalid calls are made of each tool.
    pub cases: usize,
    /// What the values are made from.
    pub seed: u64,
    /// Arguments that the operator knows to be good, by tool: they are tried before those that are made.
    pub arguments: BTreeMap<String, Vec<Value>>,
    /// How long one call may take.
    pub call_timeout: Duration,
    /// How long all of it may take.
    pub total_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            effects: false,
            cases: DEFAULT_CASES,
            seed: 0,
            arguments: BTreeMap::new(),
            call_timeout: DEFAULT_CALL_TIMEOUT,
            total_timeout: DEFAULT_TOTAL_TIMEOUT,
        }
    }
}

/// The server that is tested.
pub struct Probed<'a> {
    /// Where it is.
    pub target: &'a Target,
    /// How much it may take of us, before calls are made.
    pub limits: ConnectionLimits,
    /// Which revision to speak.
    pub protocol: ProtocolChoice,
    /// Starts a program.
    pub spawner: &'a Spawner,
}

/// Why nothing can be said about a server.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// There is no connection.
    #[error("the server cannot be probed")]
    Connect(#[source] ConnectError),
    /// It does not list its tools.
    #[error("the server cannot be probed: `tools/list` failed")]
    List(#[source] RequestError),
    /// It has no such tool.
    #[error("the server lists no tool `{0}`{1}")]
    NoTool(String, String),
    /// We were told to stop, or the time was up, before anything was known.
    #[error("the server cannot be probed: {0}")]
    Ended(String),
}

/// Tests a server, until `stop`.
pub async fn run(
    probed: Probed<'_>,
    options: &Options,
    stop: &CancellationToken,
) -> Result<Report, ProbeError> {
    let mut limits = probed.limits;
    limits.request_timeout = options.call_timeout;
    let connect_options = ConnectOptions {
        limits,
        protocol: probed.protocol,
        client: json!({ "name": "toolgate", "version": env!("CARGO_PKG_VERSION") }),
        // Nobody is there to be asked, so that nobody should be.
        capabilities: json!({}),
    };
    let mut session =
        Session::open(probed.target, connect_options, probed.spawner, options.total_timeout, stop)
            .await?;
    let probing = Probing { options, session: &mut session };
    let report = probing.report().await;
    session.close().await;
    report
}

struct Probing<'a, 's> {
    options: &'a Options,
    session: &'a mut Session<'s>,
}

impl Probing<'_, '_> {
    async fn report(self) -> Result<Report, ProbeError> {
        let Probing { options, session } = self;
        let listing = session.list().await?;
        is_listed(&listing.items, options.arguments.keys())?;
        let tools = chosen(&listing.items, &options.tools)?;
        let mut report = Report::new(session.server(), options.seed);
        let mut whole = Suite::server();
        whole.checks.extend(server_checks::listed(&listing, session.server()));
        let mut cut = None;
        for tool in tools {
            cut = cut.or_else(|| session.is_over());
            let mut suite = match cut {
                None => listed_tool::look(tool, &listing.items),
                Some(_) => Suite::tool(listed_tool::name_of(tool).unwrap_or("(no name)")),
            };
            if cut.is_none() {
                cut = tool_calls::make(tool, &mut suite, options, session).await;
            } else {
                suite.skip("calls", "the probe ended before");
            }
            report.suites.push(suite);
        }
        // Last, because they are the strangest questions.
        if cut.is_none() {
            cut = server_checks::ask(&listing, &mut whole, session).await;
        }
        whole.checks.extend(session.remarks());
        if let Some(gone) = cut.as_ref().and_then(connection::Over::gone) {
            whole.checks.push(Check::failed("comes back", Finding::new(&rules::SERVER_GONE, gone)));
        }
        report.suites.insert(0, whole);
        report.cut = cut.map(|over| over.to_string());
        Ok(report)
    }
}

/// The tools that are meant.
fn chosen<'a>(listed: &'a [Value], names: &[String]) -> Result<Vec<&'a Value>, ProbeError> {
    is_listed(listed, names.iter())?;
    let meant = |tool: &&Value| {
        let name = listed_tool::name_of(tool);
        names.is_empty() || name.is_some_and(|name| names.iter().any(|one| one == name))
    };
    Ok(listed.iter().filter(meant).collect())
}

/// Refuses names that no tool has.
fn is_listed<'a>(
    listed: &[Value],
    names: impl Iterator<Item = &'a String>,
) -> Result<(), ProbeError> {
    for wanted in names {
        if !listed.iter().any(|tool| listed_tool::name_of(tool) == Some(wanted)) {
            let near = contract::nearest(wanted, listed.iter().filter_map(listed_tool::name_of));
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(ProbeError::NoTool(wanted.clone(), near));
        }
    }
    Ok(())
}
