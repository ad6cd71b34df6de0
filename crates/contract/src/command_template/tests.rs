#![allow(clippy::needless_pass_by_value)] // Tables of values read better without references.

use serde_json::{Value, json};

use super::*;

/// A contract with this command and these properties of its input; `id` is required.
fn contract(command: Value) -> Contract {
    let mut whole = json!({
        "name": "t", "description": "Tests.", "version": "1", "stability": "stable", "toolset": "tests",
        "effects": "none", "output_schema": { "type": "object" },
        "input_schema": {
            "type": "object",
            "properties": {
                "id": { "type": "string" }, "n": { "type": "number" }, "on": { "type": "boolean" },
                "tags": { "type": "array", "items": { "type": "string" } },
                "some": { "type": "array", "items": { "type": "integer" }, "minItems": 1 },
                "unit": { "enum": ["c", "f"] }, "lines": { "type": "integer", "default": 10 },
                "filter": { "type": "object" }, "maybe": { "type": ["string", "null"] },
                "any": {}, "named": { "$ref": "#/$defs/name" }, "loop": { "$ref": "#/properties/loop" },
                "nested": { "type": "array", "items": { "type": "array" } },
            },
            "required": ["id", "some"],
            "$defs": { "name": { "type": "string" } },
        },
    });
    for (key, value) in command.as_object().unwrap() {
        whole[key] = value.clone();
    }
    serde_json::from_value(whole).unwrap()
}

fn filled(command: Value, input: Value) -> Result<FilledCommand, String> {
    let lookup = |name: &str| (name == "HOME").then(|| "/{id}".to_owned());
    let template = CommandTemplate::of(&contract(command), "/in {id}", lookup).unwrap();
    template.fill(&input).map_err(|error| error.to_string())
}

#[test]
fn arguments_become_words_as_they_are() {
    let words = |run: &[&str], input: Value| filled(json!({ "run": run }), input).unwrap().words;
    for text in ["a b", "\"'\\`$(x)", "x\ny", "", "é", "{id}", "{{id}}"] {
        assert_eq!(words(&["t", "--id={id}"], json!({ "id": text })), [format!("--id={text}")]);
        assert_eq!(words(&["t", "--id", "{id}"], json!({ "id": text })), ["--id", text]);
    }
    let table: [(&[&str], Value, &[&str]); 14] = [
        (&["t", "--id={id}"], json!({ "id": "--x" }), &["--id=--x"]),
        (&["t", "--", "{id}"], json!({ "id": "--x" }), &["--", "--x"]),
        (&["t", "a{id}b{unit}"], json!({ "id": "-", "unit": "c" }), &["a-bc"]),
        (&["t", "--n={n}"], json!({ "n": -1.5 }), &["--n=-1.5"]),
        (&["t", "{n}"], json!({ "n": 18_446_744_073_709_551_615_u64 }), &["18446744073709551615"]),
        (&["t", "{n}"], json!({ "n": 1.0 }), &["1.0"]),
        (&["t", "--on={on}"], json!({ "on": false }), &["--on=false"]),
        (&["t", "{tags}", "end"], json!({ "tags": ["a b", "c"] }), &["a b", "c", "end"]),
        (&["t", "{tags}", "end"], json!({ "tags": [] }), &["end"]),
        (&["t", "--tag={tags}"], json!({ "tags": ["-a", "b"] }), &["--tag=-a", "--tag=b"]),
        (&["t", "{unit}", "--on={on}", "end"], json!({}), &["end"]),
        (
            &["t", "{{id}}", "{ id}", "{1}", "{}", "{id", "}", "{{id}"],
            json!({ "id": "x" }),
            &["{{id}}", "{ id}", "{1}", "{}", "{id", "}", "{{id}"],
        ),
        (&["t", "{contract_dir}/{id}"], json!({ "id": "x" }), &["/in {id}/x"]),
        (&["t", "{contract_dir}/a"], json!({ "id": "x" }), &["/in {id}/a"]),
    ];
    for (run, input, expected) in table {
        assert_eq!(words(run, input), expected, "{run:?}");
    }
}

