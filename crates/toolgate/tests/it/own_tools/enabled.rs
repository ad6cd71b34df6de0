//! The settings that choose toolsets: `tools.enable` and `contracts_enable`.

use serde_json::json;
use testkit::{mcp::Modern, texts};

use super::{contract, world};

#[tokio::test]
async fn each_setting_is_about_its_own_toolsets() {
    for (settings, expected) in [
        ("tools: { enable: [] }", &["mine", "yours"][..]),
        ("tools: { enable: [ autosage ] }", &["echo_json", "mine", "write_text_artifact", "yours"]),
        ("tools: { enable: [] }\ncontracts_enable: [ b ]", &["yours"]),
        ("tools: { enable: [] }\ncontracts_enable: []", &[]),
        ("tools: { enable: [ autosage ] }\ncontracts_enable: [ autosage ]", &["shared"]),
    ] {
        let world = world(&format!("{settings}\n"));
        if settings.contains("contracts_enable: [ autosage ]") {
            contract(&world, "shared", "autosage", "");
        }
        contract(&world, "mine", "a", "");
        contract(&world, "yours", "b", "");
        let world = world.started().await;
        let rest = texts(&world.get("/v1/tools").await.json()["tools"], "name");
        let expected: Vec<_> = match expected {
            ["shared"] => vec!["echo_json", "shared", "write_text_artifact"],
            expected => expected.to_vec(),
        };
        assert_eq!(rest, expected, "{settings}");
        let mcp = Modern::new(&world).ask("tools/list", json!({})).await;
        assert_eq!(texts(&mcp["result"]["tools"], "name"), expected, "{settings}");
        let listed = world.cli("tools --json").exits(0).json();
        assert_eq!(texts(&listed["tools"], "name"), expected, "{settings}");
        for hidden in ["hello", "stat"] {
            assert_eq!(world.call(hidden, &json!({})).await.json()["code"], "unknown_tool");
            world.cli(&["call", hidden]).exits(1).stderr_has_all([
                "unknown_tool",
                "hint: add `",
                "` to `tools.enable` in the settings",
            ]);
        }
    }
}

#[test]
fn a_toolset_in_the_wrong_setting_is_told() {
    for (settings, message) in [
        (
            "tools: { enable: [ autosage, a ] }",
            "tools.enable: `a` is a toolset of your own contracts, which are served without being named here",
        ),
        (
            "contracts_enable: [ autosage ]",
            "contracts_enable: `autosage` is a built-in toolset; `tools.enable` chooses among those",
        ),
        ("contracts_enable: [ aa ]", "contracts_enable: there is no toolset `aa`"),
    ] {
        let world = world(&format!("{settings}\n"));
        contract(&world, "mine", "a", "");
        world.cli("config check").exits(1).stderr_has(message);
        world.cli("serve --listen 127.0.0.1:0").exits(2).stderr_has(message);
    }
}

#[test]
fn a_tool_whose_toolset_is_off_has_a_hint() {
    let world = world("contracts_enable: []\n");
    contract(&world, "mine", "a", "");
    for command in ["call mine", "tools show mine", "contracts test mine"] {
        let hint = "hint: add `a` to `contracts_enable` in the settings";
        world.cli(command).stderr_has(hint);
    }
}
