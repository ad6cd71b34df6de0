//! Arguments in the command line, the environment and the stdin of a command.

use serde_json::{Value, json};
use testkit::World;

use super::{contract, world};

const INPUT: &str = "input_schema:
  type: object
  description: Anything.
  properties:
    id: { type: string, description: A text. }
    n: { type: number, description: A number. }
    on: { type: boolean, description: Yes or no. }
    tags: { type: array, items: { type: string, description: A text. }, description: Texts. }
    lines: { type: integer, default: 10, description: A number. }
  required: []
  additionalProperties: false
";

/// A tool that prints its words and its environment, each in brackets, and its stdin.
fn tool(world: &World, name: &str, command: &str) {
    world.write_program(
        "contracts/show.sh",
        "#!/bin/sh\nfor word in \"$@\"; do printf '[%s]' \"$word\"; done\nprintf '|%s|' \"${VALUE-none}\"\ncat\n",
    );
    contract(world, name, "tests", &format!("{command}\n{INPUT}"));
}

async fn text(world: &World, name: &str, args: Value) -> String {
    let answer = world.call(name, &args).await;
    let text = answer.json()["result"]["text"].as_str().map(str::to_owned);
    text.unwrap_or_else(|| answer.json()["error"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn arguments_reach_the_program_as_they_are() {
    let world = world("");
    tool(
        &world,
        "words",
        "run: [./show.sh, \"--id={id}\", \"--n={n}\", \"--on={on}\", --lines, \"{lines}\", \"{tags}\", end]",
    );
    tool(&world, "behind", "run: [./show.sh, --, \"{id}\"]");
    tool(&world, "bare", "run: [./show.sh, \"{id}\"]");
    tool(&world, "variable", "run: [./show.sh]\nenv: [\"VALUE=<{id}>\", PATH]");
    tool(&world, "stdin", "run: [./show.sh]\nstdin: \"{id}\"");
    tool(&world, "json", "run: [./show.sh, \"{contract_dir}\", \"{{id}}\"]");
    let world = world.started().await;
    for value in ["a b", "'\"`$(id)\\", "x\ny\n", "-x", "--", "", "é {id} {{id}}", ";|&>*?~"] {
        let given = text(&world, "words", json!({ "id": value })).await;
        assert_eq!(given, format!("[--id={value}][--lines][10][end]|none|"));
        let behind = text(&world, "behind", json!({ "id": value })).await;
        assert_eq!(behind, format!("[--][{value}]|none|"));
        let variable = text(&world, "variable", json!({ "id": value })).await;
        assert_eq!(variable, format!("|<{value}>|"));
        assert_eq!(text(&world, "stdin", json!({ "id": value })).await, format!("|none|{value}"));
    }
    let all = json!({ "n": -1.50, "on": true, "lines": 18_446_744_073_709_551_615_u64, "tags": ["a b", "", "-"] });
    // The last of them could be taken for an option.
    assert!(text(&world, "words", all).await.contains("`tags` must not begin with `-`"));
    let all =
        json!({ "n": -1.50, "on": true, "lines": 9_007_199_254_740_993_u64, "tags": ["a b", ""] });
    let expected = "[--n=-1.5][--on=true][--lines][9007199254740993][a b][][end]|none|";
    assert_eq!(text(&world, "words", all).await, expected);
    assert_eq!(text(&world, "variable", json!({})).await, "|none|");
    assert_eq!(text(&world, "stdin", json!({})).await, "|none|");
    let folder = world.folder().join("contracts").display().to_string();
    let given = text(&world, "json", json!({ "id": "x" })).await;
    assert_eq!(given, format!("[{folder}][{{{{id}}}}]|none|{{\"id\":\"x\",\"lines\":10}}"));
}

#[tokio::test]
async fn values_that_no_command_line_can_hold_are_refused() {
    let world = world("");
    tool(&world, "bare", "run: [./show.sh, \"{id}\", \"{tags}\"]");
    tool(&world, "variable", "run: [./show.sh]\nenv: [\"VALUE={id}\"]");
    let world = world.started().await;
    let long = "x".repeat(131_072);
    for (name, args, message) in [
        ("bare", json!({ "id": "-rf" }), "must not begin with `-`"),
        ("bare", json!({ "id": "a\0b" }), "has a NUL character"),
        ("bare", json!({ "id": long }), "is too long for a command line: 131072 bytes"),
        (
            "bare",
            json!({ "tags": vec!["x".repeat(100_000); 12] }),
            "makes the command line too long",
        ),
        ("variable", json!({ "id": "a\0b" }), "has a NUL character"),
        ("variable", json!({ "id": long }), "is too long for a command line: 131078 bytes"),
    ] {
        let answer = world.call(name, &args).await;
        assert_eq!((answer.status, &answer.json()["code"]), (400, &json!("invalid_input")));
        assert!(answer.text().contains(message), "{message}: {:.300}", answer.text());
    }
    // What is just within the limits starts.
    let most = "x".repeat(131_071);
    assert_eq!(world.call("bare", &json!({ "id": most })).await.status, 200);
    let tags = vec!["x".repeat(100_000); 10];
    assert_eq!(world.call("bare", &json!({ "tags": tags })).await.status, 200);
}

#[test]
fn mistakes_are_shown_in_their_place() {
    let world = world("");
    for (command, message, hint) in [
        ("run: [t, \"{ide}\"]", "the input has no property `ide`", "did you mean `{id}`?"),
        ("run: [t, --id, \"{id}\"]", "`--id` would be left alone", "write `--id={id}`"),
        ("run: [t, \"-{id}\"]", "lets a caller choose the option", "name the option"),
        ("run: [sh, -c, \"echo {id}\"]", "would be run as code", "`$1`"),
        ("run: [t]\nenv: [\"LD_PRELOAD={id}\"]", "`LD_PRELOAD` decides what code runs", ""),
        ("run: [t]\nstdin: \"{tags}\"", "stdin cannot hold a list", "put it into `run`"),
    ] {
        tool(&world, "wrong", command);
        let lint = world.cli("contracts lint contracts/wrong.yaml").exits(1);
        lint.stderr_has_all([message, hint, "contracts/wrong.yaml:"]);
    }
    tool(&world, "wrong", "run: [t, \"{id}\"]");
    world
        .cli("contracts lint contracts/wrong.yaml")
        .exits(0)
        .stderr_has("the program never gets `n`");
}
