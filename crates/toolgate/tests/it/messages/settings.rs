//! Settings that are wrong: what `config check` says of each, and `serve` where it says more.

use testkit::World;

use super::{Messages, session};
use crate::BINARY;

/// Files that are not as they should be.
const FILES: &[&str] = &[
    // YAML and the form of the file.
    "server: {\n",
    "server:\n\tlisten: x\n",
    "server: {}\nserver: {}\n",
    "- a\n",
    "text\n",
    // Keys and types.
    "sever: {}\n",
    "server:\n  max_body_bites: 10\n  listen: [ 5 ]\n",
    "server:\n  max_body_bytes: 0\n",
    "server:\n  max_body_bytes: 99999999999\n",
    "server: { max_concurrency: many }\n",
    "server: { tokens: [ { name: ada } ] }\n",
    "server: { tokens: [ { name: \"\", token_env: A } ] }\n",
    "contracts: ./contracts\n",
    "store: { durability: forever }\n",
    "journal: { max_bytes: 10 }\n",
    "compatibility: eve\n",
    "limits: { ceilings: { timeout_ms: -1 } }\n",
    // Where a server listens, and who may call.
    "server:\n  listen: foo\n",
    "server:\n  listen: \":8000\"\n",
    "server:\n  listen: 127.0.0.1\n",
    "server:\n  listen: 99999\n",
    "server:\n  listen: [ 8000 ]\n",
    "server:\n  listen: localhost:99999\n",
    "server:\n  listen: 0.0.0.0:8000\n",
    "server:\n  listen: tools.example:80\n",
    "server:\n  tokens:\n    - { name: cli, token_env: PATH }\n",
    "server: { tokens: [ { name: operator, token_env: PATH }, { name: local, token_env: PATH }, { name: stdio, token_env: PATH } ] }\n",
    "server:\n  listen: 0.0.0.0:8000\n  tokens:\n    - { name: ada, token_env: NO_SUCH_VARIABLE }\n",
    "upstreams: { a: { command: x, required: true, enabled: false }, b: { command: x, required: true, start: lazy } }\n",
    // Logs, journal.
    "log: { level: loud }\n",
    "log: { level: debgu }\n",
    "log: { level: \"\" }\n",
    "log: { level: \"info,hyper=loud\" }\n",
    "journal: { path: /nonexistent/journal.jsonl }\n",
    "journal: { path: . }\n",
    // Tools and policy.
    "tools: { enable: [ autosag ] }\n",
    "tools: { enable: [ nobody_has_this ] }\n",
    "policy: { approval: [ { require: always } ] }\n",
    "policy: { approval: [ { tool: hello } ] }\n",
    "policy: { approval: [ { tool: hello, require: sometimes } ] }\n",
    "policy: { approval: [ { tools: hello, require: always } ] }\n",
    "policy: { approval: [ { effects: destroy, require: always } ] }\n",
    "policy: { approval: [ { tool: echo_jsn, require: always } ] }\n",
    "policy: { approval: [ { toolset: nobody, require: always } ] }\n",
    "policy: { approval: [ { tool: hello, effects: write, require: always } ] }\n",
    "policy: { approval: [ { tool: , require: never } ] }\n",
    "policy: { approval_wait_ms: 999, approval_valid_ms: 999 }\n",
    "policy: { approval_wait_ms: 31536000001, approval_valid_ms: 18446744073709551615 }\n",
    "contracts: [ ./missing ]\n",
    "tools: { file_io: { root: . } }\n",
    "tools: { file_io: { root: ./nope/.. } }\n",
    "data_dir: /nonexistent/data\ntools: { file_io: { root: . } }\n",
    "data_dir: /nonexistent/data\ntools: { memory: { dir: /nonexistent/m }, file_io: { root: . } }\n",
    "data_dir: /nonexistent/data\njournal: { path: ./a/b.log }\ntools: { file_io: { root: ./a } }\n",
    "tools: { file_io: { root: ./data/work } }\n",
    "data_dir: /nonexistent/data\ntools: { file_io: { root: .claude/memory/x } }\n",
    "tools: { file_io: { root: \"~/notes\" } }\n",
    "tools: { file_io: { root: toolgate.yaml } }\n",
    "tools: { repo: { allow: [ \"**\" ] } }\n",
    "tools:\n  repo:\n    allow: [ \"docs/**\", \"a[\" ]\n    deny:\n      - /etc/**\n  memory:\n    files: []\n",
    "tools: { memory: { files: [ decisions.jsonl, notes.jsonl ] } }\n",
    "tools: { web_fetch: { allowed_domains: [ \"http://a\" ], allow_private_hosts: [ \"10.0.0.0/8\" ], user_agent: \"a\\nb\" } }\n",
    "tools: { web_fetch: { allow_private_hosts: [ \"127.0.0.1\", \"127.0.0.1:99999\" ] } }\n",
    "tools: { sys_audit: { key_packages: [ \"\" ] } }\n",
    "tools:\n  enable:\n#  - hello\n",
    "tools: { search: { provider: searxng } }\n",
    "tools: { search: { provider: google, base_url: \"http://a\" } }\n",
    "tools: { search: { provider: litellm, base_url: \"http://u:p@a\" } }\n",
    "tools: { search: { api_key: sk-secret } }\n",
    "tools: { search: { timeout_ms: 0, max_results: 26 } }\n",
    "tools: { search: { base_url: \"http://127.0.0.1:1\" } }\n",
    "tools: { search: { provider: litellm, base_url: \"ftp://a\", api_key_env: \"a b\" } }\n",
    "tools: { mlx: { launch: [], models: { a: b }, env: { \"A=B\": x }, host: \"-x\", host_command: [ \"${A}\" ] } }\n",
    "tools: { mlx: { launch: [ serve ], host: \"-oProxyCommand=sh\", models: { a: -x }, allow: [ \"a[\" ] } }\n",
    "tools: { mlx: { launch: [ \"\", \"{port}\" ], host: \"${H}\" } }\n",
    "upstreams: { a: { command: x, tools: { t: { serve_as: b__t } } } }\n",
    "tools: { mlx: { host: studio } }\nupstreams: { mlxctl: { command: x } }\n",
    "tools: { transcript: { mode: model } }\n",
    "tools: { transcript: { mode: magic, max_chunk_characters: 5 } }\n",
    // Language model and questions.
    "llm: { model: small }\n",
    "llm: { base_url: \"not a url\", api_key_env: \"a b\" }\n",
    "llm: { base_url: \"http://a/v1/chat/completions\", stall_timeout_ms: 0 }\n",
    "ask: { allow: [ nobody_has_this, hello ] }\n",
    "ask: { max_runs: 0, sumarize: always }\n",
    "ask: { policy: { without: [ nobody_has_this ], block: [ { name: mine, pattern: \"(\" } ] } }\n",
    // Upstreams.
    "upstreams: { a: {} }\n",
    "upstreams: { a: { command: x, url: \"http://a\" } }\n",
    "upstreams: { a: { url: \"http://a\", start: lazy } }\n",
    "upstreams: { a: { command: x, ouptut: text } }\n",
    "upstreams: { a: { command: x, sandbox: , tools: { t: { approval: } } } }\n",
    "upstreams: { a__b: { command: x }, \"ä\": { command: y } }\n",
    "upstreams: { a: { command: \" \", type: http, headers: { A: b } } }\n",
    "upstreams: { a: { url: \"ftp://a\", type: stdio, args: [ x ], start: lazy } }\n",
    "upstreams: { a: { command: x, tools: { t: { serve_as: execute, output: json } }, output: json } }\n",
    "upstreams: { a: { command: x, tools: { t: { serve_as: s } } }, b: { command: x, tools: { t: { serve_as: s } } } }\n",
    "upstreams: { a: { command: x, tools: { t: { output_schema: { type: 5 } } } } }\n",
    "upstreams: { a: { command: \"${NO_SUCH_VARIABLE}\" } }\n",
    "upstreams: { a: { command: /nonexistent/program } }\n",
    "upstreams: { a: { command: x, autoApprove: [ t ], timeout: 5 } }\n",
    "mcpServers: { a: { command: x } }\n",
    "upstreams: { mcpServers: { a: { command: x } } }\n",
    "allowlist: { nobody: \"*\" }\n",
    "upstreams: { a: { command: x } }\nallowlist:\n#  a: [t]\n",
    "allowlist: ./missing.yaml\n",
    // A file that another system reads too.
    "compatibility: adam\nui: { theme: dark }\nserver: { host: \"\", port: 70000, cors_enabled: true, auth: { token: x } }\n",
    "compatibility: adam\nserver: { port: 8001, cors_enabled: true }\n",
];

