//! Contract files that are wrong: what `contracts lint` says of each.

use testkit::World;

use super::{Messages, session};
use crate::BINARY;

/// A contract without a mistake.
const GOOD: &str = "\
name: count
description: Counts the words of a text.
version: \"1\"
stability: stable
toolset: tests
effects: read
tags: [text]
run: [./count.sh]
env: [LANG]
input_schema:
  type: object
  description: The text.
  properties:
    text: { type: string, description: The text. }
  required: [text]
  additionalProperties: false
output_schema:
  type: object
  description: The count.
  properties:
    words: { type: integer, description: The number of words. }
  required: [words]
  additionalProperties: false
errors:
  - { code: no_words, http_status: 422, description: The text has no words. }
examples:
  - { title: One word, input: { text: a }, output: { words: 1 } }
";

/// What is replaced in the good contract, and by what.
const MISTAKES: &[(&str, &str)] = &[
    ("name: count", "nmae: count"),
    ("name: count", "name: a b"),
    ("name: count", "name: execute"),
    ("name: count", "name: \"..\""),
    ("toolset: tests", "toolset: count"),
    ("tags: [text]", "tags: [\"a,b\"]"),
    ("description: Counts the words of a text.", "description: TODO"),
    ("description: Counts the words of a text.\n", ""),
    ("version: \"1\"", "version: 1"),
    ("stability: stable", "stability: steady"),
    ("effects: read", "effects: some"),
    ("env: [LANG]", "env: [\"A B\"]"),
    ("run: [./count.sh]\n", ""),
    ("run: [./count.sh]\nenv: [LANG]\n", ""),
    ("run: [./count.sh]", "run: [./nonexistent.sh]"),
    ("  type: object\n  description: The text.", "  type: string\n  description: The text."),
    ("  description: The text.\n", ""),
    ("  required: [text]\n  additionalProperties: false\n", ""),
    ("  required: [text]", "  required: [txt]"),
    ("text: { type: string, description: The text. }", "text: { type: string }"),
    (
        "text: { type: string, description: The text. }",
        "text: { type: text, description: The text. }",
    ),
    ("text: { type: string, description: The text. }", "text: { $ref: \"#/$defs/none\" }"),
    (
        "text: { type: string, description: The text. }",
        "text: { type: string, description: The text., pattern: \"(\" }",
    ),
    ("words: { type: integer, description: The number of words. }", "words: { type: integer }"),
    ("errors:", "presentation: content\nerrors:"),
    ("errors:", "presentation: text\nerrors:"),
    ("errors:", "large_output: artifact\nlimits: { max_artifact_bytes: 10 }\nerrors:"),
    ("errors:", "limits: { timeout_ms: 0 }\nerrors:"),
    ("http_status: 422", "http_status: 99"),
    ("code: no_words, http_status: 422", "code: timeout, http_status: 422"),
    ("code: no_words", "code: no_words, argument: text"),
    ("code: no_words", "code: no_words, replaces: invalid_input, argument: txt"),
    (
        "code: no_words, http_status: 422",
        "code: no_words, replaces: invalid_input, http_status: 500",
    ),
    (
        "code: no_words, http_status: 422",
        "code: not_found, replaces: invalid_input, http_status: 404",
    ),
    ("examples:", "  - { code: no_words, http_status: 422, description: Again. }\nexamples:"),
    ("  - { title: One word, input: { text: a }, output: { words: 1 } }", "  []"),
    ("input: { text: a }", "input: { text: 5 }"),
    ("output: { words: 1 }", "output: { words: one }"),
    ("output: { words: 1 }", "error: no_such_code"),
    ("output: { words: 1 }", "output: { words: 1 }, error: no_words"),
    ("output: { words: 1 }", "bad_output: { words: 1 }"),
    ("output: { words: 1 }", "files: { a: b }"),
    ("effects: read\n", "effects: none\napproval: sometimes\n"),
];

#[test]
fn contracts() {
    let mut messages = Messages::default();
    let world = World::new(BINARY, "contracts: [ ./contracts ]\n");
    world.write_program("contracts/count.sh", "#!/bin/sh\necho '{\"words\":1}'\n");
    let mut add = |case: &str, contract: &str| {
        world.write("contracts/count.yaml", contract);
        messages.add(case, &session(&world, &["contracts", "lint", "contracts/count.yaml"]));
    };
    add("(no mistake)", GOOD);
    for (right, wrong) in MISTAKES {
        assert!(GOOD.contains(right), "{right}");
        add(&format!("- {right}\n+ {wrong}"), &GOOD.replacen(right, wrong, 1));
    }
    add("(not YAML)", "name: [\n");
    add("(not an object)", "- a\n");
    add("(a key twice)", &format!("name: other\n{GOOD}"));
    // What shows only beside other contracts, and when an example is run.
    world.write("contracts/count.yaml", GOOD);
    world.write("contracts/again.yaml", &GOOD.replace("toolset: tests", "toolset: hello"));
    messages.add(
        "(two contracts of one name, and a toolset that is a tool)",
        &session(&world, &["config", "check"]),
    );
    std::fs::remove_file(world.folder().join("contracts/again.yaml")).unwrap();
    for name in ["hello", "autosage"] {
        world.write("contracts/count.yaml", &GOOD.replace("name: count", &format!("name: {name}")));
        messages.add(
            &format!("(a contract of the name `{name}`)"),
            &session(&world, &["config", "check"]),
        );
    }
    for (case, output) in [
        ("(the example shows another output)", "words: 2"),
        ("(the example breaks the schema)", "words: two"),
    ] {
        world.write("contracts/count.yaml", &GOOD.replace("words: 1", output));
        messages.add(case, &session(&world, &["contracts", "test", "count"]));
    }
    for arguments in [
        &["contracts", "new", "hello"][..],
        &["contracts", "new", "a/b"],
        &["contracts", "new", "execute"],
        &["contracts", "lint", "missing.yaml"],
        &["contracts", "lint", "nobody"],
        &["contracts", "test", "nobody"],
        &["contracts", "diff", "contracts/count.yaml"],
        &["contracts", "lint", "--header", "A: b", "contracts/count.yaml"],
    ] {
        messages.add(&format!("$ toolgate {}", arguments.join(" ")), &session(&world, arguments));
    }
    messages.check("contracts");
}
