//! Contracts from anywhere: judged, compared, exported, and proposed from results.

mod documents;
mod infer;
mod sources;

use serde_json::Value;
use testkit::World;

/// Runs a command that prints JSON: exit code and what it printed.
fn json(world: &World, arguments: &[&str]) -> (i32, Value) {
    let output = world.cli(arguments);
    (output.code, output.json())
}
