//! `adam-sys-audit` as the seed describes it: what this machine is, and what changed. The rows
//! of the cases are named where they are shown.

use serde_json::{Value, json};
use testkit::{World, texts};

/// The toolset is called by command, as in the seed.
async fn call(world: &World, args: Value) -> Value {
    let answer = world.call("adam-sys-audit", &args).await.ok();
    assert_eq!((&answer["tool"], &answer["ok"]), (&json!("adam-sys-audit"), &json!(true)));
    answer["result"].clone()
}

async fn diff(world: &World, baseline: &Value) -> Value {
    let result = call(world, json!({ "command": "diff_baseline", "baseline": baseline })).await;
    assert_eq!(result.as_object().unwrap().len(), 1);
    result["changes"].clone()
}

fn counts(changes: &Value) -> [usize; 3] {
    ["added", "removed", "modified"].map(|name| changes[name].as_array().unwrap().len())
}

/// D20.
#[tokio::test]
async fn the_hardware_is_listed() {
    let world = crate::start("").await;
    let hardware = call(&world, json!({ "command": "list_hardware" })).await;
    let cpu = &hardware["cpu"];
    assert!(cpu["cores"].as_u64().unwrap() >= 1);
    assert!(cpu["threads"].as_u64().unwrap() >= cpu["cores"].as_u64().unwrap());
    assert!(cpu["frequency_mhz"].as_f64().unwrap() >= 0.0);
    for gpu in hardware["gpus"].as_array().unwrap() {
        assert!(!gpu["name"].as_str().unwrap().is_empty());
    }
    let ram = &hardware["ram_gb"];
    let [total, used, free] = ["total", "used", "free"].map(|name| ram[name].as_f64().unwrap());
    assert!(total > 0.0 && (used + free - total).abs() < 0.02, "{ram}");
    let mounts = texts(&hardware["disks"], "mount");
    assert!(mounts.contains(&"/".to_owned()) && mounts.is_sorted(), "{mounts:?}");
    for disk in hardware["disks"].as_array().unwrap() {
        assert!(disk["used_gb"].as_f64().unwrap() <= disk["size_gb"].as_f64().unwrap(), "{disk}");
    }
    assert_eq!(hardware["os"], "linux");
    assert!(hardware["container"]["detected"].is_boolean());
}

/// D21.
#[tokio::test]
async fn the_software_is_listed() {
    let world = crate::start("").await;
    let software = call(&world, json!({ "command": "list_software" })).await;
    for name in ["os_version", "kernel", "python_version"] {
        assert!(!software[name].as_str().unwrap().is_empty(), "{name}");
    }
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(software["kernel"], kernel.trim());
    let packages = |software: &Value| -> Vec<String> {
        let packages = software["packages"].as_array().unwrap().iter();
        packages.map(|package| package.as_str().unwrap().to_owned()).collect()
    };
    let key = packages(&software);
    assert!(key.iter().all(|package| package.split("==").count() == 2), "{key:?}");
    let all = call(&world, json!({ "command": "list_software", "all": true })).await;
    assert_eq!(
        (&software["packages_scope"], &all["packages_scope"]),
        (&json!("key"), &json!("all"))
    );
    let all = packages(&all);
    assert!(all.is_sorted() && key.iter().all(|package| all.contains(package)));
}

/// The operator says which packages matter.
#[tokio::test]
async fn key_packages_are_a_setting() {
    let world = crate::start("tools: { sys_audit: { key_packages: [] } }\n").await;
    let software = call(&world, json!({ "command": "list_software" })).await;
    assert_eq!(software["packages"], json!([]));
    let all = call(&world, json!({ "command": "list_software", "all": true })).await;
    let Some(package) = all["packages"].get(0).and_then(Value::as_str) else { return };
    let (name, _) = package.split_once("==").unwrap();
    let settings = json!({ "tools": { "sys_audit": { "key_packages": [name] } } });
    let world = crate::start(&settings.to_string()).await;
    let software = call(&world, json!({ "command": "list_software" })).await;
    assert!(software["packages"].as_array().unwrap().contains(&json!(package)), "{software}");
}

/// D22.
#[tokio::test]
async fn a_machine_that_did_not_change_has_no_changes() {
    let world = crate::start("").await;
    let nothing = json!({ "added": [], "removed": [], "modified": [] });
    for args in [
        json!({ "command": "list_hardware" }),
        json!({ "command": "list_software" }),
        json!({ "command": "list_software", "all": true }),
    ] {
        let mut baseline = call(&world, args).await;
        assert_eq!(diff(&world, &baseline).await, nothing);
        // The same without what the seed does not have; without a scope, it is key packages.
        if baseline["packages_scope"] != "all" {
            for name in ["container", "packages_scope", "package_sources"] {
                baseline.as_object_mut().unwrap().remove(name);
            }
            assert_eq!(diff(&world, &baseline).await, nothing);
        }
    }
}

