//! Command lines that end otherwise than they should.

use testkit::World;

use super::{Messages, session, world};
use crate::BINARY;

/// Command lines in a folder with a few tools and no server.
const COMMANDS: &[&[&str]] = &[
    &[],
    &["cal"],
    &["call"],
    &["call", "hello", "hello"],
    &["call", "hello", "=x"],
    &["call", "hello", "name=a", "name=b"],
    &["call", "hello", "name:=nope"],
    &["call", "hello", "name=@/nonexistent/file"],
    &["call", "hello", "nmae=Ada"],
    &["call", "echo_json", "message=hi", "n=2"],
    &["call", "echo_jsn", "message=hi"],
    &["call", "hello", "name=Ada", "--approval", "x"],
    &["call", "hello", "name=Ada", "--timeout-ms", "0"],
    &["call", "broken"],
    &["call", "garbage"],
    &["call", "guarded"],
    &["call", "slow", "--timeout-ms", "50"],
    &["call", "a__tool"],
    &["tools", "show", "helo"],
    &["mcp", "--toolset", "autosag"],
    &["mcp", "--print-config", "nobody"],
    &["approvals", "show", "x"],
    &["approvals", "approve", "apr_00000000000000000000000000"],
    &["approvals", "--data-dir", "./nonexistent"],
    &["approvals", "--data-dir", "contracts"],
    &["approvals", "show", "abc"],
    &["quarantine", "show", "x"],
    &["quarantine", "show", "q_00000000000000000000000000"],
    &["quarantine", "list", "--status", "lost"],
    &["mlx", "status", "80"],
    &["upstream", "list", "nobody"],
    &["upstream", "add", "a"],
    &["upstream", "add", "a", "http://127.0.0.1:1/"],
    &["upstream", "add", "b", "npx"],
    &["upstream", "add", "b", "http://127.0.0.1:1/", "--header", "A"],
    &["upstream", "add", "b", "--", "no-such-program"],
    &["upstream", "set", "a", "output"],
    &["upstream", "set", "a", "outptu=text"],
    &["upstream", "set", "b", "output=text"],
    &["--no-config", "upstream", "set", "a", "output=text"],
    &["upstream", "import", "missing.json"],
    &["lock", "diff"],
    &["lock", "accept", "a.tool"],
    &["probe"],
    &["probe", "nobody"],
    &["probe", "a", "--header", "A: b"],
    &["trace", "missing.json"],
    &["eval", "missing.jsonl"],
    &["ask", "What?"],
    &["backup", "toolgate.yaml"],
    &["backup", "contracts", "--force"],
    &["backup", "/nonexistent/backup.tar.gz"],
    &["restore", "toolgate.yaml"],
    &["--data-dir", "new", "restore", "missing.tar.gz"],
    &["--data-dir", "new", "restore", "toolgate.yaml"],
    &["init", "/nonexistent/toolgate.yaml"],
    &["init"],
    &["--config", "missing.yaml", "tools"],
    &["tools", "--data-dir"],
    &["completions", "nobody"],
];

#[test]
fn command_lines() {
    let world = world("");
    let mut messages = Messages::default();
    for arguments in COMMANDS {
        messages.add(&format!("$ toolgate {}", arguments.join(" ")), &session(&world, arguments));
    }
    // What is fine differs from machine to machine.
    let world = World::new(BINARY, "server: { listen: foo }\ncontracts: [ ./c ]\n");
    world.write("c/broken.yaml", "name: broken\n");
    let said = session(&world.with_env("TOOLGATE_FOO", "1"), &["doctor"]);
    let said: Vec<_> = said.lines().filter(|line| !line.starts_with("ok ")).collect();
    messages.add("(wrong address, contract and variable)\n$ toolgate doctor", &said.join("\n"));
    messages.check("cli");
}
