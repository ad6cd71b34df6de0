//! What the agent can write decides nothing: a folder that tools write to is apart from every path by which the operator
//! decides, or no server starts.

use testkit::World;

use crate::BINARY;

const ROOT: &str = "tools: { file_io: { root: ./ws } }\n";
const CONTRACT: &str = include_str!("../../src/starter/contract.yaml");

/// A world with a folder `ws` for the agent.
fn world(settings: &str) -> World {
    let world = World::new(BINARY, &format!("{ROOT}{settings}"));
    std::fs::create_dir(world.folder().join("ws")).unwrap();
    world
}

/// No server starts, and every command that could say why does, in the same words.
#[track_caller]
fn refused(world: &World, setting: &str, relation: &str, path: &str) {
    let base = world.folder().canonicalize().unwrap();
    let serve = world.cli("serve --listen 127.0.0.1:0").exits(2);
    let line = serve.stderr.lines().find(|line| line.contains(setting));
    let line = line.unwrap_or_else(|| panic!("not refused: {serve}"));
    let words = &line[line.find(setting).unwrap()..];
    assert!(words.contains(&format!("the folder `{}/", base.display())), "{words}");
    assert!(words.contains(relation), "{words}");
    let path: std::path::PathBuf = base.join(path).components().collect();
    assert!(words.contains(&format!("(`{}`)", path.display())), "{words}");
    assert!(words.ends_with("choose another folder"), "{words}");
    world.cli("config check").stderr_has(words);
    world.cli("doctor").exits(1).stdout_has(words);
    // Not only where a server is started.
    world.cli("call hello name=a").stderr_has(words);
}

#[test]
fn nothing_by_which_the_operator_decides_lies_below_the_agents_folder() {
    let upstream = |words: &str| format!("upstreams: {{ db: {{ {words} }} }}\n");
    let cases = [
        ("overlays: ./ws/overlays\n".to_owned(), "contains the overlays", "ws/overlays"),
        ("lock: ws/toolgate.lock\n".to_owned(), "contains the lock", "ws/toolgate.lock"),
        ("allowlist: ./ws/allowed.yaml\n".to_owned(), "contains the allowlist", "ws/allowed.yaml"),
        ("contracts: [ ./ws/mine ]\n".to_owned(), "contains contracts", "ws/mine"),
        ("data_dir: ./ws/data\n".to_owned(), "contains the data folder", "ws/data"),
        ("journal: { path: ./ws/log }\n".to_owned(), "contains the journal", "ws/log"),
        ("ask: { trace_dir: ./ws/t }\n".to_owned(), "contains the traces", "ws/t"),
        ("llm: { extra_ca: [ ws/ca.pem ] }\n".to_owned(), "contains certificates", "ws/ca.pem"),
        (upstream("command: ./ws/server"), "contains the program of upstream `db`", "ws/server"),
        (
            upstream("command: python3, args: [ -u, ws/server.py ]"),
            "contains a file that upstream `db` is started with",
            "ws/server.py",
        ),
        (
            upstream("command: node, args: [ --import=./ws/hook.js, server.js ]"),
            "contains a file that upstream `db` is started with",
            "ws/hook.js",
        ),
        (
            upstream("command: python3, args: [ ./ws/app ]"),
            "contains a folder that upstream `db` is started with",
            "ws/app",
        ),
        (
            upstream("command: python3, args: [ -m, app.server ], cwd: ./ws"),
            "contains a folder that upstream `db` is started with",
            "ws/app",
        ),
        (
            upstream("command: uv, args: [ run, --directory, ./ws/app, server ]"),
            "contains a folder that upstream `db` is started with",
            "ws/app",
        ),
        (
            upstream("command: cat, env: { PYTHONPATH: \"/opt/x:./ws/lib\" }"),
            "contains a file that upstream `db` is started with",
            "ws/lib",
        ),
        (
            upstream(
                "command: cat, env: { NODE_OPTIONS: \"--no-warnings --require=./ws/hook.js\" }",
            ),
            "contains a file that upstream `db` is started with",
            "ws/hook.js",
        ),
        (
            upstream("command: sh, args: [ -c, \"exec python3 './ws/server.py'\" ]"),
            "contains a file that upstream `db` is started with",
            "ws/server.py",
        ),
        (
            upstream("command: cat, cwd: ./ws/db"),
            "contains the folder that upstream `db` starts in",
            "ws/db",
        ),
        (
            upstream("url: \"https://db.example\", extra_ca: [ ws/ca.pem ]"),
            "contains certificates (`upstreams.db.extra_ca`)",
            "ws/ca.pem",
        ),
    ];
    for (settings, relation, path) in cases {
        let world = world(&settings);
        for file in ["server.py", "hook.js", "ca.pem", "server"] {
            world.write_program(&format!("ws/{file}"), "");
        }
        world.write("ws/app/__main__.py", "");
        world.write("ws/allowed.yaml", "{}\n");
        world.write("ws/mine/one.yaml", &CONTRACT.replace("NAME", "one"));
        refused(&world, "tools.file_io.root", relation, path);
    }
}

#[test]
fn the_program_of_a_command_is_not_the_agents_to_change() {
    for (run, file) in
        [("[../ws/tool]", "ws/tool"), ("[python3, \"{contract_dir}/../ws/tool.py\"]", "ws/tool.py")]
    {
        let world = world("contracts: [ ./mine ]\n");
        let contract = CONTRACT.replace("NAME", "one").replace("[cat]", run);
        world.write("mine/one.yaml", &contract);
        world.write_program(file, "#!/bin/sh\ncat\n");
        refused(&world, "tools.file_io.root", "tool `one`", file);
    }
}

