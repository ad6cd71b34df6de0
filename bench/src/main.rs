//! Benchmarks: ratios against a floor that is measured in the same run.
//!
//! `cargo run --release -p bench [-- SECONDS] [mcp] [local] [fetch] [relay [URL …]] [transcript]
//! [transcript-model] [ask]` after `cargo build --release`.
//! The floor is a bare axum server that parses a JSON body and prints it again; the floor
//! of MCP, which alone is measured with `mcp`, is a bare server on the official SDK; with `local`
//! only the tools of the local machine are measured, and with `fetch` only `fetch_url`, whose floor is a
//! bare client. `relay` measures calls that pass through to another MCP server, against calling that server
//! itself, and takes the addresses of other gateways in front of a server with the same tools. `transcript` measures how
//! fast transcripts are cleaned by rules, and `transcript-model` what `transcript.clean` adds to the time of a language model, and `ask` what the gates
//! of a question add to the model and the tool.
//! Rounds of floor and Toolgate alternate, and each figure is the median of its rounds, so that
//! other work on the machine falls on all alike.

#![allow(clippy::print_stdout)] // A table is all that this program is for.
#![allow(clippy::disallowed_methods)] // It connects to the servers that it started.

mod ask;
mod catalogue;
mod fetch;
mod floor;
mod http;
mod in_process;
mod load;
mod local;
mod mcp;
mod processor;
mod proxy;
mod relay;
mod start;
mod table;
mod transcript;
mod transcript_model;

use std::time::Duration;

// The one of the program, so that what is measured in this process is what happens in that one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CONNECTIONS: [usize; 3] = [1, 16, 128];
const ROUNDS: usize = 3;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("floor") => return floor::serve(arguments.get(1).map(Into::into)),
        Some(proxy::ARGUMENT) => return proxy::serve(&arguments[1..]),
        Some(mcp::bare::ARGUMENT) => return mcp::bare::serve(&arguments[1..]),
        _ => {}
    }
    let (parts, numbers): (Vec<_>, Vec<_>) =
        arguments.iter().map(String::as_str).partition(|argument| {
            matches!(
                *argument,
                "mcp" | "local" | "fetch" | "relay" | "transcript" | "transcript-model" | "ask"
            )
        });
    let (others, numbers): (Vec<_>, Vec<_>) =
        numbers.into_iter().partition(|argument| argument.starts_with("http://"));
    let wanted = |part: &str| parts.is_empty() || parts.contains(&part);
    let seconds: f64 = numbers.first().map_or(Ok(2.0), |text| text.parse())?;
    let round = Duration::from_secs_f64(seconds);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if parts.is_empty() {
        start::report()?;
        in_process::report()?;
        catalogue::report()?;
        runtime.block_on(doors(round))?;
    }
    if wanted("local") {
        runtime.block_on(local::report(round))?;
    }
    if wanted("fetch") {
        runtime.block_on(fetch::report(round))?;
    }
    if wanted("transcript") {
        transcript::report()?;
    }
    if wanted("relay") {
        runtime.block_on(relay::report(round, &others))?;
    }
    if wanted("transcript-model") {
        runtime.block_on(transcript_model::report())?;
    }
    if wanted("ask") {
        runtime.block_on(ask::report())?;
    }
    if wanted("mcp") {
        runtime.block_on(mcp::report(round))?;
    }
    Ok(())
}

async fn doors(round: Duration) -> anyhow::Result<()> {
    let floor = start::floor()?;
    let toolgate = start::toolgate()?;
    let body = r#"{"message":"hello","n":2}"#;
    let targets = [
        load::Target::new("bare axum JSON echo", floor.port(), "/echo", body),
        load::Target::new(
            "POST /v1/tools/echo_json",
            toolgate.port(),
            "/v1/tools/echo_json",
            &format!(r#"{{"args":{body}}}"#),
        ),
        load::Target::new(
            "POST /v1/tools/execute",
            toolgate.port(),
            "/v1/tools/execute",
            &format!(r#"{{"tool":"echo_json","input":{body}}}"#),
        ),
    ];
    println!("\n{}", table::header("floor"));
    for connections in CONNECTIONS {
        table::print(connections, &load::rounds(&targets, connections, round).await?);
    }
    println!("\nresident after the load: {:.1} MB", toolgate.resident_mb());
    Ok(())
}
