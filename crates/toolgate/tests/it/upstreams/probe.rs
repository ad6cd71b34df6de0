//! Servers held against their own contracts: what is found, in which form, and with which exit code.

mod forms;
mod ourselves;
mod terms;

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use testkit::World;

use super::{SCRIPTED, Upstreams};

/// A tool that takes a number from 1 to 10 and gives it back.
fn count() -> Value {
    let number = json!({ "type": "integer", "minimum": 1, "maximum": 10 });
    let schema = json!({ "type": "object", "properties": { "n": number }, "required": ["n"],
        "additionalProperties": false });
    json!({ "name": "count", "description": "Counts.", "inputSchema": schema, "outputSchema": schema,
        "annotations": { "readOnlyHint": true } })
}

fn counted(n: &Value) -> Value {
    let value = json!({ "n": n });
    json!({ "result": { "content": [{ "type": "text", "text": value.to_string() }],
        "structuredContent": value, "isError": false } })
}

/// A server that keeps its word, with a tool beside it that changes something.
fn honest() -> Value {
    let answers: Map<_, _> = (1..=10).map(|n| (n.to_string(), counted(&json!(n)))).collect();
    let mut remove = count();
    remove["name"] = json!("remove");
    remove["annotations"] = json!({ "readOnlyHint": false, "destructiveHint": true });
    let answers = json!({ "count": answers, "remove": { "*": { "do": "die" } } });
    json!({ "tools": [count(), remove], "honest": true, "answers": answers })
}

/// The same with another answer to a number.
fn answering(n: &str, answer: Value) -> Value {
    let mut script = honest();
    script["answers"]["count"][n] = answer;
    script
}

/// What came of a probe: exit code and report.
fn probed(world: &Upstreams, more: &[&str]) -> (i32, Value) {
    let output = world.cli(&[&["probe", "one", "--json"], more].concat());
    let printed = output.json();
    assert_eq!(printed["ok"], output.code == 0, "{output}");
    (output.code, printed["report"].clone())
}

fn probe(script: &Value, more: &[&str]) -> (i32, Value) {
    probed(&Upstreams::new(&[("one", script.clone())], ""), more)
}

/// All checks of a tool, or of the server.
fn checks<'a>(report: &'a Value, tool: &Value) -> Vec<&'a Value> {
    let suites = report["suites"].as_array().unwrap().iter();
    let suite = suites.into_iter().find(|suite| suite["tool"] == *tool).unwrap();
    suite["checks"].as_array().unwrap().iter().collect()
}

/// All findings.
fn findings(report: &Value) -> Vec<&Value> {
    let suites = report["suites"].as_array().unwrap().iter();
    let checks = suites.flat_map(|suite| suite["checks"].as_array().unwrap());
    checks.flat_map(|check| check["findings"].as_array().into_iter().flatten()).collect()
}

/// The rules that failed, each once.
fn failures(report: &Value) -> Vec<&str> {
    let failed = findings(report).into_iter().filter(|one| one["severity"] == "failure");
    let mut rules: Vec<_> = failed.map(|one| one["rule"].as_str().unwrap()).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

fn of<'a>(report: &'a Value, rule: &str) -> Vec<&'a Value> {
    findings(report).into_iter().filter(|one| one["rule"] == rule).collect()
}

fn count_of(checks: &[&Value], outcome: &str) -> usize {
    checks.iter().filter(|check| check["outcome"] == outcome).count()
}

#[test]
fn one_that_keeps_its_word_passes() {
    let (code, report) = probe(&honest(), &[]);
    assert_eq!((code, findings(&report).len()), (0, 0), "{report:#}");
    let count = checks(&report, &json!("count"));
    let made = |word: &str| {
        let begins = |check: &&&Value| check["title"].as_str().unwrap().starts_with(word);
        count.iter().filter(begins).count()
    };
    assert!(made("accepts") >= 3 && made("refuses") >= 5, "{report:#}");
    assert_eq!(count_of(&count, "passed"), count.len());
}

#[test]
fn what_changes_something_is_called_only_when_asked_for() {
    let (_, report) = probe(&honest(), &[]);
    let remove = checks(&report, &json!("remove"));
    assert_eq!(count_of(&remove, "skipped"), 1);
    let reason = &remove.last().unwrap()["reason"];
    assert!(reason.as_str().unwrap().contains("--effects"), "{reason}");
    // It ends the server, so whoever calls it hears of it.
    let (code, report) = probe(&honest(), &["--effects"]);
    assert_eq!((code, failures(&report)), (1, vec!["call-lost"]));
    let (code, _) = probe(&honest(), &["--effects", "--tool", "count"]);
    assert_eq!(code, 0);
}

