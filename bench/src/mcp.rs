//! MCP, measured against a bare server on the official SDK.
//!
//! The same calls go to both, in both eras of the protocol, over HTTP and on stdio. What
//! Toolgate does not answer yet is said in a line of its own.

mod answer;
pub mod bare;
mod client;
pub mod listing;
mod message;
mod piped;
mod stdio;

use std::time::Duration;

use crate::{
    CONNECTIONS,
    load::{self, Target},
    start, table,
};

use bare::Legacy;
pub use client::McpClient;
pub use message::McpVersion;
pub use piped::Piped;

/// The tool that is called.
pub const ECHO: &str = "echo_json";
/// The name of the floor in the tables.
const FLOOR: &str = "bare rmcp";

/// All of it, with rounds of this length.
pub async fn report(round: Duration) -> anyhow::Result<()> {
    for version in McpVersion::ALL {
        over_http(version, round).await?;
    }
    stdio::report(round)?;
    listing::report().await
}

async fn over_http(version: McpVersion, round: Duration) -> anyhow::Result<()> {
    println!("\nMCP {} over HTTP\n{}", version.version(), table::header(FLOOR));
    let floors: &[(&str, Legacy)] = match version {
        McpVersion::Modern => &[("bare rmcp, JSON", Legacy::Sessions)],
        McpVersion::Legacy => &[
            ("bare rmcp, sessions, events", Legacy::Sessions),
            ("bare rmcp, no sessions, JSON", Legacy::Sessionless),
        ],
    };
    let mut servers = Vec::new();
    let mut targets = Vec::new();
    for (name, legacy) in floors {
        let server = start::bare_rmcp(*legacy, 1)?;
        targets.push(Target::mcp(name, server.port(), version, ECHO));
        servers.push(server);
    }
    let toolgate = start::toolgate()?;
    match McpClient::open(toolgate.port(), version, ECHO).await {
        Ok(client) => {
            client.close().await?;
            targets.push(Target::mcp("toolgate /mcp", toolgate.port(), version, ECHO));
        }
        Err(error) => println!("      toolgate does not answer /mcp: {error:#}"),
    }
    for connections in CONNECTIONS {
        table::print(connections, &load::rounds(&targets, connections, round).await?);
    }
    println!(
        "resident after the load: bare rmcp {:.1} MB, toolgate {:.1} MB",
        servers[0].resident_mb(),
        toolgate.resident_mb()
    );
    Ok(())
}
