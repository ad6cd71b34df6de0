//! The command line: data on stdout, words on stderr, exit codes 0, 1 and 2.

mod looking;

use serde_json::{Value, json};
use testkit::World;

use crate::BINARY;

fn world() -> World {
    World::new(BINARY, "")
}

#[test]
fn call_prints_the_result() {
    let world = world();
    let got = world.cli("call echo_json message=hello n:=2").exits(0).stderr_is("").json();
    assert_eq!(got, json!({ "message": "hello", "repeat": ["hello", "hello"] }));
}

#[test]
fn call_with_json_prints_the_whole() {
    let world = world();
    let got = world.cli("call write_text_artifact text=hi --json").exits(0).json();
    assert_eq!(got["artifacts"][0]["bytes"], 2);
    let job = got["metrics"]["job_id"].as_str().unwrap();
    let kept = world.folder().join("data/artifacts").join(job).join("note.txt");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "hi");
}

#[test]
fn call_reads_stdin_and_files() {
    use std::io::Write;
    let world = world();
    world.write("text.txt", "from a file\n");
    let output = world.cli("call echo_json message=@text.txt").exits(0);
    output.stdout_has("\"message\": \"from a file\"");
    let mut child = world
        .command(&["call", "echo_json", "-"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(br#"{"message":"from stdin"}"#).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("from stdin"));
}

#[test]
fn tools_are_listed_and_shown() {
    let world = world();
    let stdout = world.cli("tools").exits(0).stdout;
    assert!(stdout.lines().next().unwrap().starts_with("TOOL "), "{stdout}");
    assert!(!stdout.contains('\u{1b}'), "no colour where nobody looks");
    let listing = world.cli("tools --json").json();
    let tools = listing["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "echo_json"), "{listing}");
    world.cli("tools show echo_json").exits(0).stdout_has("Echoes a message deterministically");
    let one = world.cli("tools show echo_json --json").json();
    assert_eq!(one["input_schema"]["required"], json!(["message"]));
}

#[test]
fn init_writes_settings_that_are_fine_and_never_over_others() {
    let world = world();
    std::fs::remove_file(world.folder().join("toolgate.yaml")).unwrap();
    world.cli("init").exits(0);
    world.cli("config check").exits(0);
    world.cli("init").exits(2);
}

#[test]
fn every_default_that_init_shows_is_the_default() {
    let world = world();
    world.cli("init shown.yaml");
    let shown = world.read("shown.yaml");
    // With every # taken away the settings are the same as without the file.
    let uncommented: String = shown
        .lines()
        .filter_map(|line| line.strip_prefix("# ").or(Some("").filter(|_| line == "#")))
        .filter(|line| {
            let key = line.trim_start().split([':', ' ']).next().unwrap_or_default();
            line.contains(':')
                && key.chars().all(|c| c.is_ascii_lowercase() || c == '_')
                && !line.contains("toolgate contracts new")
                && !line.starts_with("contracts")
                && !line.contains("enable:")
                // The default is long, and explained elsewhere.
                && !line.contains("key_packages:")
                && !line.contains("path:")
                && !line.contains("root:")
        })
        .map(|line| format!("{line}\n"))
        .collect();
    world.write("bare.yaml", &uncommented);
    let with = world.cli("config show --config bare.yaml").exits(0).stdout;
    let without = world.cli("config show").stdout;
    let (mut with, mut without): (Value, Value) =
        (serde_json::from_str(&with).unwrap(), serde_json::from_str(&without).unwrap());
    // Limits and the folder of files are shown with their values, which are unset until
    // somebody sets them.
    with["limits"] = without["limits"].clone();
    // Upstreams and what may be called of them are examples: there are none by default.
    for key in ["upstreams", "allowlist"] {
        assert!(!with[key].is_null(), "{key} is shown");
        with[key] = Value::Null;
        without[key] = Value::Null;
    }
    with["tools"]["file_io"]["root"] = without["tools"]["file_io"]["root"].take();
    // So is a search service: there is none by default.
    for key in ["provider", "base_url", "search_tool", "api_key_env"] {
        with["tools"]["search"][key] = without["tools"]["search"][key].take();
    }
    // And so is a language model.
    for key in ["base_url", "model", "api_key_env"] {
        assert!(!with["llm"][key].is_null(), "{key} is shown");
        with["llm"][key] = without["llm"][key].take();
    }
    // Where calls work is shown as it usually is.
    let work_dir = with.as_object_mut().unwrap().remove("work_dir");
    assert_eq!(work_dir, Some(json!("./data.work")));
    // A certificate is one's own.
    assert!(!with["server"]["tls"].is_null(), "tls is shown");
    with["server"]["tls"] = without["server"]["tls"].take();
    // Traces are kept where somebody says so.
    assert!(!with["ask"]["trace_dir"].is_null(), "trace_dir is shown");
    with["ask"]["trace_dir"] = without["ask"]["trace_dir"].take();
    assert_eq!(with, without);
}

#[test]
fn a_new_contract_works_as_it_stands() {
    let world = World::new(BINARY, "contracts: [ ./contracts ]\n");
    std::fs::create_dir(world.folder().join("contracts")).unwrap();
    world.cli("contracts new util_repeat").exits(0);
    let stdout = world.cli("contracts test util_repeat").exits(0).stdout;
    assert_eq!(stdout.lines().count(), 3);
    world.cli("call util_repeat text=hello").exits(0).stdout_has("hello");
    world.cli("contracts new util_repeat").exits(2);
    world.cli("contracts lint contracts/util_repeat.yaml").exits(0).stdout_is("");
}

#[test]
fn completions_are_there() {
    let world = world();
    for shell in ["bash", "zsh", "fish"] {
        world.cli(&["completions", shell]).exits(0).stdout_has("toolgate");
    }
}

#[test]
fn a_reader_who_has_seen_enough_is_no_failure() {
    use std::process::Stdio;
    let world = world();
    for arguments in [
        &["completions", "bash"][..],
        &["completions", "zsh"],
        &["--help"],
        &["tools", "--json"],
        &["config", "schema"],
        &["contracts", "export", "--format", "openapi"],
    ] {
        let mut child =
            world.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Gone before a word is read.
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*stderr), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn the_file_that_cannot_be_written_is_the_one_that_was_asked_for() {
    let world = world();
    let output = world.cli("init /nonexistent/own.yaml").exits(2);
    output.stderr_has("cannot write `/nonexistent/own.yaml`: No such file").stderr_lacks(".tmp");
    world.write("theirs.json", r#"{ "mcpServers": { "a": { "command": "x" } } }"#);
    let import = ["upstream", "import", "theirs.json", "--config", "/nonexistent/own.yaml"];
    let output = world.cli(&import).exits(2);
    output.stderr_has("cannot write `/nonexistent/own.yaml`: No such file").stderr_lacks(".tmp");
    world.cli("init /proc/own.yaml").stderr_has("`/proc/own.yaml`").stderr_lacks(".tmp");
}
