//! How fast it is, as ratios against a floor that is measured in the same run.
//!
//! `cargo run --release -p bench [-- SECONDS]` after `cargo build --release`.
//! The floor is a bare axum server that parses a JSON body and prints it again. Rounds
//! of floor and Toolgate alternate, and each figure is the median of its rounds, so that
//! other work on the machine falls on all alike.

#![allow(clippy::print_stdout)] // A table is all that this program is for.

mod catalogue;
mod floor;
mod in_process;
mod load;
mod start;
mod table;

use std::time::Duration;

const CONNECTIONS: [usize; 3] = [1, 16, 128];
const ROUNDS: usize = 3;

fn main() -> anyhow::Result<()> {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("floor") {
        return floor::serve();
    }
    let seconds: f64 = argument.map_or(Ok(2.0), |text| text.parse())?;
    start::report()?;
    in_process::report()?;
    catalogue::report()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(doors(Duration::from_secs_f64(seconds)))
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
    println!("\n{}", table::HEADER);
    for connections in CONNECTIONS {
        let mut measured: Vec<Vec<load::Figures>> = vec![Vec::new(); targets.len()];
        for _ in 0..ROUNDS {
            for (target, figures) in targets.iter().zip(&mut measured) {
                figures.push(load::run(target, connections, round).await?);
            }
        }
        table::print(connections, &targets, &measured);
    }
    println!("\nresident after the load: {:.1} MB", toolgate.resident_mb());
    Ok(())
}
