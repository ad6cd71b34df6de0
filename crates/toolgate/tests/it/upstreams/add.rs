//! Servers that are added to the settings by a command, and keys of theirs that are changed.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use testkit::{CliOutput, World};

use super::{SCRIPTED, one, said, tool};

/// Settings in a person's own form, with a server that can be added.
const MINE: &str = "# mine\nserver: { max_concurrency: 8 } # few\n\ntools:\n  enable: []\n\nupstreams:\n  # the first\n  \
                    first: { command: python3, args: [servers/scripted.py, servers/first.json], enabled: false }   # off\n\n\
                    limits:\n  timeout_ms: 20000\n";

fn world(settings: &str, script: &Value) -> World {
    let world = World::new(crate::BINARY, settings);
    world.write("servers/scripted.py", SCRIPTED);
    world.write("servers/up.json", &script.to_string());
    // It writes a file where it starts, and makes none beside the settings.
    std::fs::create_dir(world.folder().join("work")).unwrap();
    world
}

/// One tool with an output schema, and two without.
fn mixed() -> Value {
    let bare = |name: &str| {
        let mut bare = tool(name);
        bare.as_object_mut().unwrap().remove("outputSchema");
        bare
    };
    let text =
        json!({ "result": { "content": [{ "type": "text", "text": "hello" }], "isError": false } });
    json!({ "tools": [tool("act"), bare("say"), bare("tell")],
        "answers": { "act": { "*": said("fine") }, "say": { "*": text }, "tell": { "*": text } } })
}

const SERVER: [&str; 4] = ["--", "sh", "-c", "cd servers && exec python3 scripted.py up.json"];

fn add(world: &World, name: &str, more: &[&str]) -> CliOutput {
    let mut words = vec!["upstream", "add", name];
    words.extend(more);
    words.extend(SERVER);
    world.cli(&words[..])
}

