//! Then and now.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::PackageScope;

fn changes(old: &Value, new: &Value) -> MachineChanges {
    Baseline::read(old).unwrap().changes(new.as_object().unwrap())
}

fn counts(changes: &MachineChanges) -> (usize, usize, usize) {
    (changes.added.len(), changes.removed.len(), changes.modified.len())
}

fn machine() -> Value {
    json!({
        "cpu": { "cores": 4, "threads": 8, "frequency_mhz": 3_000 },
        "gpus": [
            { "name": "A", "vram_gb": 24.0, "driver_version": "1" },
            { "name": "A", "vram_gb": 24.0, "driver_version": "1" },
            { "name": "B", "vram_gb": null, "driver_version": null },
        ],
        "ram_gb": { "total": 64.0, "used": 8.0, "free": 56.0 },
        "disks": [
            { "mount": "/", "size_gb": 100.0, "used_gb": 50.0 },
            { "mount": "/data", "size_gb": 1000.0, "used_gb": 10.0 },
        ],
        "os": "linux",
        "container": { "detected": false, "kind": null, "cpu_limit": null, "memory_limit_gb": null },
    })
}

/// The machine with another value at a pointer.
fn with(pointer: &str, value: Value) -> Value {
    let mut machine = machine();
    *machine.pointer_mut(pointer).unwrap() = value;
    machine
}

#[test]
fn what_moves_by_itself_is_no_change() {
    assert!(changes(&machine(), &machine()).is_empty());
    for (pointer, quiet, loud) in [
        ("/cpu/frequency_mhz", json!(3_700), json!(3_800)),
        ("/cpu/frequency_mhz", json!(2_400.5), json!(2_300)),
        ("/cpu/frequency_mhz", json!(0), json!(1)),
        ("/ram_gb/used", json!(40.0), json!(40.1)),
        ("/ram_gb/free", json!(24), json!(23.9)),
        ("/ram_gb/total", json!(63.5), json!(62)),
        ("/disks/0/used_gb", json!(70), json!(70.1)),
        ("/disks/0/size_gb", json!(101), json!(102)),
        ("/gpus/0/vram_gb", json!(23.9), json!(16)),
        ("/cpu/cores", json!(4.0), json!(5)),
        ("/os", json!("linux"), json!("macos")),
        ("/container/memory_limit_gb", json!(null), json!(4)),
        ("/container/detected", json!(false), json!(true)),
        ("/gpus/2/driver_version", json!(null), json!("2")),
    ] {
        let quiet = with(pointer, quiet);
        assert!(changes(&machine(), &quiet).is_empty(), "{quiet}");
        let now = with(pointer, loud.clone());
        let changes = changes(&machine(), &now);
        let old = machine().pointer(pointer).unwrap().clone();
        let expected = Modification { path: pointer.into(), old, new: loud };
        assert_eq!(counts(&changes), (0, 0, 1), "{pointer}");
        assert_eq!(changes.modified, [expected]);
    }
}

#[test]
fn elements_of_lists_are_known_by_name() {
    let mut now = machine();
    // One of two of a kind went, and with it the first place.
    now["gpus"].as_array_mut().unwrap().remove(0);
    now["disks"] = json!([
        { "mount": "/backup", "size_gb": 10.0, "used_gb": 1.0 },
        { "mount": "/data", "size_gb": 2000.0, "used_gb": 10.0 },
    ]);
    let found = changes(&machine(), &now);
    let paths = |found: Vec<&str>| found.join(" ");
    assert_eq!(paths(found.added.iter().map(|it| &*it.path).collect()), "/disks/0");
    assert_eq!(paths(found.removed.iter().map(|it| &*it.path).collect()), "/gpus/1 /disks/0");
    assert_eq!(paths(found.modified.iter().map(|it| &*it.path).collect()), "/disks/1/size_gb");
    assert_eq!(found.removed[1].value["mount"], "/");
}

#[test]
fn a_partial_baseline_lacks_only_what_the_seed_has() {
    let baseline = json!({ "cpu": { "cores": 4 }, "gpus": [], "ram_gb": {}, "disks": [] });
    let mut now = machine();
    now["gpus"] = json!([]);
    now["disks"] = json!([]);
    let found = changes(&baseline, &now);
    let added: Vec<_> = found.added.iter().map(|it| it.path.as_str()).collect();
    let expected = [
        "/cpu/threads",
        "/cpu/frequency_mhz",
        "/ram_gb/total",
        "/ram_gb/used",
        "/ram_gb/free",
        "/os",
    ];
    assert_eq!(added, expected);
    assert_eq!(counts(&found), (6, 0, 0));
}

