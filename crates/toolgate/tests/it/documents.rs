//! Published documents are made from the code; a test makes them again and compares.
//! `UPDATE_DOCUMENTS=1 cargo test -p toolgate --test it documents` writes them.

use testkit::World;

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

fn said(arguments: &[&str]) -> String {
    let (code, stdout, stderr) = World::new(BINARY, "").cli(arguments);
    assert_eq!(code, 0, "{stderr}");
    stdout
}

#[test]
fn the_reference_of_tools() {
    is_current("docs/reference/tools.md", &said(&["contracts", "export", "--format", "markdown"]));
}

#[test]
fn openapi() {
    is_current(
        "docs/reference/openapi.json",
        &said(&["contracts", "export", "--format", "openapi"]),
    );
}

#[test]
fn the_schema_of_the_settings() {
    is_current("docs/reference/settings.schema.json", &said(&["config", "schema"]));
}

#[test]
fn the_reference_of_the_settings() {
    is_current("docs/reference/settings.md", &said(&["config", "schema", "--markdown"]));
}

#[test]
fn the_reference_of_the_rules() {
    is_current("docs/reference/ask-rules.md", &said(&["config", "rules", "--markdown"]));
}

#[test]
fn the_reference_of_the_command_line() {
    let commands: &[&[&str]] = &[
        &[],
        &["serve"],
        &["mcp"],
        &["tools"],
        &["tools", "show"],
        &["call"],
        &["ask"],
        &["trace"],
        &["trace", "show"],
        &["eval"],
        &["approvals"],
        &["quarantine"],
        &["quarantine", "list"],
        &["quarantine", "show"],
        &["quarantine", "release"],
        &["quarantine", "adopt"],
        &["probe"],
        &["config"],
        &["config", "check"],
        &["config", "show"],
        &["config", "schema"],
        &["config", "rules"],
        &["doctor"],
        &["init"],
        &["contracts"],
        &["contracts", "new"],
        &["contracts", "lint"],
        &["contracts", "diff"],
        &["contracts", "test"],
        &["contracts", "infer"],
        &["contracts", "export"],
        &["completions"],
    ];
    let mut page = String::from(
        "# Command line\n\nExit codes: 0 done, 1 the answer is no, 2 we could not tell.\n",
    );
    for command in commands {
        let mut arguments = command.to_vec();
        arguments.push("--help");
        let help = said(&arguments);
        let name = [&["toolgate"], *command].concat().join(" ");
        page.push_str(&format!("\n## `{name}`\n\n```text\n{}\n```\n", help.trim_end()));
    }
    is_current("docs/reference/cli.md", &page);
}
