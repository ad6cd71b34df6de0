//! Toolgate seen from outside: HTTP exchanges, command lines, files.

#![allow(clippy::unwrap_used)] // A panic is how a test fails.
#![allow(clippy::disallowed_methods)] // A test connects to the server that it started.

mod approvals;
mod artifacts;
mod ask;
mod backup;
mod bad_bodies;
mod bad_commands;
mod bad_lines;
mod bad_messages;
mod bad_state;
mod broken_files;
mod browser;
mod busy;
mod check_time;
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
mod https;
mod idempotency;
mod ids;
mod interrupts;
mod jobs;
mod learning_os;
mod limits;
mod listing;
mod mcp;
mod mcp_questions;
mod mcp_tasks;
mod messages;
mod mlx;
mod own_tools;
mod person;
mod quarantine;
mod reload;
mod rmcp;
mod sandboxes;
mod search_web;
mod seeds;
mod settings;
mod shares;
mod shutdown;
mod sys_audit;
mod terminals;
mod transcript;
mod upstreams;
mod web_fetch;
mod writable_folders;

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Stdio},
};

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
    let world = World::new(BINARY, &format!("contracts: [ ./contracts ]\n{settings}"));
    for (name, script) in commands {
        command(&world, name, script, "");
    }
    world.started().await
}

/// A world with a tool that leaves a line in a file, prints this, and no server yet.
pub fn with_counted(settings: &str, name: &str, prints: &str, more: &str) -> World {
    let world = World::new(BINARY, &format!("contracts: [ ./contracts ]\n{settings}"));
    let mark = world.folder().join("mark").display().to_string();
    // Beside the settings a command makes no new file.
    world.write("mark", "");
    command(&world, name, &format!("cat > /dev/null; echo x >> '{mark}'; echo '{prints}'"), more);
    world
}

/// How often the tool of [`with_counted`] has run.
pub fn runs(world: &World) -> usize {
    if world.has("mark") { world.read("mark").lines().count() } else { 0 }
}

/// Locks the database of a world for so many seconds, as another process may.
pub fn lock_database(world: &World, seconds: u32) -> Child {
    let script = format!(
        "import sqlite3, time; c = sqlite3.connect('data/toolgate.db'); \
         c.execute('BEGIN IMMEDIATE'); print('locked', flush=True); time.sleep({seconds})"
    );
    #[allow(clippy::disallowed_types)] // Somebody else's program.
    let mut python = std::process::Command::new("python3");
    python.args(["-c", &script]).current_dir(world.folder()).stdout(Stdio::piped());
    let mut child = python.spawn().unwrap();
    let output = child.stdout.take().unwrap();
    BufReader::new(output).read_line(&mut String::new()).unwrap();
    child
}

/// Writes a command tool that answers once a file is there; that file.
pub fn command_that_waits(world: &World, name: &str) -> PathBuf {
    let go = world.folder().join("go");
    let wait = format!("while [ ! -e {} ]; do sleep 0.02; done", go.display());
    command(world, name, &format!("cat > /dev/null; {wait}; echo '{{\"answer\":1}}'"), "");
    go
}

/// Writes a command tool: a contract and its shell script, which is told the folder of the settings and so may leave marks
/// there.
pub fn command(world: &World, name: &str, script: &str, more: &str) {
    command_taking(world, name, script, more, "value: { description: Any value. }");
}

/// The same with these properties of its input, one a line.
pub fn command_taking(world: &World, name: &str, script: &str, more: &str, properties: &str) {
    let properties = properties.replace('\n', "\n    ");
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
run: [./{name}.sh, ..]
{more}
input_schema:
  type: object
  description: Anything.
  properties:
    {properties}
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
