//! Quarantined answers as they are kept.

use std::sync::Arc;

use gate::{
    JobId, RecordRetention, Store, Timestamp,
    quarantine::{
        MAX_RELEASED, QuarantineEntry, QuarantineFilter, QuarantineState, QuarantineSummary,
        ReleaseDecision, ReleaseError, ReleaseResult, StoredViolation,
    },
};
use serde_json::value::RawValue;

use crate::stores;

pub fn entry(number: u32, tool: &str, caller: &str) -> QuarantineEntry {
    QuarantineEntry {
        summary: QuarantineSummary {
            id: format!("q_{number:026}"),
            state: QuarantineState::Held,
            tool: tool.into(),
            caller: caller.into(),
            request_id: "req".into(),
            job_id: Some(JobId::new(Timestamp(1)).to_string()),
            input_sha256: format!("{number:064}"),
            created_at: Timestamp(i64::from(number)),
            reason: "it is wrong".into(),
            violations: vec![StoredViolation {
                pointer: "/a".into(),
                keyword: "type".into(),
                message: "must be a text".into(),
            }],
            whole: true,
            decided_at: None,
            decided_by: None,
            decision_reason: None,
            expires_at: None,
            delivered_at: None,
        },
        payload: RawValue::from_string("{\"a\":1}".into()).unwrap(),
    }
}

fn decision() -> ReleaseDecision {
    ReleaseDecision { by: "operator".into(), reason: None }
}

async fn names(store: &Arc<dyn Store>, filter: QuarantineFilter) -> Vec<u32> {
    let listed = store.all_quarantined(filter, Timestamp(0)).await.unwrap();
    listed.iter().map(|entry| entry.id[2..].parse().unwrap()).collect()
}

#[tokio::test]
async fn is_listed_by_what_is_asked_for() {
    for (_folder, store) in stores() {
        for (number, tool, caller) in
            [(1, "a", "ada"), (2, "a", "eve"), (3, "b", "ada"), (4, "b", "eve")]
        {
            store.quarantine(entry(number, tool, caller)).await.unwrap();
        }
        let (now, until) = (Timestamp(0), Timestamp(10));
        store
            .release_quarantined(&entry(3, "", "").summary.id, decision(), now, until)
            .await
            .unwrap();
        let all = || QuarantineFilter { limit: 10, ..QuarantineFilter::default() };
        assert_eq!(names(&store, all()).await, [4, 3, 2, 1]);
        assert_eq!(names(&store, QuarantineFilter { limit: 2, ..all() }).await, [4, 3]);
        let cursor = Some(entry(3, "", "").summary.id);
        assert_eq!(names(&store, QuarantineFilter { cursor, ..all() }).await, [2, 1]);
        assert_eq!(
            names(&store, QuarantineFilter { tool: Some("a".into()), ..all() }).await,
            [2, 1]
        );
        let of_ada = QuarantineFilter { caller: Some("ada".into()), ..all() };
        assert_eq!(names(&store, of_ada).await, [3, 1]);
        let in_state = |state| QuarantineFilter { state: Some(state), ..all() };
        assert_eq!(names(&store, in_state(QuarantineState::Released)).await, [3]);
        assert_eq!(names(&store, in_state(QuarantineState::Held)).await, [4, 2, 1]);
        // A release that is over is none.
        let later = store.all_quarantined(in_state(QuarantineState::Held), until).await.unwrap();
        assert_eq!(later.len(), 4);
        let one = store.quarantined(&entry(1, "", "").summary.id, now).await.unwrap().unwrap();
        assert_eq!((one.payload.get(), &*one.summary.violations[0].pointer), ("{\"a\":1}", "/a"));
        assert!(store.quarantined("q_' OR 1=1 --", now).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn so_many_are_released_and_no_more() {
    for (_folder, store) in stores() {
        let (now, until) = (Timestamp(0), Timestamp(10));
        let most = u32::try_from(MAX_RELEASED).unwrap();
        for number in 1..=most + 1 {
            let entry = entry(number, "a", "ada");
            let id = entry.summary.id.clone();
            store.quarantine(entry).await.unwrap();
            let release = store.release_quarantined(&id, decision(), now, until).await.unwrap();
            if number <= most {
                assert!(matches!(release, ReleaseResult::Done(_)), "{number}");
            } else {
                assert!(matches!(release, ReleaseResult::Refused(_, ReleaseError::Full)));
            }
        }
        assert_eq!(store.released(now).unwrap().len(), MAX_RELEASED);
        assert_eq!(store.released(until).unwrap().len(), 0);
    }
}

#[tokio::test]
async fn what_was_promised_stays_when_old_entries_go() {
    for (_folder, store) in stores() {
        for number in 1..=4 {
            store.quarantine(entry(number, "a", "ada")).await.unwrap();
        }
        let id = entry(2, "", "").summary.id;
        store.release_quarantined(&id, decision(), Timestamp(5), Timestamp(100)).await.unwrap();
        let stays = |now| RecordRetention {
            max_bytes: 1_000,
            now: Timestamp(now),
            before: Timestamp(4),
            max_quarantined: 1,
            max_approvals: 1,
        };
        let all = || QuarantineFilter { limit: 10, ..QuarantineFilter::default() };
        store.forget(stays(99)).await.unwrap();
        assert_eq!(names(&store, all()).await, [4, 2]);
        store.forget(stays(100)).await.unwrap();
        assert_eq!(names(&store, all()).await, [4]);
        let stays = RecordRetention { max_bytes: 1, ..stays(100) };
        store.forget(stays).await.unwrap();
        assert!(names(&store, all()).await.is_empty());
    }
}