fn mode(world: &World, file: &str) -> u32 {
    world.folder().join(file).metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_server_is_added_and_the_rest_of_the_file_stays() {
    let world = world(MINE, &mixed());
    let file = world.folder().join("toolgate.yaml");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
    let output =
        add(&world, "up", &["--env", "GREETING=a: b", "--env", "API_KEY=s3cret-value"]).exits(0);
    output.stdout_has("added up to toolgate.yaml: 3 tools").stderr_has_all([
        "up: `output: content` is set, because 2 of 3 tools declare no output schema",
        "`env.API_KEY` looks like a secret; its value is in `toolgate.env` as `UP_API_KEY`",
    ]);
    let entry = "  up:\n    command: sh\n    args: [\"-c\", \"cd servers && exec python3 scripted.py up.json\"]\n    env:\n      \
                 GREETING: \"a: b\"\n      API_KEY: \"${UP_API_KEY}\"\n    output: content\n";
    assert_eq!(world.read("toolgate.yaml"), MINE.replace("# off\n", &format!("# off\n{entry}")));
    assert_eq!(world.read("toolgate.env"), "UP_API_KEY=s3cret-value\n");
    assert_eq!((mode(&world, "toolgate.env"), mode(&world, "toolgate.yaml")), (0o600, 0o640));
    world.cli("call up__act text=a").exits(0).stdout_has("fine");
    world.cli("call up__say text=a").exits(0).stdout_has("hello");
    world.cli("config check").exits(0).stderr_lacks("secret");
}

#[test]
fn strict_leaves_tools_without_an_output_schema_out() {
    let world = world("", &mixed());
    let output = add(&world, "up", &["--strict"]).exits(0);
    output.stdout_has("up to toolgate.yaml: 1 tool").stdout_has_all([
        "up: 2 tools: uncontracted: it has no output schema",
        "tools: say, tell",
        "fix: `toolgate upstream set up output=content`",
    ]);
    assert!(!world.read("toolgate.yaml").contains("output"));
    world
        .cli("upstream set up output=content")
        .exits(0)
        .stdout_has("set upstreams.up.output to \"content\"");
    world.cli("upstream list").exits(0).stdout_lacks("uncontracted");
    let world = self::world("", &one("act", &said("fine")));
    add(&world, "up", &[]).exits(0).stderr_lacks("output: content");
    assert!(!world.read("toolgate.yaml").contains("output"));
}

#[test]
fn what_cannot_be_added_changes_nothing_and_says_why() {
    let world = world(MINE, &mixed());
    let check = |words: &[&str], why: &str, hint: &str| {
        let words: Vec<&str> = ["upstream", "add"].iter().chain(words).copied().collect();
        world.cli(&words[..]).exits(2).stderr_has(why).stderr_has(hint);
        assert_eq!(world.read("toolgate.yaml"), MINE);
        assert!(!world.has("toolgate.env"));
    };
    check(&["first", "--", "sh"], "already has an upstream `first`", "upstream set first");
    check(&["a__b", "--", "sh"], "`a__b` cannot be the id of an upstream", "`__` separates");
    check(&["a", "--", "no-such-program"], "`a` was not added", "hint: install the program");
    check(
        &["a", "--", "sh", "-c", "echo hello"],
        "MCP handshake failed",
        "hint: check that this is an MCP server",
    );
    check(
        &["a", "--timeout", "1", "--", "sleep", "60"],
        "not ready within 1000 ms",
        "hint: give it more time",
    );
    check(&["a", "http://127.0.0.1:1/mcp"], "cannot be reached", "hint: check the URL");
    check(&["a", "npx", "--strict"], "not an http or https URL", "toolgate upstream add a -- npx");
    check(&["a", "ftp://host/"], "URL", "");
    check(&["a", "--header", "A: b", "--", "sh"], "--header needs a URL", "");
    check(&["a", "http://h/", "--env", "A=b"], "--env needs a program", "");
    check(&["a", "http://h/", "--header", "Ab"], "`NAME: VALUE`", "");
    check(
        &["a", "--env", "KEY=${NOT_SET_HERE}", "--", "sh"],
        "`NOT_SET_HERE` is not set",
        "toolgate.env",
    );
    check(&["a", "--no-config", "--", "sh"], "--no-config", "");
}

#[test]
fn settings_that_are_missing_are_created_and_broken_ones_are_not_touched() {
    let world = world("", &one("act", &said("fine")));
    std::fs::remove_file(world.folder().join("toolgate.yaml")).unwrap();
    add(&world, "up", &[]).exits(0);
    assert!(world.read("toolgate.yaml").starts_with("upstreams:\n  up:\n    command: sh\n"));
    for broken in ["upstreams: [\n", "upstreams: {}\nserver: { listne: x }\n", "toolz: {}\n"] {
        world.write("toolgate.yaml", broken);
        add(&world, "two", &[]).exits(2).stderr_has("toolgate.yaml:");
        world.cli("upstream set up output=text").exits(2).stderr_has("toolgate.yaml:");
        assert_eq!(world.read("toolgate.yaml"), broken);
    }
}

#[test]
fn two_commands_at_once_lose_nothing() {
    let world = world(MINE, &one("act", &said("fine")));
    std::thread::scope(|scope| {
        for number in 0..4 {
            let world = &world;
            scope.spawn(move || {
                add(world, &format!("up{number}"), &["--env", "KEY=s3cret-s3cret"]).exits(0)
            });
        }
        scope.spawn(|| world.cli("upstream set first timeout_ms=7000").exits(0));
    });
    let upstreams = &world.cli("config show").exits(0).json()["upstreams"];
    assert_eq!(upstreams.as_object().unwrap().len(), 5, "{upstreams}");
    assert_eq!(upstreams["first"]["timeout_ms"], 7000);
    assert_eq!(world.read("toolgate.env").lines().count(), 4);
    assert!(world.read("toolgate.yaml").contains("# the first\n"));
}

#[test]
fn a_key_is_set_and_checked_first() {
    let world = world(MINE, &mixed());
    let set = |assignment: &str| world.cli(&["upstream", "set", "first", assignment][..]);
    set("output=content")
        .exits(0)
        .stdout_has("set upstreams.first.output to \"content\" in toolgate.yaml");
    set("enabled=true").exits(0);
    set("env.PORT=8080").exits(0);
    set("env.TOKEN=abc").exits(0).stderr_has("the value is in toolgate.env as `FIRST_TOKEN`");
    set("tools.\"a.b\".effects=read").exits(0);
    set("args=[servers/scripted.py, servers/up.json]").exits(0);
    let entry = world.cli("config show").exits(0).json()["upstreams"]["first"].clone();
    assert_eq!(entry["env"], json!({ "PORT": "8080", "TOKEN": "${FIRST_TOKEN}" }));
    assert_eq!(
        (&entry["enabled"], &entry["tools"]["a.b"]["effects"]),
        (&json!(true), &json!("read"))
    );
    let before = world.read("toolgate.yaml");
    assert!(before.contains("  # the first\n") && before.contains("   # off\n"), "{before}");
    for (assignment, why) in [
        ("output=contents", "contents"),
        ("outptu=content", "unknown key `outptu`"),
        ("timeout_ms=soon", "timeout_ms"),
        ("url=http://h/", "cannot have both"),
        ("output", "KEY=VALUE"),
        ("output=", "needs a value"),
        ("tools.=x", "is not a key"),
    ] {
        set(assignment).exits(2).stderr_has(why);
        assert_eq!(world.read("toolgate.yaml"), before, "{assignment}");
    }
    let output = world.cli("upstream set frist output=text").exits(2);
    output.stderr_has("there is no upstream `frist`; did you mean `first`?");
    let json = world.cli("upstream set first output=text --json").exits(0).json();
    assert_eq!((&json["before"], &json["value"]), (&json!("content"), &json!("text")));
}

#[test]
fn import_looks_at_every_server_and_moves_secrets() {
    let world = world(MINE, &mixed());
    let up = json!({ "command": "python3", "args": ["scripted.py", "up.json"], "cwd": "servers",
        "env": { "API_KEY": "first-s3cret", "PORT": 80 } });
    let hung = json!({ "command": "sleep", "args": ["60"] });
    let secret = json!({ "url": "http://127.0.0.1:1/mcp?api_key=third-s3cret",
        "headers": { "Authorization": "Bearer second-s3cret" } });
    let gone = json!({ "command": "no-such-program", "args": ["--token", "fourth-s3cret", "--api-key=fifth-s3cret"] });
    let servers = json!({ "mcpServers": { "up": up, "hung": hung, "away": secret, "gone": gone } });
    world.write("claude.json", &servers.to_string());
    let output = world.cli("upstream import claude.json --timeout 5").exits(0);
    output
        .stdout_has_all([
            "imported up into toolgate.yaml: 3 tools",
            "imported hung into",
            "imported gone into",
        ])
        .stderr_has_all([
            "up: `output: content` is set, because 2 of 3 tools",
            "hung: cannot be reached yet: the server was not ready within 5000 ms",
            "gone: cannot be reached yet",
            "away: cannot be reached yet",
            "`headers.Authorization` looks like a secret",
        ]);
    let settings = world.read("toolgate.yaml");
    assert!(settings.contains("  up:\n    command: python3\n    args: [scripted.py, up.json]\n    cwd: servers\n    env:\n"), "{settings}");
    assert!(!settings.contains("s3cret"), "{settings}");
    let variables = world.read("toolgate.env");
    for line in [
        "UP_API_KEY=first-s3cret\n",
        "AWAY_URL=http://127.0.0.1:1/mcp?api_key=third-s3cret\n",
        "GONE_ARGUMENT=fourth-s3cret\n",
        "GONE_API_KEY=fifth-s3cret\n",
    ] {
        assert!(variables.contains(line), "{line}: {variables}");
    }
    assert!(settings.contains("--api-key=${GONE_API_KEY}"), "{settings}");
    assert!(variables.contains("AWAY_AUTHORIZATION=\"Bearer second-s3cret\"\n"), "{variables}");
    world.cli("call up__say text=a").exits(0).stdout_has("hello");
}

#[test]
fn a_variable_of_the_process_has_precedence_and_a_broken_file_is_told() {
    let settings = "upstreams: { a: { url: \"${PLACE}\" } }\n";
    let world = World::new(crate::BINARY, settings);
    world.write("toolgate.env", "# mine\nPLACE=no-url\n");
    world.cli("config check").exits(0).stderr_has_all(["not an http or https URL", "chmod 600"]);
    let world = world.with_env("PLACE", "http://127.0.0.1:1/");
    world.cli("config check").exits(0).stderr_lacks("not an http or https URL");
    world.write("toolgate.env", "PLACE\n");
    world.cli("config check").exits(2).stderr_has("toolgate.env`, line 1: expected `NAME=value`");
}

#[test]
fn a_secret_that_others_can_read_is_a_warning() {
    let settings =
        "upstreams: { a: { url: \"http://h/\", headers: { Authorization: Bearer-abc } } }\n";
    let world = World::new(crate::BINARY, settings);
    let output = world.cli("config check").exits(0);
    output
        .stderr_has_all(["`headers.Authorization` is a secret", "chmod 600"])
        .stderr_lacks("Bearer-abc");
    let file = world.folder().join("toolgate.yaml");
    std::fs::set_permissions(file, PermissionsExt::from_mode(0o600)).unwrap();
    world.cli("config check").exits(0).stderr_lacks("is a secret");
}

#[test]
fn client_files_that_cannot_be_used_change_nothing_and_say_why() {
    let world = world(MINE, &mixed());
    let deep = format!("{{\"mcpServers\":{{\"a\":{}{}}}}}", "[".repeat(10_000), "]".repeat(10_000));
    let many: serde_json::Map<_, _> =
        (0..257).map(|number| (format!("s{number}"), json!({ "command": "x" }))).collect();
    for (text, why) in [
        ("{\"mcpServers\": {", "not valid JSON"),
        ("not JSON", "not valid JSON"),
        (&deep, "not valid JSON"),
        ("{\"mcpServers\": []}", "not an object of servers"),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\"},\n\"a\": {\"command\": \"y\"}}}",
            "key `a` appears twice",
        ),
        (&json!({ "mcpServers": many }).to_string(), "has 257 servers; at most 256"),
    ] {
        world.write("claude.json", text);
        world.cli("upstream import claude.json").exits(2).stderr_has(why);
        assert_eq!(world.read("toolgate.yaml"), MINE);
    }
    let huge = std::fs::File::create(world.folder().join("claude.json")).unwrap();
    huge.set_len((64 << 20) + 1).unwrap();
    world.cli("upstream import claude.json").exits(2).stderr_has("is larger than 67108864 bytes");
    world.cli("upstream import servers").exits(2).stderr_has("cannot read `servers`");
    world.cli("upstream import nowhere.json").exits(2).stderr_has("cannot read `nowhere.json`");
    assert_eq!(world.read("toolgate.yaml"), MINE);
    assert!(!world.has("toolgate.env"));
    // Two names that become one id are told, and one of them is imported.
    let same = json!({ "mcpServers": { "a b": { "command": "x" }, "a-b": { "command": "y" } } });
    world.write("claude.json", &same.to_string());
    world
        .cli("upstream import claude.json")
        .exits(0)
        .stderr_has("another server in the file has the same id");
}

