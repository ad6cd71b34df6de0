use serde_json::json;

use super::*;
use crate::{connection::Program, lock::Pinned};

/// A plan with one upstream that cannot be started.
fn plan(folder: &std::path::Path) -> Plan {
    let target = Target::Program(Program {
        command: "x".into(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: folder.to_owned(),
        limits: Upstream::default().resource_limits(),
        sandbox: None,
    });
    let lock_file = folder.join("toolgate.lock");
    Plan {
        upstreams: vec![Configured {
            id: "docs".into(),
            settings: Upstream::default(),
            target,
            unresolved: Some("upstreams.docs.env.A: not set".into()),
            overlays: BTreeMap::new(),
        }],
        latest: Arc::new(|| None),
        allowlist: None,
        lock_seen: lock::stamp(&lock_file),
        lock: Lock::read(&lock_file).unwrap(),
        lock_file,
        taken: HashSet::new(),
        defaults: Limits::default(),
        adjust: Arc::new(|_| ()),
        capabilities: json!({}),
        spawner: Spawner::of_this_program(),
    }
}

#[tokio::test]
async fn an_upstream_that_cannot_be_started_is_down_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::start(plan(folder.path()));
    host.settled().await;
    let report = &host.reports()[0];
    assert!(matches!(&report.phase, Phase::Down { error } if error.contains("docs.env.A")));
    assert_eq!(report.restarts, 0);
    host.stop().await;
}

#[tokio::test]
async fn a_lock_that_is_written_before_we_look_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path());
    let mut lock = Lock::default();
    lock.upstreams.insert("docs".into(), Pinned::default());
    lock.write(&plan.lock_file).unwrap();
    let host = Host::start(plan);
    for _ in 0..10 {
        tokio::time::sleep(LOOK_INTERVAL).await;
        if host.shared.lock.load().is_some() {
            break;
        }
    }
    assert_eq!(host.shared.lock.load_full().as_deref(), Some(&lock));
    host.stop().await;
}
