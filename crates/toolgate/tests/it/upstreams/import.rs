//! Servers of other clients: taken over by a command, or pasted by hand.

use serde_json::{Value, json};
use testkit::World;

/// Imports a file; the exit code, and everything that was said.
fn import(world: &World, text: &str) -> (i32, String) {
    world.write("other.json", text);
    let output = world.cli("upstream import other.json");
    (output.code, output.all())
}

fn settings(world: &World) -> Value {
    world.cli("config show").exits(0).json()
}

#[test]
fn what_would_not_load_is_not_taken() {
    for (entry, why) in [
        (json!({ "command": "x", "args": "y" }), "args"),
        (json!({ "command": 5 }), "command"),
        (json!({ "command": ["npx", "y"] }), "command"),
        (json!({ "command": "x", "url": "http://h/" }), "both"),
        (json!({ "url": "no address" }), "not an http or https URL"),
    ] {
        let world = World::new(crate::BINARY, "# mine\n");
        let servers = json!({ "mcpServers": { "bad": entry, "good": { "command": "x", "env": { "PORT": 8080 } } } });
        let (code, said) = import(&world, &servers.to_string());
        assert_eq!(code, 0, "{said}");
        assert!(said.contains("bad: not imported: ") && said.contains(why), "{said}");
        let upstreams = &settings(&world)["upstreams"];
        assert_eq!(upstreams["good"]["env"]["PORT"], "8080");
        assert!(upstreams.get("bad").is_none(), "{upstreams}");
    }
}

#[test]
fn files_are_read_as_editors_and_agents_write_them() {
    let editor = "\u{feff}// servers\n{ \"servers\": { \"a\": { \"type\": \"stdio\", \"command\": \"x\", /* y */\n\
                  \"args\": [\"--dir\", \"${workspaceFolder}\",], }, }, }";
    let world = World::new(crate::BINARY, "");
    let (code, said) = import(&world, editor);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("`${workspaceFolder}` is a variable of an editor"), "{said}");
    let agent = json!({ "numStartups": 1, "mcpServers": { "b": { "command": "x", "disabled": true } },
        "projects": { "/home/me/p": { "mcpServers": { "c": { "command": "y", "alwaysAllow": ["t"] } } } } });
    let (code, said) = import(&world, &agent.to_string());
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("c: `alwaysAllow` is ignored"), "{said}");
    let upstreams = &settings(&world)["upstreams"];
    assert_eq!(upstreams["b"]["enabled"], false);
    assert_eq!(upstreams["c"]["cwd"], "/home/me/p");
    let (code, said) = import(&world, r#"{"mcp":{"servers":{"d":{"command":"z"}}}}"#);
    assert_eq!(code, 0, "{said}");
    for empty in [r#"{"mcpServers":{}}"#, r#"{"projects":{"/p":{"mcpServers":{}}}}"#] {
        let (code, said) = import(&world, empty);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("nothing to import"), "{said}");
    }
    let (code, said) = import(&world, "{}");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("no `mcpServers` or `servers` found"), "{said}");
}

#[test]
fn settings_in_every_form_are_added_to_or_the_reason_is_told() {
    for before in [
        "upstreams: {\n  one: { command: x }\n}\n",
        "upstreams: { one: { command: x } }\n",
        "\"upstreams\":\n  one: { command: x }\n",
        "{\n  \"upstreams\": {\n    \"one\": { \"command\": \"x\" }\n  }\n}\n",
    ] {
        let world = World::new(crate::BINARY, before);
        let (code, said) = import(&world, r#"{"mcpServers":{"two":{"command":"y"}}}"#);
        assert_eq!(code, 0, "{before}: {said}");
        let upstreams = &settings(&world)["upstreams"];
        assert_eq!(
            (&upstreams["one"]["command"], &upstreams["two"]["command"]),
            (&json!("x"), &json!("y"))
        );
    }
    let world = World::new(crate::BINARY, "upstreams: {}\nupstreams: {}\n");
    let (code, said) = import(&world, r#"{"mcpServers":{"two":{"command":"y"}}}"#);
    assert_eq!(code, 2);
    assert!(said.contains("`upstreams` appears twice") && !said.contains("Policy"), "{said}");
}

#[test]
fn a_block_can_be_pasted_as_it_is() {
    let block = r#"
    "a": { "command": "x", "args": ["-p", 80], "env": { "PORT": 8080 }, "disabled": true, "autoApprove": ["t"] },
    "b": { "type": "streamableHttp", "url": "http://127.0.0.1:1/", "alwaysAllow": [], "timeout": 60 }"#;
    let world = World::new(crate::BINARY, &format!("upstreams: {{{block}\n  }}\n"));
    world.cli("config check").exits(0).stderr_has_all([
        "`autoApprove` is ignored",
        "use `timeout_ms`",
        "toolgate.yaml:2",
        "2 warnings",
    ]);
    let upstreams = &settings(&world)["upstreams"];
    assert_eq!(upstreams["a"]["enabled"], false);
    for wrapped in [
        format!("upstreams: {{ \"mcpServers\": {{{block}\n  }} }}\n"),
        format!("{{ \"mcpServers\": {{{block}\n  }} }}\n"),
    ] {
        let world = World::new(crate::BINARY, &wrapped);
        world.cli("config check").exits(1).stderr_has("`mcpServers`").stderr_has("`upstreams`");
    }
}

#[test]
fn a_link_to_the_settings_stays_one() {
    let world = World::new(crate::BINARY, "");
    let folder = world.folder();
    world.write("real/settings.yaml", "# mine\n");
    std::fs::remove_file(folder.join("toolgate.yaml")).unwrap();
    std::os::unix::fs::symlink("real/settings.yaml", folder.join("toolgate.yaml")).unwrap();
    let (code, said) = import(&world, r#"{"mcpServers":{"two":{"command":"y"}}}"#);
    assert_eq!(code, 0, "{said}");
    assert!(folder.join("toolgate.yaml").is_symlink());
    let text = std::fs::read_to_string(folder.join("real/settings.yaml")).unwrap();
    assert!(text.starts_with("# mine\n") && text.contains("two:"), "{text}");
}