#[test]
fn entries_that_cannot_be_used_are_left_out_with_the_reason() {
    let world = world(MINE, &mixed());
    let mut deep = json!("x");
    for _ in 0..100 {
        deep = json!({ "a": deep });
    }
    let up = json!({ "command": "python3", "args": ["scripted.py", "up.json"], "cwd": "servers", "odd": deep });
    let servers = json!({ "mcpServers": {
        "up": up, "": { "command": "x" }, "x".repeat(5_000): { "command": "x" }, "none": null, "list": ["x"],
        "deep": { "command": "x", "env": { "A": deep } }, "large": { "command": "x", "args": ["x".repeat(2 << 20)] },
        "nul": { "command": "x\u{0}y", "env": { "API_KEY": "s3cr\u{0}et-0123456789" } },
        "folder": { "command": "/tmp" }, "nowhere": { "command": "true", "cwd": "/nonexistent" },
        "noise": { "command": "head", "args": ["-c", "100000", "/dev/urandom"] },
    } });
    world.write("claude.json", &servers.to_string());
    let output = world.cli("upstream import claude.json --timeout 5").exits(0);
    output.stdout_has("imported up into toolgate.yaml: 3 tools").stderr_has_all([
        "up: `odd` is not supported and was left out",
        "``: not imported: an id must have 1 to 32 characters",
        &format!("`{}…`: not imported", "x".repeat(64)),
        "none: not imported: the entry is not a JSON object",
        "list: not imported: the entry is not a JSON object",
        "deep: not imported: this is nested too deeply",
        "large: not imported: the document is larger than 1048576 bytes",
        "nul: cannot be reached yet",
        "folder: cannot be reached yet",
        "nowhere: cannot be reached yet",
        "noise: cannot be reached yet",
    ]);
    let upstreams = world.cli("config show").exits(0).json()["upstreams"].clone();
    let mut ids: Vec<_> = upstreams.as_object().unwrap().keys().cloned().collect();
    ids.sort();
    assert_eq!(ids, ["first", "folder", "noise", "nowhere", "nul", "up"]);
    assert!(world.read("toolgate.yaml").starts_with(MINE.split("\n\nlimits").next().unwrap()));
    world.cli("call up__act text=a").exits(0).stdout_has("fine");
}

#[test]
fn ctrl_c_in_the_middle_leaves_everything_as_it_was() {
    for (signal, words) in [("-INT", "sleep 61.71"), ("-TERM", "sleep 61.72")] {
        let world = world(MINE, &mixed());
        let (command, argument) = words.split_once(' ').unwrap();
        let hung =
            json!({ "command": command, "args": [argument], "env": { "API_KEY": "first-s3cret" } });
        world.write("claude.json", &json!({ "mcpServers": { "hung": hung } }).to_string());
        let mut child = world.command(&["upstream", "import", "claude.json"]).spawn().unwrap();
        testkit::until("the server is started", || !testkit::running(words).is_empty());
        assert!(testkit::signal(child.id(), signal));
        assert!(!child.wait().unwrap().success());
        testkit::until("the server is gone", || testkit::running(words).is_empty());
        assert_eq!(world.read("toolgate.yaml"), MINE);
        assert!(!world.has("toolgate.env"));
        world.cli("upstream import claude.json --timeout 1").exits(0).stdout_has("imported hung");
    }
}