#[test]
fn packages_are_compared_by_name() {
    let software = |packages: Value| json!({ "kernel": "6", "packages": packages });
    let old =
        software(json!(["a==1", "Gone_Thing==2", "MLX_lm==3", "same==1", "two==1", "two==2"]));
    let new = software(json!(["a==2", "mlx-lm==3", "new==1", "same==1", "two==2", "two==3"]));
    let found = changes(&old, &new);
    assert_eq!(
        serde_json::to_value(&found).unwrap(),
        json!({
            "added": [{ "path": "/packages/2", "value": "new==1" }],
            "removed": [{ "path": "/packages/1", "value": "Gone_Thing==2" }],
            "modified": [
                { "path": "/packages/0", "old": "a==1", "new": "a==2" },
                { "path": "/packages/5", "old": "two==1", "new": "two==3" },
            ],
        })
    );
    assert!(
        changes(&software(json!(["x", "x", "x==", "a==1"])), &software(json!(["a==1", "x"])))
            .is_empty()
    );
}

#[test]
fn a_baseline_is_compared_with_what_it_had() {
    let key = KeyPackages::new(["git"]);
    let scope = |baseline: &Value| {
        let baseline = Baseline::read(baseline).unwrap();
        assert_eq!(baseline.kind(), BaselineKind::Software);
        baseline.selection(&key).scope()
    };
    assert_eq!(scope(&json!({ "kernel": "6", "packages_scope": "all" })), PackageScope::All);
    assert_eq!(scope(&json!({ "kernel": "6", "packages_scope": "key" })), PackageScope::Key);
    assert_eq!(scope(&json!({ "kernel": "6" })), PackageScope::Key);
}

#[test]
fn a_baseline_of_the_seed_is_compared_with_key_packages_and_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let status = folder.path().join("var/lib/dpkg/status");
    std::fs::create_dir_all(status.parent().unwrap()).unwrap();
    let package =
        |name: &str| format!("Package: {name}\nStatus: install ok installed\nVersion: 1\n\n");
    std::fs::write(&status, package("git") + &package("named") + &package("other")).unwrap();
    let key = KeyPackages::new(["git"]);
    let machine = MachineEnvironment::under(folder.path());
    let baseline = json!({
        "os_version": "Linux", "kernel": "unknown", "python_version": "not found",
        "packages": ["lost==1", "named==0"],
    });
    let found = diff(&machine, &key, &baseline).unwrap();
    assert_eq!(counts(&found), (1, 1, 1));
    assert_eq!(found.added[0].value, "git==1");
    assert_eq!(found.removed[0].value, "lost==1");
    assert_eq!(found.modified[0].new, "named==1");
}

#[test]
fn what_is_no_baseline_is_named() {
    for (baseline, expected) in [
        (json!([]), "this is no object"),
        (json!({}), "none of their keys"),
        (json!({ "packages_scope": "all", "container": {} }), "none of their keys"),
        (json!({ "tool": "x", "ok": true, "result": machine() }), "give what is in its `result`"),
        (json!({ "os": "linux", "kernel": "6" }), "keys of both"),
        (json!({ "cpu": 4 }), "`/baseline/cpu` must be an object"),
        (json!({ "cpu": { "cores": "4" } }), "`/baseline/cpu/cores` must be a number"),
        (json!({ "disks": {} }), "`/baseline/disks` must be an array of at most 10000 objects"),
        (json!({ "disks": [1] }), "`/baseline/disks/0` must be an object"),
        (json!({ "disks": [{}] }), "`/baseline/disks/0/mount` must be there"),
        (json!({ "gpus": [{ "name": null }] }), "`/baseline/gpus/0/name` must be a text"),
        (json!({ "os": "x", "container": [] }), "`/baseline/container` must be an object"),
        (json!({ "kernel": 6 }), "`/baseline/kernel` must be a text"),
        (json!({ "packages": "x" }), "must be an array of at most 200000 texts"),
        (json!({ "packages": ["a==1", 2] }), "`/baseline/packages/1` must be a text such as"),
        (json!({ "gpus": vec![json!({ "name": "x" }); 10_001] }), "at most 10000 objects"),
        (json!({ "packages": vec!["x"; 200_001] }), "at most 200000 texts"),
        (json!({ "kernel": "6", "packages_scope": 1 }), "must be `key` or `all`"),
    ] {
        let error = Baseline::read(&baseline).unwrap_err().to_string();
        assert!(error.contains(expected), "{baseline}: {error}");
    }
}

