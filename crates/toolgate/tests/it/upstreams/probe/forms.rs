//! The forms of a report: for people, for systems that run tests, for viewers of findings.

use quick_xml::{Reader, events::Event};
use serde_json::{Value, json};

use super::{answering, counted, honest};
use crate::upstreams::Upstreams;

/// A script with something of every severity, and with text that is not fit for any form.
fn mixed() -> Value {
    let mut script = answering("10", counted(&json!(11)));
    let tools = script["tools"].as_array_mut().unwrap();
    tools[1]["name"] = json!("re<mo>ve\u{1b}[31m & \"quote\"");
    tools[1].as_object_mut().unwrap().remove("description");
    script
}

#[test]
fn people_read_numbers_and_what_to_do() {
    let world = Upstreams::new(&[("one", mixed())], "");
    let shown = ["TOOL", "count", "(structured-invalid)", "  fix: ", r#"{"n":10}"#];
    let probed = world.cli("probe one").exits(1).stdout_has_all(shown).stderr_has("2 failed");
    // The gravest first, and nothing of a server's steers the terminal.
    let stdout = probed.stdout_lacks("\u{1b}").stdout;
    assert!(stdout.find("failure:").unwrap() < stdout.find("warning:").unwrap(), "{stdout}");
}

/// The names of all elements, with their attributes.
fn elements(xml: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let mut found = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) | Event::Empty(tag) => {
                let attributes = tag.attributes().map(|attribute| {
                    let attribute = attribute.unwrap();
                    let name = String::from_utf8(attribute.key.as_ref().to_vec()).unwrap();
                    (name, attribute.unescape_value().unwrap().into_owned())
                });
                let name = String::from_utf8(tag.name().as_ref().to_vec()).unwrap();
                found.push((name, attributes.collect()));
            }
            Event::Eof => return found,
            _ => {}
        }
    }
}

fn attribute<'a>(attributes: &'a [(String, String)], name: &str) -> &'a str {
    &attributes.iter().find(|(known, _)| known == name).unwrap().1
}

#[test]
fn junit_has_a_suite_for_every_tool_and_a_case_for_every_check() {
    let world = Upstreams::new(&[("one", mixed())], "");
    let report = world.cli("probe one --json --junit report.xml").exits(1).json();
    let suites = report["report"]["suites"].as_array().unwrap();
    let checks = suites.iter().map(|suite| suite["checks"].as_array().unwrap().len()).sum();
    let xml = world.read("report.xml");
    let all = elements(&xml);
    let named = |name: &str| all.iter().filter(|(known, _)| known == name).collect::<Vec<_>>();
    let count = |name: &str| named(name).len();
    let counts: (usize, usize) = (count("testsuite"), count("testcase"));
    assert_eq!(counts, (suites.len(), checks), "{xml}");
    let whole = &named("testsuites")[0].1;
    assert_eq!(attribute(whole, "tests"), checks.to_string());
    assert_eq!(attribute(whole, "failures"), count("failure").to_string());
    assert_eq!(attribute(&named("failure")[0].1, "type"), "structured-invalid");
    assert_eq!((count("failure"), count("skipped")), (2, 1), "{xml}");
    assert_eq!(attribute(&named("testsuite")[2].1, "name"), "re<mo>ve\\u{1b}[31m & \"quote\"");
}

#[test]
fn junit_says_that_not_everything_was_asked() {
    let mut script = honest();
    script["answers"]["count"] = json!({ "*": { "do": "hang" } });
    let world = Upstreams::new(&[("one", script)], "");
    world.cli("probe one --total-timeout-ms 2000 --junit report.xml").exits(2);
    let xml = world.read("report.xml");
    let all = elements(&xml);
    let named = |name: &str| all.iter().filter(|(known, _)| known == name).collect::<Vec<_>>();
    assert_eq!(named("error").len(), 1, "{xml}");
    assert!(attribute(&named("error")[0].1, "message").contains("total_timeout_ms"), "{xml}");
    for (name, errors) in [("testsuites", "1"), ("testsuite", "1")] {
        assert_eq!(attribute(&named(name)[0].1, "errors"), errors, "{xml}");
    }
    assert_eq!(
        attribute(&named("testsuites")[0].1, "tests"),
        named("testcase").len().to_string(),
        "{xml}"
    );
}

#[test]
fn sarif_has_rules_and_logical_places() {
    let world = Upstreams::new(&[("one", mixed())], "");
    // What was there before is replaced as a whole.
    world.write("report.sarif", &"old".repeat(10_000));
    let stdout = world.cli("probe one --json --sarif report.sarif").exits(1).stdout;
    let text = world.read("report.sarif");
    let log: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    let printed: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(results.len(), super::findings(&printed["report"]).len());
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(result["message"]["text"].is_string());
        assert!(result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"].is_string());
    }
    let broken = results.iter().find(|one| one["ruleId"] == "structured-invalid").unwrap();
    assert_eq!(
        (&broken["level"], &broken["properties"]["input"]),
        (&json!("error"), &json!({ "n": 10 }))
    );
    let places = broken["locations"][0]["logicalLocations"].as_array().unwrap();
    assert_eq!(places[0]["fullyQualifiedName"], "scripted 1/count");
    assert_eq!(places[1]["name"], "/structuredContent/n");
}

#[test]
fn a_file_that_cannot_be_written_is_told() {
    let world = Upstreams::new(&[("one", honest())], "");
    let output = world.cli("probe one --cases 1 --junit no/such/folder.xml").exits(2);
    output.stderr_has("cannot write `no/such/folder.xml`");
}

#[test]
fn every_rule_is_in_the_reference() {
    let file = crate::root().join("docs/reference/probe-rules.md");
    let reference = std::fs::read_to_string(file).unwrap();
    let sources =
        ["crates/probe/src/rules.rs", "crates/toolgate/src/commands/probe/own_tools/rules.rs"];
    let mut count = 0;
    for source in sources {
        let text = std::fs::read_to_string(crate::root().join(source)).unwrap();
        // In the table of rules an id is the first text after its constant.
        for line in text.lines().filter(|line| line.starts_with("    ")) {
            let mut words = line.split_whitespace();
            let constant = words
                .next()
                .is_some_and(|word| word.chars().all(|c| c.is_ascii_uppercase() || c == '_'));
            let id = words.next().and_then(|word| word.strip_prefix('"')?.strip_suffix('"'));
            if let (true, Some(id)) = (constant, id) {
                assert!(reference.contains(&format!("| `{id}` |")), "{id} is not in the reference");
                count += 1;
            }
        }
    }
    assert!(count > 40, "{count}");
}
