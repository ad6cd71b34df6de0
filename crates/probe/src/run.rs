//! Tests one MCP server against its own contract.
//!
//! [`run`] connects, lists the tools, checks each of them as it is listed, and calls those that only read: with valid
//! arguments at the boundaries, and with arguments that have one defect each. Results are checked against the
//! output schemas. The same seed makes the same calls.

use std::{collections::BTreeMap, time::Duration};

use guard::process::Spawner;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    Check, CheckSuite, ProbeFinding, ProbeReport,
    connection::{self, ProbeConnection},
    listed_tool, rules, server_checks, tool_calls,
};
use upstream::connection::{
    ConnectError, ConnectOptions, ConnectionLimits, ProtocolChoice, RequestError, Target,
};

/// The default number of valid, and of invalid, calls of each tool.
pub const DEFAULT_CASES: usize = 20;
/// The largest number of valid, and of invalid, calls of each tool.
pub const MAX_CASES: usize = crate::generate::MAX_CASES;
pub const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// The default timeout of a probe.
pub const DEFAULT_TOTAL_TIMEOUT: Duration = Duration::from_mins(10);

#[derive(Debug, Clone)]
pub struct ProbeOptions {
    /// Only these tools; all if empty.
    pub tools: Vec<String>,
    /// Also call tools with effects.
    pub effects: bool,
    /// The number of valid, and of invalid, calls of each tool.
    pub cases: usize,
    /// The seed of the generated values.
    pub seed: u64,
    /// Valid arguments of the operator, by tool; they are used first.
    pub arguments: BTreeMap<String, Vec<Value>>,
    pub call_timeout: Duration,
    pub total_timeout: Duration,
}

impl Default for ProbeOptions {
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

/// The server to probe.
pub struct ProbeTarget<'a> {
    /// The program or the address.
    pub target: &'a Target,
    pub limits: ConnectionLimits,
    /// The protocol version.
    pub protocol: ProtocolChoice,
    /// Starts the program.
    pub spawner: &'a Spawner,
}

/// The probe failed before it could report anything.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// There is no connection.
    #[error("cannot connect to the server")]
    Connect(#[source] ConnectError),
    /// It does not list its tools.
    #[error("`tools/list` failed")]
    List(#[source] RequestError),
    /// It has no such tool.
    #[error("the server has no tool `{0}`{1}")]
    NoTool(String, String),
    /// The probe was stopped, or ran out of time, before the tools were listed.
    #[error("the probe ended early: {0}")]
    Ended(String),
}

/// Probes a server, until `stop`. `watch` hears which tool it is at.
pub async fn run(
    probed: ProbeTarget<'_>,
    options: &ProbeOptions,
    stop: &CancellationToken,
    watch: &dyn Fn(&str),
) -> Result<ProbeReport, ProbeError> {
    let mut limits = probed.limits;
    limits.request_timeout = options.call_timeout;
    let connect_options = ConnectOptions {
        limits,
        protocol: probed.protocol,
        client: json!({ "name": "toolgate", "version": env!("CARGO_PKG_VERSION") }),
        // Nobody can respond to input requests.
        capabilities: json!({}),
    };
    let mut server = ProbeConnection::open(
        probed.target,
        connect_options,
        probed.spawner,
        options.total_timeout,
        stop,
    )
    .await?;
    let report = run_checks(options, &mut server, watch).await;
    server.close().await;
    report
}

async fn run_checks(
    options: &ProbeOptions,
    server: &mut ProbeConnection<'_>,
    watch: &dyn Fn(&str),
) -> Result<ProbeReport, ProbeError> {
    let listing = server.list().await?;
    is_listed(&listing.items, options.arguments.keys())?;
    let tools = chosen(&listing.items, &options.tools)?;
    let mut report = ProbeReport::new(server.server(), options.seed);
    let mut whole = CheckSuite::server();
    whole.checks.extend(server_checks::listed(&listing, server.server()));
    let mut cut = None;
    let count = tools.len();
    for (number, tool) in (1..).zip(tools) {
        let name = listed_tool::name_of(tool).unwrap_or("(no name)");
        watch(&format!("tool {number} of {count}: {name}"));
        cut = cut.or_else(|| server.end());
        let mut suite = match cut {
            None => listed_tool::look(tool, &listing.items),
            Some(_) => CheckSuite::tool(name),
        };
        if cut.is_none() {
            cut = tool_calls::make(tool, &mut suite, options, server).await;
        } else {
            suite.skip("calls", "the probe ended early");
        }
        report.suites.push(suite);
    }
    // Last, because these requests are the most unusual.
    if cut.is_none() {
        cut = server_checks::send_unusual_requests(&listing, &mut whole, server).await;
    }
    whole.checks.extend(server.remarks());
    if let Some(gone) = cut.as_ref().and_then(connection::ProbeEnd::gone) {
        whole
            .checks
            .push(Check::failed("stays reachable", ProbeFinding::new(&rules::SERVER_GONE, gone)));
    }
    report.suites.insert(0, whole);
    report.cut = cut.map(|over| over.to_string());
    Ok(report)
}

/// The selected tools.
fn chosen<'a>(listed: &'a [Value], names: &[String]) -> Result<Vec<&'a Value>, ProbeError> {
    is_listed(listed, names.iter())?;
    let meant = |tool: &&Value| {
        let name = listed_tool::name_of(tool);
        names.is_empty() || name.is_some_and(|name| names.iter().any(|one| one == name))
    };
    Ok(listed.iter().filter(meant).collect())
}

/// Refuses unknown names.
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