/// A list of packages as a machine has it: sorted, each once.
fn installed() -> impl Strategy<Value = Vec<String>> {
    let package = ("[a-f]", "[0-3]").prop_map(|(name, version)| format!("{name}=={version}"));
    proptest::collection::btree_set(package, 0..12).prop_map(|set| set.into_iter().collect())
}

/// Any JSON, and often something that looks like a baseline.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        "[a-c=]{0,4}".prop_map(Value::from),
    ];
    let key = "cpu|gpus|ram_gb|disks|os|container|os_version|kernel|packages|packages_scope|\
        cores|name|mount|total|used|size_gb|result";
    leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn anything_is_judged_without_a_panic(baseline in anything(), now in anything()) {
        if let Ok(read) = Baseline::read(&baseline) {
            read.selection(&KeyPackages::default());
            prop_assert!(read.changes(baseline.as_object().unwrap()).is_empty());
            if let Some(now) = now.as_object() {
                read.changes(now);
            }
        }
    }

    #[test]
    fn changes_lead_from_then_to_now(old in installed(), new in installed()) {
        let wrap = |packages: &[String]| json!({ "packages": packages });
        let found = changes(&wrap(&old), &wrap(&new));
        let (then, now) = (wrap(&old), wrap(&new));
        let mut packages = old.clone();
        let mut drop = |value: &Value| {
            let at = packages.iter().position(|package| package == value).unwrap();
            packages.remove(at);
        };
        for removal in &found.removed {
            prop_assert_eq!(then.pointer(&removal.path), Some(&removal.value));
            drop(&removal.value);
        }
        found.modified.iter().for_each(|change| drop(&change.old));
        for (path, value) in found
            .added
            .iter()
            .map(|it| (&it.path, &it.value))
            .chain(found.modified.iter().map(|it| (&it.path, &it.new)))
        {
            prop_assert_eq!(now.pointer(path), Some(value));
            packages.push(value.as_str().unwrap().to_owned());
        }
        packages.sort_unstable();
        prop_assert_eq!(packages, new);
        prop_assert_eq!(changes(&wrap(&old), &wrap(&old)), MachineChanges::default());
    }

    #[test]
    fn disks_come_and_go(
        old in proptest::collection::btree_map("/[a-d]", 1_u32..4, 0..5),
        new in proptest::collection::btree_map("/[a-d]", 1_u32..4, 0..5),
    ) {
        let wrap = |disks: &std::collections::BTreeMap<String, u32>| {
            let disk = |(mount, size): (&String, &u32)| {
                json!({ "mount": mount, "size_gb": size, "used_gb": 0 })
            };
            json!({ "os": "linux", "disks": disks.iter().map(disk).collect::<Vec<_>>() })
        };
        let mut now = wrap(&new);
        for key in ["cpu", "gpus", "ram_gb"] {
            now[key] = Value::Null;
        }
        let mut baseline = wrap(&old);
        baseline["gpus"] = json!([]);
        let found = changes(&baseline, &now);
        let only = |these: &std::collections::BTreeMap<String, u32>, those: &std::collections::BTreeMap<String, u32>| {
            these.keys().filter(|mount| !those.contains_key(*mount)).count()
        };
        let differ = old.iter().filter(|(mount, size)| new.get(*mount).is_some_and(|now| now != *size));
        let disks = |path: &str| path.starts_with("/disks/");
        prop_assert_eq!(found.added.iter().filter(|it| disks(&it.path)).count(), only(&new, &old));
        prop_assert_eq!(found.removed.iter().filter(|it| disks(&it.path)).count(), only(&old, &new));
        prop_assert_eq!(found.modified.iter().filter(|it| disks(&it.path)).count(), differ.count());
    }
}