#[test]
fn variables_and_stdin_take_arguments() {
    let command = json!({
        "run": ["t"], "env": ["HOME", "ID={id}", "UNIT=in {unit}", "A={contract_dir}"], "stdin": "{id}\n",
    });
    let filled = |input| filled(command.clone(), input).unwrap();
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let given = filled(json!({ "id": "-x=\n'", "unit": "c" }));
    let expected = [("HOME", "/{id}"), ("ID", "-x=\n'"), ("UNIT", "in c"), ("A", "/in {id}")];
    assert_eq!(given.variables, pairs(&expected));
    assert_eq!(given.stdin.as_deref(), Some("-x=\n'\n"));
    let absent = filled(json!({}));
    assert_eq!(absent.variables, pairs(&[("HOME", "/{id}"), ("A", "/in {id}")]));
    assert_eq!(absent.stdin.as_deref(), Some(""));
}

#[test]
fn only_a_command_without_templates_reads_json() {
    for (command, expected) in [
        (json!({ "run": ["t", "{contract_dir}"], "env": ["A=b", "HOME"] }), None),
        (json!({ "run": ["t", "{id}"] }), Some("")),
        (json!({ "run": ["t"], "env": ["A={id}"] }), Some("")),
        (json!({ "run": ["t"], "stdin": "a" }), Some("a")),
    ] {
        let filled = filled(command, json!({ "id": "x" })).unwrap();
        assert_eq!(filled.stdin.as_deref(), expected);
    }
}

#[test]
fn what_no_command_line_can_hold_is_refused() {
    let refused = |command: Value, input: Value| filled(command, input).unwrap_err();
    let dash = "must not begin with `-`: the program could take it for an option";
    for (run, input) in [
        (json!(["t", "{id}"]), json!({ "id": "-x" })),
        (json!(["t", "--id", "{id}"]), json!({ "id": "-" })),
        (json!(["t", "{id}{unit}"]), json!({ "id": "", "unit": "-x" })),
        (json!(["t", "{id}", "--"]), json!({ "id": "--" })),
        (json!(["t", "{id}", "{unit}"]), json!({ "id": "--", "unit": "x" })),
    ] {
        assert_eq!(refused(json!({ "run": run }), input), format!("the argument `id` {dash}"));
    }
    let n = refused(json!({ "run": ["t", "{n}"] }), json!({ "n": -5 }));
    assert_eq!(n, format!("the argument `n` {dash}"));
    let nul = "the argument `id` has a NUL character, which no command line can hold";
    for command in [json!({ "run": ["t", "a{id}"] }), json!({ "run": ["t"], "env": ["A={id}"] })] {
        assert_eq!(refused(command, json!({ "id": "a\0b" })), nul);
    }
    let long = "x".repeat(MAX_WORD_BYTES);
    let word = |id: &str| filled(json!({ "run": ["t", "{id}"] }), json!({ "id": id }));
    assert!(word(&long).is_ok());
    assert_eq!(
        word(&format!("{long}x")).unwrap_err(),
        "the argument `id` is too long for a command line: 131072 bytes, and a word has at most 131071"
    );
    let all = refused(json!({ "run": ["t", "{tags}"] }), json!({ "tags": vec![long; 8] }));
    assert!(all.contains("makes the command line too long"), "{all}");
    let digits = refused(json!({ "run": ["t", "{n}"] }), json!({ "n": 1e20 }));
    assert_eq!(digits, "the argument `n` has more than 64 bits and would lose digits");
}

