//! A thousand contracts, listed.

use std::{io::Write, time::Instant};

use tempfile::TempDir;

use crate::start;

/// The number of contracts.
pub const TOOLS: usize = 1_000;

/// A folder with the contracts, and settings that name them.
pub fn folder() -> anyhow::Result<TempDir> {
    let folder = tempfile::tempdir()?;
    let contracts = folder.path().join("contracts");
    std::fs::create_dir(&contracts)?;
    for number in 0..TOOLS {
        let mut file = std::fs::File::create(contracts.join(format!("tool_{number}.yaml")))?;
        write!(file, "{}", contract(number))?;
    }
    std::fs::write(folder.path().join("toolgate.yaml"), "contracts: [ ./contracts ]\n")?;
    Ok(folder)
}

/// The time that `GET /v1/tools` takes with a thousand contracts.
pub fn report() -> anyhow::Result<()> {
    let folder = folder()?;
    let begin = Instant::now();
    let server = start::with_settings(folder)?;
    let started = begin.elapsed();
    let mut times: Vec<_> = (0..50)
        .map(|_| {
            let begin = Instant::now();
            start::get(server.port(), "/v1/tools").map(|bytes| (begin.elapsed(), bytes))
        })
        .collect::<anyhow::Result<_>>()?;
    times.sort();
    let (median, bytes) = times[times.len() / 2];
    println!("{TOOLS} contracts: started in {started:?}, listed in {median:?} ({bytes} bytes)");
    Ok(())
}

fn contract(number: usize) -> String {
    format!(
        "name: tool_{number}
description: Tool number {number} of many.
version: \"1\"
stability: experimental
toolset: many
effects: none
run: [cat]
input_schema:
  type: object
  description: What goes in.
  properties:
    text: {{ type: string, description: Any text. }}
  required: [text]
  additionalProperties: false
output_schema:
  type: object
  properties:
    text: {{ type: string, description: The text. }}
  required: [text]
  additionalProperties: false
examples:
  - title: Say it
    input: {{ text: hello }}
    output: {{ text: hello }}
"
    )
}
