//! Toolgate seen from outside: HTTP exchanges, command lines, files.

#![allow(clippy::unwrap_used)] // A panic is how a test fails.
#![allow(clippy::disallowed_methods)] // A test connects to the server that it started.

mod approvals;
mod artifacts;
mod ask;
mod bad_bodies;
mod bad_commands;
mod bad_lines;
mod bad_messages;
mod bad_state;
mod busy;
mod cli;
mod contracts;
mod crash;
mod disk;
mod doctor;
mod documents;
mod doors;
mod examples;
mod fetch_security;
mod file_io;
mod guides;
mod idempotency;
mod jobs;
mod learning_os;
mod limits;
mod listing;
mod mcp;
mod mcp_questions;
mod mcp_tasks;
mod messages;
mod mlx;
mod quarantine;
mod rmcp;
mod search_web;
mod seeds;
mod settings;
mod shutdown;
mod sys_audit;
mod transcript;
mod upstreams;
mod web_fetch;

use std::path::Path;

use testkit::World;

/// The binary under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_toolgate");

/// A server with these settings.
pub async fn start(settings: &str) -> World {
    World::start(BINARY, settings).await
}

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A server whose contracts are the given commands: name and shell script of each. They
/// take anything under `input` and promise an object.
pub async fn with_commands(settings: &str, commands: &[(&str, &str)]) -> World {
    let mut world = World::new(BINARY, &format!("contracts: [ ./contracts ]\n{settings}"));
    for (name, script) in commands {
        command(&world, name, script, "");
    }
    world.run().await;
    world
}

/// Writes a command tool: a contract and its shell script.
pub fn command(world: &World, name: &str, script: &str, more: &str) {
    world.write_program(&format!("contracts/{name}.sh"), &format!("#!/bin/sh\n{script}\n"));
    world.write(
        &format!("contracts/{name}.yaml"),
        &format!(
            "name: {name}
description: A command of a test.
version: \"1\"
stability: experimental
toolset: commands
effects: none
run: [./{name}.sh]
{more}
input_schema:
  type: object
  description: Anything.
  properties:
    value: {{ description: Any value. }}
  required: []
  additionalProperties: false
output_schema:
  type: object
  description: The answer.
  properties:
    answer: {{ description: Any value. }}
  required: [answer]
  additionalProperties: false
examples:
  - title: A call
    input: {{}}
"
        ),
    );
}