#[test]
fn mistakes_are_found_when_the_contract_is_read() {
    let said = |command: Value| -> Vec<String> {
        let found = problems(&contract(command)).into_iter().filter(|one| one.is_error);
        found.map(|one| format!("{} {}", one.pointer, one.message)).collect()
    };
    let run = |words: &[&str]| said(json!({ "run": words }));
    for words in [
        &["t", "--id", "{id}"][..],
        &["t", "--lines", "{lines}", "--some", "{some}", "--unit={unit}", "{named}"],
        &["t", "-v", "--", "{unit}", "-{id}"],
        &["t", "-Dkey={id}"],
        &["sh", "-c", "echo \"$1\"", "--", "{id}"],
        &["python3", "{contract_dir}/t.py", "-c", "{id}"],
        &["bash", "-o", "pipefail", "./t.sh", "{id}"],
        &["docker", "ps", "--format", "{{.Names}}", "{id}"],
    ] {
        assert_eq!(run(words), [""; 0], "{words:?}");
    }
    let table: [(&[&str], &str); 22] = [
        (&["{id}"], "/run/0 the program cannot be an argument of the call"),
        (&["t", "{ide}"], "/run/1 the input has no property `ide`"),
        (&["t", "{filter}"], "/run/1 `filter` may be an object, which has no text form"),
        (&["t", "{maybe}"], "/run/1 `maybe` may be `null`, which has no text form"),
        (&["t", "{any}"], "/run/1 the schema of `any` does not say its `type`"),
        (&["t", "{loop}"], "/run/1 the schema of `loop` is behind too many references"),
        (&["t", "{nested}"], "/run/1 `nested` is a list of values that have no text form"),
        (&["t", "{tags}{id}"], "/run/1 a word with a list can have no other argument"),
        (
            &["t", "--unit", "{unit}"],
            "/run/2 `--unit` would be left alone where a call has no `unit`",
        ),
        (
            &["t", "--tags", "{tags}"],
            "/run/2 `--tags` would be left alone where a call has no `tags`",
        ),
        (&["t", "--{id}"], "/run/1 `--{id}` lets a caller choose the option"),
        (&["t", "-{id}"], "/run/1 `-{id}` lets a caller choose the option"),
        (&["t", "-n{n}"], "/run/1 `-n{n}` lets a caller choose the option"),
        (&["sh", "-c", "echo {id}"], "/run/2 `{id}` would be run as code"),
        (&["/bin/bash", "-o", "pipefail", "-lc", "{id}"], "/run/4 `{id}` would be run as code"),
        (&["env", "A=b", "python3.12", "-c", "{id}"], "/run/4 `{id}` would be run as code"),
        (&["sh", "{id}"], "/run/1 `{id}` would be run as code"),
        (&["node", "--eval={id}"], "/run/1 `{id}` would be run as code"),
        (&["awk", "{id}"], "/run/1 `{id}` would be run as code"),
        (&["ssh", "host", "ls", "{id}"], "/run/3 `{id}` would be run as code"),
        (&["t", "sh", "-c", "{id}"], "/run/3 `{id}` would be run as code"),
        (&["python3", "-"], ""),
    ];
    for (words, expected) in table {
        let expected: &[&str] = if expected.is_empty() { &[] } else { &[expected] };
        assert_eq!(run(words), expected, "{words:?}");
    }
    for (command, expected) in [
        (json!({ "run": ["t"], "env": ["A={tags}"] }), "/env/0 a variable cannot hold a list"),
        (json!({ "run": ["t"], "env": ["A={x}"] }), "/env/0 the input has no property `x`"),
        (json!({ "run": ["t"], "stdin": "{tags}" }), "/stdin stdin cannot hold a list"),
        (
            json!({ "run": ["t"], "env": ["PATH={id}"] }),
            "/env/0 `PATH` decides what code runs, so no argument may set it",
        ),
    ] {
        assert_eq!(said(command), [expected]);
    }
    let unused = problems(&contract(json!({ "run": ["t", "{id}"] })));
    assert!(unused.iter().all(|one| !one.is_error), "{unused:?}");
    assert_eq!(unused.len(), 12);
}
