//! Calls that pass through to another MCP server, against calling that server itself.
//!
//! Both sides speak Streamable HTTP in the modern version, arguments and results are held against their
//! schemas, and every call is in the journal. A further address is that of another gateway in front of
//! a server with the same tools (`bench bare-rmcp sessions 1` is one), as `http://127.0.0.1:PORT#PREFIX`,
//! where PREFIX stands before the names of the tools.

use std::time::{Duration, Instant};

use anyhow::Context;

use crate::{
    load::{self, Target},
    mcp::{
        ECHO, McpVersion,
        bare::{LARGE, Legacy},
        listing,
    },
    start, table,
};

/// At how many connections it is measured.
const CONNECTIONS: [usize; 2] = [16, 128];
/// The number of upstreams that are started at once, and how many tools each has beside the large one.
const CROWD: usize = 100;
const TOOLS_OF_EACH: usize = 9;

/// All of it, with rounds of this length.
pub async fn report(round: Duration, others: &[&str]) -> anyhow::Result<()> {
    let upstream = start::bare_rmcp(Legacy::Sessions, 1)?;
    let toolgate = in_front_of(&[("up".to_owned(), upstream.port())])?;
    let forwards = start::bare_proxy(upstream.port(), false)?;
    let checks = start::bare_proxy(upstream.port(), true)?;
    for tool in [ECHO, LARGE] {
        println!("\nMCP to MCP, {tool}\n{}", table::header("direct"));
        let mut targets = vec![
            Target::mcp("the upstream itself", upstream.port(), McpVersion::Modern, tool),
            Target::mcp("bare proxy", forwards.port(), McpVersion::Modern, tool),
            Target::mcp("bare proxy, checks", checks.port(), McpVersion::Modern, tool),
            Target::mcp("toolgate", toolgate.port(), McpVersion::Modern, &format!("up__{tool}")),
        ];
        for other in others {
            let (address, prefix) = other.split_once('#').unwrap_or((other, ""));
            let port = address.rsplit(':').next().and_then(|port| port.parse().ok());
            let port = port.with_context(|| format!("no port in `{address}`"))?;
            targets.push(Target::mcp(
                address,
                port,
                McpVersion::Modern,
                &format!("{prefix}{tool}"),
            ));
        }
        for connections in CONNECTIONS {
            table::print(connections, &load::rounds(&targets, connections, round).await?);
        }
    }
    println!("resident after the load: {:.1} MB", toolgate.resident_mb());
    crowd().await
}

/// Toolgate in front of these, by id and port.
fn in_front_of(upstreams: &[(String, u16)]) -> anyhow::Result<start::Server> {
    let folder = tempfile::tempdir()?;
    let lines = upstreams
        .iter()
        .map(|(id, port)| format!("  {id}: {{ url: \"http://127.0.0.1:{port}/mcp\" }}\n"));
    // As many calls at once as the largest load makes, and some to spare.
    let mut settings = String::from("server: { max_concurrency: 256 }\n");
    if !upstreams.is_empty() {
        settings += &format!("upstreams:\n{}", lines.collect::<String>());
    }
    std::fs::write(folder.path().join("toolgate.yaml"), settings)?;
    start::with_settings(folder)
}

/// Many upstreams at once: how long until all are served, what that takes, how long a listing takes.
async fn crowd() -> anyhow::Result<()> {
    let alone = in_front_of(&[])?;
    let upstream = start::bare_rmcp(Legacy::Sessions, TOOLS_OF_EACH)?;
    let all: Vec<_> = (0..CROWD).map(|number| (format!("up{number}"), upstream.port())).collect();
    // A server listens before its upstreams are ready. A listing waits for them.
    let until_listed = |upstreams| {
        let begin = Instant::now();
        let toolgate = in_front_of(upstreams)?;
        start::get(toolgate.port(), "/v1/tools")?;
        anyhow::Ok((toolgate, begin.elapsed()))
    };
    let (_, one) = until_listed(&all[..1])?;
    let (toolgate, took) = until_listed(&all)?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    #[allow(clippy::cast_precision_loss)]
    let each = (toolgate.resident_mb() - alone.resident_mb()) / CROWD as f64;
    println!(
        "\n{CROWD} upstreams of {} tools: served after {took:?} (one: {one:?}), {each:.2} MB for each",
        TOOLS_OF_EACH + 1
    );
    let (listing, tools) = listing::time(toolgate.port()).await?;
    println!("tools/list of {tools} tools: {listing:.2?}");
    Ok(())
}
