use serde_json::json;

use super::*;
use crate::{connection::Program, lock::PinnedListings};

struct NoPolicy;

impl ToolPolicy for NoPolicy {
    fn apply(&self, _: &mut Contract, _: &[String]) {}

    fn unmatched(&self, _: &str, _: &[String]) -> Vec<String> {
        Vec::new()
    }
}

/// A configuration with one upstream that cannot be started.
fn config(folder: &std::path::Path) -> HostConfig {
    let target = Target::Program(Program {
        command: "x".into(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: folder.to_owned(),
        limits: UpstreamSettings::default().resource_limits(),
        sandbox: None,
    });
    let lock_file = folder.join("toolgate.lock");
    HostConfig {
        observer: None,
        upstreams: vec![ConfiguredUpstream {
            id: "docs".into(),
            settings: UpstreamSettings::default(),
            target,
            unresolved: Some("upstreams.docs.env.A: not set".into()),
            overlays: BTreeMap::new(),
        }],
        overlay_source: Arc::new(|| None),
        allowlist: None,
        lock_stamp: FileStamp::of(&lock_file),
        lock: ContractLock::read(&lock_file).unwrap(),
        lock_file,
        taken: HashSet::new(),
        defaults: Limits::default(),
        policy: Arc::new(NoPolicy),
        capabilities: json!({}),
        spawner: Spawner::of_this_program(),
    }
}

#[tokio::test]
async fn an_upstream_that_cannot_be_started_is_down_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::start(config(folder.path()));
    host.settled().await;
    let status = &host.statuses()[0];
    assert!(
        matches!(&status.state, UpstreamState::Down { error, .. } if error.contains("docs.env.A"))
    );
    assert_eq!(status.restarts, 0);
    host.stop().await;
}

#[tokio::test]
async fn a_lock_that_is_written_before_we_look_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let mut lock = ContractLock::default();
    lock.upstreams.insert("docs".into(), PinnedListings::default());
    lock.write(&config.lock_file).unwrap();
    let host = Host::start(config);
    testkit::eventually("the lock is reloaded", async || host.shared.lock.load_full()).await;
    assert_eq!(host.shared.lock.load_full().as_deref(), Some(&lock));
    host.stop().await;
}
