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
    HostConfig {
        observer: None,
        upstreams: vec![ConfiguredUpstream {
            id: "docs".into(),
            settings: UpstreamSettings::default(),
            target,
            unresolved: Some("upstreams.docs.env.A: not set".into()),
            overlays: BTreeMap::new(),
        }],
        rules: HostRules {
            allowlist: None,
            lock: None,
            taken: HashSet::new(),
            defaults: Limits::default(),
            policy: Arc::new(NoPolicy),
        },
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
async fn an_upstream_goes_on_through_a_reload_and_the_rules_are_new() {
    let folder = tempfile::tempdir().unwrap();
    let resolved = || {
        let mut config = config(folder.path());
        config.upstreams[0].unresolved = None;
        config
    };
    let host = Host::start(resolved());
    host.settled().await;
    let before = host.upstream("docs").unwrap();
    let mut lock = ContractLock::default();
    lock.upstreams.insert("docs".into(), PinnedListings::default());
    let mut next = resolved();
    next.rules.lock = Some(lock.clone());
    let reload = host.begin_reload(next).await;
    assert!(before.rules.load().lock.is_none(), "it is not in force yet");
    host.finish_reload(reload);
    assert!(Arc::ptr_eq(&before, &host.upstream("docs").unwrap()));
    assert_eq!(before.rules.load().lock.as_ref(), Some(&lock));

    let mut next = resolved();
    next.upstreams[0].settings.retries = 7;
    let reload = host.begin_reload(next).await;
    let changes = host.finish_reload(reload);
    assert_eq!(changes.restarted, ["docs"]);
    assert!(!Arc::ptr_eq(&before, &host.upstream("docs").unwrap()));

    let mut next = resolved();
    next.upstreams.clear();
    let reload = host.begin_reload(next).await;
    assert_eq!(host.finish_reload(reload).removed, ["docs"]);
    assert!(host.upstreams().is_empty());
    host.stop().await;
}
