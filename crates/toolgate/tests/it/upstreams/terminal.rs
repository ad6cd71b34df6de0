//! What servers say never commands the terminal of the operator, and hides nothing from them.

use serde_json::json;

use super::{Upstreams, tool};

/// Clears the screen, turns the direction of writing, and once more in one byte.
const EVIL: &str = "\u{1b}[2J\u{202e}\u{9b}2J\u{200b}";

#[test]
fn words_of_servers_are_shown_and_not_obeyed() {
    let mut evil = tool("act");
    evil["description"] = json!(format!("Acts.{EVIL}"));
    evil["inputSchema"]["properties"][EVIL] = json!({ "type": "string" });
    evil["outputSchema"]["properties"][EVIL] = json!({ "type": "string", "pattern": EVIL });
    let world = Upstreams::new(
        &[("up", json!({ "tools": [tool("act")] }))],
        "  dead: { command: python3, args: [ dead.py ] }\n",
    );
    let dead = r#"import sys; sys.stderr.write("\x1b[2J\u202e\x9b2J\u200b\n"); sys.exit(1)"#;
    world.write("dead.py", dead);
    world.cli("lock accept up").exits(0);
    world.script("up", &json!({ "tools": [evil] }));
    world.cli("lock diff").stdout_has("\\u{1b}[2J");
    for arguments in [
        "lock diff",
        "upstream list",
        "doctor",
        "contracts lint up",
        "contracts lint dead",
        "contracts diff toolgate.lock#up up",
        "probe up",
        "probe dead",
        "tools",
        "call dead__x",
    ] {
        let all = world.cli(arguments).all();
        let bad = |one: char| {
            (one.is_control() && !matches!(one, '\n' | '\t'))
                || EVIL.contains(one) && !one.is_ascii()
        };
        assert!(!all.contains(bad), "{arguments:?}: {all:?}");
    }
}