#[test]
fn links_and_other_spellings_are_followed() {
    // The folder is reached through a link, what decides through another one, and the link itself is the agent's.
    for settings in [
        "overlays: ./way/overlays\n",
        "overlays: ./elsewhere/../ws/overlays\n",
        "overlays: ./ws/out\n",
    ] {
        let world = world(settings);
        std::fs::create_dir(world.folder().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("ws", world.folder().join("way")).unwrap();
        std::os::unix::fs::symlink("../elsewhere", world.folder().join("ws/out")).unwrap();
        let serve = world.cli("serve --listen 127.0.0.1:0").exits(2);
        serve.stderr_has("contains the overlays").stderr_has("choose another folder");
    }
    let world = World::new(BINARY, "tools: { file_io: { root: ./link } }\noverlays: ./ws/o\n");
    std::fs::create_dir(world.folder().join("ws")).unwrap();
    std::os::unix::fs::symlink("ws", world.folder().join("link")).unwrap();
    refused(&world, "tools.file_io.root", "contains the overlays", "ws/o");
}

#[test]
fn the_agents_folder_is_not_inside_one_that_decides() {
    for (settings, relation, path) in [
        ("overlays: .\n", "is inside the overlays", ""),
        ("contracts: [ . ]\n", "is inside contracts", ""),
        ("ask: { trace_dir: . }\n", "is inside the traces", ""),
        (
            "server: { tls: { cert: ./ws/c.pem, key: ./k.pem } }\n",
            "contains the certificate",
            "ws/c.pem",
        ),
        ("server: { tls: { cert: ./c.pem, key: ./ws/k.pem } }\n", "contains the key", "ws/k.pem"),
        ("overlays: ./ws\n", "contains the overlays", "ws"),
    ] {
        refused(&world(settings), "tools.file_io.root", relation, path);
    }
}

#[test]
fn the_memory_is_held_to_the_same() {
    for (settings, relation, path) in [
        ("overlays: ./all/memory/o\n", "contains the overlays", "all/memory/o"),
        ("contracts: [ ./all ]\n", "is inside contracts", "all"),
    ] {
        let settings = format!("{settings}tools: {{ memory: {{ dir: ./all/memory }} }}\n");
        let world = World::new(BINARY, &settings);
        std::fs::create_dir(world.folder().join("all")).unwrap();
        refused(&world, "tools.memory.dir", relation, path);
    }
}

#[test]
fn a_second_mount_of_the_folder_is_the_same_folder() {
    let world = world("overlays: ./ws/overlays\n");
    let Some(_mount) =
        testkit::BindMount::new(&world.folder().join("ws"), &world.folder().join("again"))
    else {
        return;
    };
    let settings = "tools: { file_io: { root: ./again } }\noverlays: ./ws/overlays\n";
    world.write("toolgate.yaml", settings);
    refused(&world, "tools.file_io.root", "contains the overlays", "ws/overlays");
}

/// A server for files is told the agents' folder. It could be a program as well: the operator says that it is none.
#[test]
fn the_agents_folder_may_be_what_a_server_is_about_if_the_operator_says_so() {
    for words in [
        "command: npx, args: [ -y, \"@scope/server-filesystem\", ./ws ]",
        "command: python3, args: [ server.py, ./ws ]",
        "command: ./server, args: [ ./ws, --root=./ws ]",
        "command: ./server, env: { ROOT: ./ws }",
    ] {
        for (data, exit) in [("", 2), (", sandbox: { data: [ ./ws ] }", 0)] {
            let settings =
                format!("upstreams: {{ db: {{ {words}{data} }} }}\noverlays: ./overlays\n");
            let world = world(&settings);
            world.write("server.py", "");
            world.write_program("server", "#!/bin/sh\n");
            let check = world.cli("config check").exits(exit);
            if exit != 0 {
                check.stderr_has("a folder that upstream `db` is started with").stderr_has(
                    "if it is data and no code, name it in `sandbox.data` of upstream `db`",
                );
            }
        }
    }
}

/// Whoever writes beside a script, or below the folder of a program, writes what it runs.
#[test]
fn the_agents_folder_is_not_beside_code() {
    for (words, place) in [
        ("command: python3, args: [ ws/x.py ]", "ws"),
        ("command: sh, args: [ -c, \"cd ws && ./run.sh\" ]", "ws"),
        ("command: ws/bin/python, args: [ -m, http.server ]", "ws"),
        ("command: cat, cwd: ./ws", "ws"),
    ] {
        let settings = format!(
            "tools: {{ file_io: {{ root: ./ws/lib }} }}\nupstreams: {{ db: {{ {words} }} }}\n"
        );
        let world = World::new(BINARY, &settings);
        std::fs::create_dir_all(world.folder().join("ws/lib")).unwrap();
        world.write("ws/x.py", "");
        world.write_program("ws/bin/python", "#!/bin/sh\n");
        refused(
            &world,
            "tools.file_io.root",
            "is inside a folder that upstream `db` is started with",
            place,
        );
    }
}

#[test]
fn a_server_may_start_above_the_agents_folder() {
    let world = world("upstreams: { db: { command: cat } }\noverlays: ./overlays\n");
    world.cli("config check").exits(0);
}
