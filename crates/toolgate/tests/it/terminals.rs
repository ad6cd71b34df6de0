//! What a person sees on a terminal: tables that fit, colours, progress. Elsewhere nothing of it is there.

use testkit::World;

use crate::{
    BINARY, command,
    person::Person,
    upstreams::{Upstreams, one, said},
};

/// Bold, which headers are.
const BOLD: &str = "\u{1b}[1m";

/// What a command prints on a terminal with so many columns.
async fn on_terminal(world: &World, columns: usize, words: &str) -> Option<String> {
    let words = format!("stty cols {columns}; exec {BINARY} {words}");
    let mut person = Person::in_shell(world, &words)?;
    person.leaves().await;
    let mut seen = person.seen();
    // The reader may be behind the end of the process.
    testkit::eventually("all is read", || {
        let before = std::mem::replace(&mut seen, person.seen());
        std::future::ready(!seen.is_empty() && before == seen)
    })
    .await;
    Some(seen)
}

/// A text without escapes.
fn plain(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[tokio::test]
async fn tables_fit_the_terminal() {
    let world = World::new(BINARY, "contracts: [ ./contracts ]\n");
    command(&world, "wide", "echo '{\"answer\":1}'", "");
    let contract = world.read("contracts/wide.yaml");
    let wide = "漢字でとても長い説明を書くと端末の幅を超えてしまいます。";
    world.write("contracts/wide.yaml", &contract.replace("A command of a test.", wide));
    let piped = world.cli("tools").exits(0).stdout_lacks("…").stdout_has(wide).stdout;
    assert!(piped.lines().any(|line| line.chars().count() > 100), "{piped}");
    for columns in [20, 60, 100] {
        let Some(seen) = on_terminal(&world, columns, "tools").await else { return };
        let seen = plain(&seen);
        assert!(seen.contains('…') && seen.contains("echo_json"), "{columns}: {seen}");
        for line in seen.lines() {
            // Signs of Chinese and Japanese take two columns.
            let width: usize = line.chars().map(|one| if one > '\u{2fff}' { 2 } else { 1 }).sum();
            assert!(width <= columns, "{columns}: {line}");
        }
        let rows = seen.lines().filter(|line| !line.trim().is_empty()).count();
        assert_eq!(rows, piped.lines().count(), "{seen}");
    }
    // Wide enough for everything.
    let Some(seen) = on_terminal(&world, 1_000, "tools").await else { return };
    assert!(!seen.contains('…') && seen.contains(wide), "{seen}");
}

#[tokio::test]
async fn colours_are_for_terminals_and_can_be_chosen() {
    let world = World::new(BINARY, "");
    for (words, colour) in
        [("tools", true), ("tools --color never", false), ("--color=always tools", true)]
    {
        let Some(seen) = on_terminal(&world, 100, words).await else { return };
        assert_eq!(seen.contains(BOLD), colour, "{words}: {seen}");
    }
    for (words, colour) in
        [("tools", false), ("tools --color always", true), ("tools --color never", false)]
    {
        assert_eq!(world.cli(words).exits(0).stdout.contains(BOLD), colour, "{words}");
    }
    let json = world.cli("tools --json --color always").exits(0);
    json.stdout_lacks("\u{1b}").json();
    world.cli("tools show nothing-here --color always").exits(1);
    world.cli("config check --config missing.yaml --color always").stderr_has("\u{1b}[");
    world.cli("tools --color perhaps").exits(2);
    let world = world.with_env("NO_COLOR", "1");
    let Some(seen) = on_terminal(&world, 100, "tools").await else { return };
    assert!(!seen.contains(BOLD), "{seen}");
    world.cli("tools --color always").stdout_has(BOLD);
}

#[tokio::test]
async fn connecting_shows_which_upstream_is_waited_for() {
    let script = one("act", &said("fine"));
    let wait = "sh, args: [ -c, \"while [ ! -e go ]; do sleep 0.02; done; exec python3 scripted.py slow.json\" ]";
    let world = Upstreams::new(
        &[("quick", script.clone())],
        &format!("  slow: {{ command: {wait}, cwd: ./servers }}\n"),
    );
    world.script("slow", &script);
    let go = || world.write("servers/go", "");
    for words in ["tools", "lock diff", "upstream list"] {
        let Some(mut person) = Person::at_terminal(&world, words) else { return };
        person.sees("connecting to upstreams: 1 of 2, waiting for slow").await;
        go();
        person.leaves().await;
        // The line is gone before the data comes.
        person.sees("\r\u{1b}[2K").await;
        std::fs::remove_file(world.folder().join("servers/go")).unwrap();
    }
    // A log gets a line now and then.
    let mut person = Person::at_pipe(&world, "tools");
    person.sees("connecting to upstreams: 1 of 2, waiting for slow (1").await;
    go();
    assert_eq!(person.leaves().await, 0);
    assert!(!person.seen().contains('\u{1b}'), "{}", person.seen());
    std::fs::remove_file(world.folder().join("servers/go")).unwrap();
    // Nobody asked for it with --json.
    let Some(mut person) = Person::at_terminal(&world, "upstream list --json") else { return };
    go();
    person.leaves().await;
    assert!(!person.seen().contains("connecting"), "{}", person.seen());
    world.cli("upstream list").stderr_lacks("connecting").stdout_lacks("\u{1b}");
}

#[tokio::test]
async fn the_progress_of_a_tool_is_shown_and_commands_nothing() {
    let world = World::new(BINARY, "contracts: [ ./contracts ]\n");
    let go = world.folder().join("go");
    let evil = r"half\u001b[2J\u202ea\nway";
    command(
        &world,
        "slow",
        &format!(
            "cat > /dev/null; printf '%s\\n' '{{\"progress\":0.5,\"message\":\"{evil}\"}}' >&2; \
             while [ ! -e '{}' ]; do sleep 0.02; done; echo '{{\"answer\":1}}'",
            go.display()
        ),
        "",
    );
    let Some(mut person) = Person::at_terminal(&world, "call slow") else { return };
    person.sees("calling slow 50 %: half\\u{1b}[2J\\u{202e}a\\u{a}way").await;
    std::fs::write(&go, "").unwrap();
    assert_eq!(person.leaves().await, 0);
    person.sees("\"answer\": 1").await;
    world.cli("call slow").exits(0).stderr_is("");
    let seen = person.seen();
    assert!(!seen.contains("\u{1b}[2J") && !seen.contains('\u{202e}'), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_shown_step_by_step() {
    let world = crate::ask::world(&crate::ask::model().await);
    let words = "ask 'what does policy-002 say?'";
    let Some(mut person) = Person::at_terminal(&world, words) else { return };
    assert_eq!(person.leaves().await, 0);
    for step in ["s  request ", "s  tool_call "] {
        person.sees(step).await;
    }
    let Some(mut person) = Person::at_terminal(&world, &format!("{words} --json")) else { return };
    assert_eq!(person.leaves().await, 0);
    person.sees("\"trace_id\"").await;
    assert!(!person.seen().contains("s  request "), "{}", person.seen());
}