/// Variables of the environment that set nothing, or the wrong thing.
const VARIABLES: &[(&str, &str)] = &[
    ("TOOLGATE_SERVER__MAX_BODY_BITES", "20"),
    ("TOOLGATE_SERVER__MAX_BODY_BYTES", "many"),
    ("TOOLGATE_LOG__LEVEL", "loud"),
    ("TOOLGATE_TOOLS__REPO__DENY", "['a[']"),
    ("TOOLGATE_LISTN", "127.0.0.1:1"),
    ("TOOLGATE_LLM_BASE_URL", "http://127.0.0.1:1"),
    ("TOOLGATE_HOME", "1"),
    ("TOOLGATE_CONFIG", "none.yaml"),
];

/// What `config check` says. A program gets the same, nothing is created, and a server refuses what is an error.
fn check(world: &World) -> String {
    let shown = session(world, &["config", "check"]);
    let output = world.cli("config check --json");
    let (code, json) = (output.code, output.json());
    assert_eq!(json["ok"], code == 0, "{json}");
    assert!(shown.starts_with(&format!("exit {code}\n")), "{code}: {shown}");
    for one in json["diagnostics"].as_array().unwrap() {
        let line = format!("{}:{}:", one["file"].as_str().unwrap(), one["line"]);
        let is_shown = one["line"].is_null() || shown.contains(&line);
        assert!(is_shown || code == 2 || line.starts_with("environment"), "no {line}: {shown}");
    }
    assert!(!world.has("data"), "checking changes nothing");
    if code != 0 {
        assert_eq!(world.cli("serve").code, 2, "{shown}");
    }
    shown
}

