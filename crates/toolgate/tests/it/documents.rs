//! Published documents are made from the code; a test makes them again and compares.
//! `UPDATE_DOCUMENTS=1 cargo test -p toolgate --test it documents` writes them.

use testkit::{Arguments, World};

use crate::{BINARY, root};

fn is_current(path: &str, made: &str) {
    let file = root().join(path);
    if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, made).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == made,
        "{path} is not what the code says; run UPDATE_DOCUMENTS=1 cargo test -p toolgate --test it documents"
    );
}

fn said(arguments: impl Arguments) -> String {
    World::new(BINARY, "").cli(arguments).exits(0).stdout
}

#[test]
fn what_commands_print() {
    for (path, arguments) in [
        ("docs/reference/tools.md", "contracts export --format markdown"),
        ("docs/reference/openapi.json", "contracts export --format openapi"),
        ("docs/reference/settings.schema.json", "config schema"),
        ("docs/reference/settings.md", "config schema --markdown"),
        ("docs/reference/ask-rules.md", "config rules --markdown"),
    ] {
        is_current(path, &said(arguments));
    }
}

/// Options that every command has. They are shown once.
const GLOBAL: [&str; 6] =
    ["--config", "--no-config", "--listen", "--data-dir", "--color", "-h, --help"];

#[test]
fn the_reference_of_the_command_line() {
    let mut page = String::from(
        "# Command line\n\nExit codes:\n\n- 0: done\n- 1: the tool failed, or the file has errors\n\
         - 2: wrong usage, or something that the command needs could not be read\n\
         - 130: Ctrl-C or `SIGTERM` ended it before it was done\n\n\
         Every command takes the options of `toolgate` itself.\n",
    );
    add_help(&[], &mut page);
    is_current("docs/reference/cli.md", &page);
}

/// Adds the help of a command and of those below it.
fn add_help(command: &[&str], page: &mut String) {
    let help = said(&*[command, &["--help"]].concat());
    let shown = if command.is_empty() { help.clone() } else { without_global(&help) };
    let name = [&["toolgate"], command].concat().join(" ");
    page.push_str(&format!("\n## `{name}`\n\n```text\n{}\n```\n", shown.trim_end()));
    let below = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in below.take_while(|line| !line.is_empty()) {
        let name = line.split_whitespace().next().unwrap_or_default();
        // A description that is longer than its line goes on below, further in.
        if !line.starts_with("   ") && name != "help" {
            add_help(&[command, &[name]].concat(), page);
        }
    }
}

/// Leaves out the entries of options that every command has.
fn without_global(help: &str) -> String {
    let mut skips = false;
    let kept = help.lines().filter(|line| {
        let option = line.trim_start();
        if option.starts_with('-') {
            skips = GLOBAL.iter().any(|global| option.starts_with(global));
        }
        !skips
    });
    kept.map(|line| format!("{}\n", line.trim_end())).collect()
}
