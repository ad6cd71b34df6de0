//! Contracts from anywhere: judged, compared, exported, and proposed from results.

mod documents;
mod infer;
mod sources;

use serde_json::Value;
use testkit::World;

/// Runs a command that prints JSON: exit code and what it printed.
fn json(world: &World, arguments: &[&str]) -> (i32, Value) {
    let (code, stdout, stderr) = world.cli(arguments);
    let value = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stdout}{stderr}"));
    (code, value)
}