/// D23.
#[tokio::test]
async fn packages_that_came_went_and_changed_are_told() {
    let world = crate::start("").await;
    let mut baseline = call(&world, json!({ "command": "list_software", "all": true })).await;
    let packages = baseline["packages"].as_array_mut().unwrap();
    // Two names that are there once.
    let name = |package: &Value| package.as_str().unwrap().split_once("==").unwrap().0.to_owned();
    let names: Vec<_> = packages.iter().map(name).collect();
    let single: Vec<_> = (0..names.len())
        .filter(|at| names.iter().filter(|other| **other == names[*at]).count() == 1)
        .collect();
    assert!(single.len() >= 2, "a machine without packages");
    let (renewed, added) = (single[0], single[1]);
    let now = [packages[renewed].clone(), packages[added].clone()];
    packages[renewed] = json!(format!("{}==0.0.1-before", names[renewed]));
    packages[added] = json!("zz-removed-since==1.0");
    let changes = diff(&world, &baseline).await;
    assert_eq!(counts(&changes), [1, 1, 1], "{changes}");
    assert_eq!(
        changes["added"][0],
        json!({ "path": format!("/packages/{added}"), "value": now[1] })
    );
    let removed = json!({ "path": format!("/packages/{added}"), "value": "zz-removed-since==1.0" });
    assert_eq!(changes["removed"][0], removed);
    let modified = &changes["modified"][0];
    assert_eq!(modified["path"], format!("/packages/{renewed}"));
    assert_eq!(modified["old"], format!("{}==0.0.1-before", names[renewed]));
    assert_eq!(modified["new"], now[0]);
}

#[tokio::test]
async fn what_is_no_baseline_is_refused() {
    let world = crate::start("").await;
    for (args, code, part) in [
        (json!({ "baseline": {} }), "invalid_input", "/baseline"),
        (json!({ "baseline": [] }), "invalid_input", "/baseline"),
        (json!({}), "invalid_input", "baseline"),
        (json!({ "baseline": { "weather": "fine" } }), "invalid_baseline", "none of their keys"),
    ] {
        let body = json!({ "args": args }).to_string();
        let answer = world.post("/v1/tools/diff_baseline", &body).await;
        assert_eq!(answer.status, 400, "{body}");
        let answer = answer.json();
        assert_eq!(answer["code"], code, "{body} {answer}");
        assert!(answer["error"].as_str().unwrap().contains(part), "{body} {answer}");
    }
}

/// D24.
#[tokio::test]
async fn every_call_is_one_line_in_adam_log() {
    let world = crate::start("journal: { path: ./adam.log }\n").await;
    let calls = [
        (json!({ "command": "list_hardware" }), "list_hardware"),
        (json!({ "command": "list_software" }), "list_software"),
        (json!({ "command": "diff_baseline", "baseline": { "kernel": "6" } }), "diff_baseline"),
        (json!({ "command": "diff_baseline", "baseline": { "x": 1 } }), "diff_baseline"),
    ];
    for (number, (args, tool)) in calls.iter().enumerate() {
        let body = json!({ "args": args }).to_string();
        world.post("/v1/tools/adam-sys-audit", &body).await;
        let log = world.read("adam.log");
        let lines: Vec<Value> = log.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
        let calls: Vec<_> = lines.iter().filter(|line| line["event"] == "tool_call").collect();
        assert_eq!(calls.len(), number + 1, "{log}");
        assert_eq!(calls[number]["tool"], *tool);
    }
    assert!(!world.has("data/journal.jsonl"));
}

#[tokio::test]
async fn very_many_changes_are_told_or_said_to_be_too_many() {
    let world = crate::start("").await;
    let packages: Vec<_> = (0..120_000).map(|number| format!("p{number}")).collect();
    let baseline = json!({ "packages": packages });
    let changes = diff(&world, &baseline).await;
    assert_eq!(counts(&changes)[1], 120_000);
    let body = json!({
        "tool": "diff_baseline",
        "input": { "baseline": baseline },
        "context": { "limits": { "max_output_bytes": 50_000 } },
    });
    let answer = world.execute(&body).await;
    answer.fails(413, "too_large");
}