#[test]
fn settings() {
    let mut messages = Messages::default();
    for settings in FILES {
        let world = World::new(BINARY, settings);
        messages.add(settings, &check(&world));
    }
    for (name, value) in VARIABLES {
        let world = World::new(BINARY, "").with_env(name, value);
        messages.add(&format!("{name}={value}"), &check(&world));
    }
    let no_text = World::new(BINARY, "");
    std::fs::write(no_text.folder().join("toolgate.yaml"), b"data_dir: \xff\n").unwrap();
    messages.add("data_dir: [bytes that are not UTF-8]", &check(&no_text));
    // What only shows when a server starts.
    for (settings, arguments) in [
        ("", &["serve", "--listen", "0.0.0.0:0"][..]),
        ("", &["serve", "--listen", "foo"]),
        ("", &["serve", "--listen", "192.0.2.1:0", "--data-dir", "toolgate.yaml"]),
        (
            "server: { tokens: [ { name: ada, token_env: PATH } ] }\n",
            &["serve", "--listen", "192.0.2.1:1"],
        ),
        ("", &["serve", "--config", "none.yaml"]),
    ] {
        let world = World::new(BINARY, settings);
        messages.add(
            &format!("{settings}$ toolgate {}", arguments.join(" ")),
            &session(&world, arguments),
        );
    }
    messages.check("settings");
}