#[test]
fn one_that_accepts_what_it_refuses_fails() {
    let mut script = honest();
    script["honest"] = json!(false);
    script["answers"]["count"]["*"] = counted(&json!(1));
    script["answers"]["toolgate_no_such_tool"] = json!({ "*": counted(&json!(1)) });
    let (code, report) = probe(&script, &[]);
    assert_eq!(code, 1);
    assert_eq!(failures(&report), ["invalid-accepted", "unknown-tool-accepted"], "{report:#}");
    let accepted = of(&report, "invalid-accepted");
    assert!(accepted.iter().any(|one| one["input"] == json!({ "n": 11 })), "{accepted:#?}");
    assert!(accepted.iter().any(|one| one["input"] == json!({})), "{accepted:#?}");
}

#[test]
fn one_that_breaks_its_output_schema_at_a_boundary_is_found_out() {
    let (code, report) = probe(&answering("10", counted(&json!(11))), &[]);
    assert_eq!((code, failures(&report)), (1, vec!["structured-invalid"]), "{report:#}");
    let found = of(&report, "structured-invalid");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["input"], json!({ "n": 10 }));
    assert_eq!(found[0]["pointers"], json!(["/structuredContent/n"]));
}

#[test]
fn an_error_for_a_call_that_fits_is_worth_a_note_and_no_more() {
    let said = json!({ "result": { "isError": true, "content": [{ "type": "text", "text": "no 10" }],
        "structuredContent": {} } });
    let (code, report) = probe(&answering("10", said), &[]);
    assert_eq!(code, 0);
    let rules: Vec<_> = findings(&report).iter().map(|one| one["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["valid-refused", "structured-in-error"]);
    assert!(of(&report, "valid-refused")[0]["message"].as_str().unwrap().contains("no 10"));
}

#[test]
fn one_that_dies_on_a_call_is_named_and_asked_on() {
    let (code, report) = probe(&answering("10", json!({ "do": ["die", 9] })), &[]);
    assert_eq!((code, failures(&report)), (1, vec!["call-lost"]), "{report:#}");
    let lost = of(&report, "call-lost");
    assert_eq!((lost.len(), &lost[0]["input"]), (1, &json!({ "n": 10 })));
    assert!(lost[0]["message"].as_str().unwrap().contains("exited with code 9"), "{lost:?}");
    let count = checks(&report, &json!("count"));
    assert_eq!((count_of(&count, "failed"), count_of(&count, "skipped")), (1, 0));
    // One that dies of everything is left alone.
    let mut script = honest();
    script["answers"]["count"] = json!({ "*": { "do": "die" } });
    let (_, report) = probe(&script, &[]);
    let count = checks(&report, &json!("count"));
    assert_eq!(count_of(&count, "failed"), 3, "{report:#}");
    assert!(count_of(&count, "skipped") > 3);
}

#[test]
fn one_that_hangs_does_not_hold_us_up() {
    let mut script = honest();
    script["answers"]["count"] = json!({ "*": { "do": "hang" } });
    let began = Instant::now();
    let (code, report) = probe(&script, &["--timeout-ms", "300"]);
    assert_eq!((code, failures(&report)), (1, vec!["call-timeout"]), "{report:#}");
    assert!(began.elapsed() < Duration::from_mins(1));
    // Where the time in all is up, that is no failure of the server's, and no success either.
    let (code, report) = probe(&script, &["--total-timeout-ms", "2000"]);
    assert_eq!(code, 2, "{report:#}");
    assert!(report["cut"].as_str().unwrap().contains("2000 ms"), "{report:#}");
}

#[test]
fn one_that_lists_otherwise_each_time_is_found_out() {
    let mut script = honest();
    script["fickle"] = json!(true);
    let (code, report) = probe(&script, &["--cases", "2"]);
    assert_eq!((code, failures(&report)), (1, vec!["listing-changes"]), "{report:#}");
}

#[test]
fn what_is_odd_about_a_listing_is_told() {
    let mut script = honest();
    let mut other = count();
    other["description"] = json!("Counts.\u{e0049}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}");
    other["name"] = json!("other");
    other["outputSchema"] = json!({ "type": "objekt" });
    script["tools"] = json!([count(), count(), other, 7]);
    script["greeting"] = json!(["listening on stdio"]);
    let (code, report) = probe(&script, &["--cases", "0"]);
    assert_eq!(code, 1);
    assert_eq!(
        failures(&report),
        ["output-schema-invalid", "text-harmful", "tool-duplicate", "tool-malformed"],
    );
    let noise = &of(&report, "stdout-noise")[0]["message"];
    assert!(noise.as_str().unwrap().contains("listening on stdio"), "{noise}");
}

#[test]
fn the_same_seed_asks_the_same() {
    let world = Upstreams::new(&[("one", answering("10", counted(&json!(11))))], "");
    let report = |seed: &str| {
        let (_, mut report) = probed(&world, &["--seed", seed]);
        for suite in report["suites"].as_array_mut().unwrap() {
            for check in suite["checks"].as_array_mut().unwrap() {
                check.as_object_mut().unwrap().remove("took_ms");
            }
        }
        report
    };
    assert_eq!(report("7"), report("7"));
}

#[test]
fn what_cannot_be_told_ends_with_two() {
    let world = World::new(crate::BINARY, "upstreams: { docs: { command: 'false' } }\n");
    for (arguments, words) in [
        (&["probe"][..], "name a server"),
        (&["probe", "dosc"], "did you mean `docs`?"),
        (&["probe", "docs"], "cannot connect to the server"),
        (&["probe", "--", "/no/such/program"], "could not be started"),
        (&["probe", "http://127.0.0.1:9/mcp"], "cannot connect to the server"),
        (&["probe", "ftp://127.0.0.1/mcp"], "not an http or https URL"),
        (&["probe", "docs", "--cases", "101"], "101"),
    ] {
        world.cli(arguments).exits(2).stderr_has(words);
    }
}

#[test]
fn a_command_line_can_be_probed_as_it_is() {
    let world = World::new(crate::BINARY, "");
    world.write("scripted.py", SCRIPTED);
    world.write("one.json", &honest().to_string());
    let stdout = world.cli("probe -- python3 scripted.py one.json").exits(0).stdout;
    assert!(stdout.starts_with("scripted 1, protocol 2025-11-25"), "{stdout}");
    let output = world.cli("probe --tool cuont -- python3 scripted.py one.json").exits(2);
    output.stderr_has("did you mean `count`?");
}

#[tokio::test]
async fn an_address_can_be_probed_as_it_is() {
    let world = crate::start("").await;
    let url = world.url("/mcp");
    let probe = format!("probe {url} --tool hello --tool echo_json --json");
    let report = world.cli(&probe).exits(0).json()["report"].clone();
    assert_eq!(report["protocol"], "2026-07-28");
    assert!(checks(&report, &json!("hello")).len() > 10, "{report}");
}

#[test]
fn the_servers_of_our_example_keep_their_word() {
    let world = World::copy_of(crate::BINARY, &crate::root().join("examples/multi-host"));
    for id in ["mcp-sharepoint", "mcp-servicenow", "mcp-policy-kb"] {
        world.cli(&["probe", id, "--effects"]).exits(0);
    }
}

#[tokio::test]
async fn an_interrupt_ends_it_with_what_is_known() {
    let mut script = honest();
    script["answers"]["count"]["10"] = json!({ "do": "hang" });
    let world = Upstreams::new(&[("one", script)], "");
    let mut command = world.command(&["probe", "one", "--json", "--timeout-ms", "60000"]);
    let child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let hangs = world.folder().join("servers/hangs");
    testkit::eventually("it hangs", async || hangs.exists()).await;
    assert!(testkit::signal(child.id(), "-INT"));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["report"]["cut"], "stopped");
    assert!(count_of(&checks(&printed["report"], &json!("count")), "passed") > 6);
}

#[test]
fn a_report_can_go_to_a_device() {
    let world = Upstreams::new(&[("one", honest())], "");
    let stdout = world
        .cli("probe one --junit /dev/stdout")
        .stdout_has("<testsuite")
        .stdout_has("count")
        .stdout;
    // The words before it are still there: the report went behind them, and took no place.
    assert!(stdout.contains("PASSED"), "{stdout}");
}
