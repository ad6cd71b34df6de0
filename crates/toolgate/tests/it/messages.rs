//! Every message that a person or a program reads, in one snapshot file for each area
//! (`messages/snapshots/*.snap`). Who reviews a change of words reads those files, and
//! `docs/reference/cli.md` for the help of every command (`documents.rs`).
//!
//! A case that is missing here is a message that nobody has read: add one with each new error.

mod cli;
mod contracts;
mod mcp;
mod rest;
mod settings;

use testkit::World;

use crate::{BINARY, command};

/// The text of one snapshot file: a section for each case.
#[derive(Default)]
struct Messages(String);

impl Messages {
    /// Adds a case and what was said to it.
    fn add(&mut self, case: &str, said: &str) {
        let rule = "-".repeat(80);
        self.0 += &format!("{rule}\n{}\n\n{}\n\n", case.trim_end(), said.trim_end());
    }

    /// Compares everything with the snapshot of this name.
    fn check(&self, area: &str) {
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_snapshot_path("messages/snapshots");
        settings.bind(|| insta::assert_snapshot!(area, self.0));
    }
}

/// A folder with tools that fail in their ways, and an upstream that cannot be started.
fn world(settings: &str) -> World {
    let upstreams = "upstreams: { a: { command: /nonexistent/program } }";
    let world = World::new(BINARY, &format!("contracts: [ ./contracts ]\n{upstreams}\n{settings}"));
    command(&world, "broken", "echo oh no >&2; exit 7", "");
    command(&world, "garbage", "echo no JSON", "");
    command(&world, "guarded", "echo '{\"answer\":1}'", "approval: required");
    command(&world, "slow", "sleep 60", "");
    world
}

/// A command line, its exit code and what it printed.
fn session(world: &World, arguments: &[&str]) -> String {
    let output = world.cli(arguments);
    steady(world, &format!("exit {}\n{}", output.code, output.all()))
}

/// The text without what is different in every run: the folder, the port, ids and times.
fn steady(world: &World, text: &str) -> String {
    let folder = world.folder().canonicalize().unwrap();
    let mut text = text
        .replace(folder.to_str().unwrap(), "[folder]")
        .replace(world.folder().to_str().unwrap(), "[folder]")
        .replace(&format!("127.0.0.1:{}", world.port()), "127.0.0.1:[port]");
    for prefix in ["job_", "req_", "apr_", "q_", "trace_"] {
        text = without_ids(&text, prefix);
    }
    // The JSON of an error also stands as text in a JSON string.
    for quote in ["\"", "\\\""] {
        let key = format!("{quote}expires_at{quote}:{quote}");
        if let Some((before, after)) = text.split_once(&key) {
            let (_, rest) = after.split_once(quote).unwrap_or_default();
            text = format!("{before}{key}[time]{quote}{rest}");
        }
    }
    text
}

/// Puts `[id]` in the place of what follows a prefix, where it is as long as an id is.
fn without_ids(text: &str, prefix: &str) -> String {
    const ID_CHARACTERS: usize = 26;
    let mut parts = text.split(prefix);
    let mut steady = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let id: String = part.chars().take_while(char::is_ascii_alphanumeric).collect();
        let is_made_up = id.chars().all(|one| one == '0');
        let rest = if id.len() == ID_CHARACTERS && !is_made_up { "[id]" } else { &id };
        steady += &format!("{prefix}{rest}{}", &part[id.len()..]);
    }
    steady
}
