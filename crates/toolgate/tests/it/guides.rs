//! Every example in the documents is run.
//!
//! In a `console` block a line with `$ ` is a command and what follows is what it says, stdout
//! and then stderr; `[..]` stands for any text in a line and `...` for any lines. A block with
//! `title=PATH` is a file. A server with the documents' files runs at the documents' address; the
//! document of an example has that example's files. `ONLY_DOCUMENT=ask.md` runs those of one alone.

use std::path::{Path, PathBuf};

use testkit::{Shell, World};

use crate::{BINARY, examples::example, root};

/// A block of code in a document.
struct Block {
    language: String,
    title: Option<String>,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let mut marks = 0;
    for line in document.lines() {
        let rest = line.trim_start().trim_start_matches('`');
        let count = line.trim_start().len() - rest.len();
        // A block that has blocks in it begins and ends with more marks than they do.
        let fence = Some(rest).filter(|_| count >= 3 && (open.is_none() || count >= marks));
        match (&mut open, fence) {
            (None, Some(info)) => {
                marks = count;
                let mut words = info.split_whitespace();
                let language = words.next().unwrap_or_default().to_owned();
                let title = words.find_map(|word| word.strip_prefix("title=")).map(str::to_owned);
                open = Some(Block { language, title, text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

/// Commands and what each is expected to say. A command ends where its line does not end in a
/// backslash.
fn commands(block: &str) -> Vec<(String, Vec<String>)> {
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    let mut goes_on = false;
    for line in block.lines() {
        if goes_on {
            let (command, _) = commands.last_mut().unwrap();
            command.push('\n');
            command.push_str(line);
            goes_on = line.ends_with('\\');
        } else if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command.to_owned(), Vec::new()));
            goes_on = line.ends_with('\\');
        } else if let Some((_, said)) = commands.last_mut() {
            said.push(line.to_owned());
        }
    }
    commands
}

/// Whether the lines are as expected.
fn matches(expected: &[String], said: &[&str]) -> bool {
    match (expected.split_first(), said.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "..." => {
            (0..=said.len()).any(|skipped| matches(rest, &said[skipped..]))
        }
        (Some((first, rest)), Some((line, more))) => {
            line_matches(first, line) && matches(rest, more)
        }
        _ => false,
    }
}

fn line_matches(expected: &str, line: &str) -> bool {
    let mut parts = expected.split("[..]");
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<_> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// What is run by other means: the server by this test, `./check` by whoever runs this test.
fn is_run_elsewhere(command: &str) -> bool {
    command.starts_with("cargo ") || command == "./check" || command.starts_with("toolgate serve")
}

/// The example that a document belongs to: its own settings are served then.
fn example_of(document: &Path) -> Option<String> {
    let inside = document.strip_prefix(root().join("examples")).ok()?;
    Some(inside.components().next()?.as_os_str().to_str()?.to_owned())
}

async fn run(document: &Path) -> usize {
    let text = crate::mlx::with_free_ports(&std::fs::read_to_string(document).unwrap());
    // AutoSage has a port of its own.
    let port = if text.contains("127.0.0.1:8080") { 8_080 } else { 8_000 };
    let mut world = match example_of(document) {
        Some(name) => example(&name).await,
        None => World::start(BINARY, "").await,
    };
    if text.contains("toolgate ask \"") || text.contains("toolgate eval ") {
        // The model of whoever reads this is another one.
        world.kill();
        world = world.with_env("TOOLGATE_LLM__BASE_URL", &crate::ask::model().await.url("/v1"));
        world.run().await;
    }
    if text.contains("$ cd examples/") {
        let copy = format!("cp -r '{}' .", root().join("examples").display());
        Shell::new(&world, port).run(&copy).exits(0);
    }
    let mut count = 0;
    for block in blocks(&text) {
        if let Some(title) = &block.title {
            world.write_program(title, &block.text);
            if world.cli("config check").code == 0 {
                world.kill();
                world.run().await;
            }
            continue;
        }
        if block.language != "console" {
            continue;
        }
        for (command, expected) in commands(&block.text) {
            if is_run_elsewhere(&command) {
                continue;
            }
            let mut output = Shell::new(&world, port).run(&command);
            if !output.stdout.ends_with('\n') && !output.stdout.is_empty() {
                output.stdout.push('\n');
            }
            let whole = output.all();
            let said: Vec<&str> = whole.lines().collect();
            assert!(
                matches(&expected, &said) || expected.is_empty(),
                "{}: {command}\nexpected:\n{}\nsaid:\n{whole}",
                document.display(),
                expected.join("\n"),
            );
            count += 1;
        }
    }
    count
}

fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            documents(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_in_the_documents_holds() {
    let mut found = Vec::new();
    documents(root(), &mut found);
    let only = std::env::var("ONLY_DOCUMENT").ok();
    if let Some(only) = &only {
        found.retain(|document| document.ends_with(only));
    }
    let mut count = 0;
    for document in found {
        count += run(&document).await;
    }
    assert!(only.is_some() || count >= 15, "only {count} commands were found");
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut found = Vec::new();
    documents(root(), &mut found);
    for document in found {
        let text = std::fs::read_to_string(&document).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = link.split('#').next().unwrap();
            if path.is_empty() || path.contains("://") {
                continue;
            }
            let target = document.parent().unwrap().join(path);
            assert!(target.exists(), "{}: {link}", document.display());
        }
    }
}
