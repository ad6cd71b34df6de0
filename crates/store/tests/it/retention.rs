//! Which jobs have to go.

use gate::{Job, JobId, JobRetention, JobState, RecordRetention, Timestamp};

use serde_json::value::to_raw_value;

use crate::{job, quarantine, stores, with_artifact};

fn policy(before: i64, max_jobs: u64, max_artifact_bytes: u64) -> JobRetention {
    JobRetention {
        before: Timestamp(before),
        max_jobs,
        max_artifact_bytes,
        max_bytes: 1_000_000,
        limit: 100,
    }
}

#[tokio::test]
async fn the_old_the_many_and_the_large_go_oldest_first() {
    for (_folder, store) in stores() {
        let jobs: Vec<_> =
            (1..=4).map(|at| with_artifact(job(at * 1_000, JobState::Succeeded), 100)).collect();
        for job in &jobs {
            store.record(job.clone()).await.unwrap();
        }
        let waiting = job(500, JobState::Queued);
        store.save(waiting.clone()).await.unwrap();
        let check = async |policy: JobRetention, expected: &[usize]| {
            let expected: Vec<JobId> =
                expected.iter().map(|index| jobs[*index].id.clone()).collect();
            assert_eq!(store.overdue(policy).await.unwrap(), expected, "{policy:?}");
        };
        check(policy(0, 100, 10_000), &[]).await;
        check(policy(2_500, 100, 10_000), &[0, 1]).await;
        // The one that waits counts, but does not go.
        check(policy(0, 3, 10_000), &[0, 1]).await;
        check(policy(0, 100, 250), &[0, 1]).await;
        check(policy(0, 100, 0), &[0, 1, 2, 3]).await;
        store.forget_jobs(vec![jobs[0].id.clone()]).await.unwrap();
        assert!(store.job(&jobs[0].id).await.unwrap().is_none());
        assert!(store.job(&waiting.id).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn the_caller_who_keeps_most_loses_its_oldest_jobs() {
    for (_folder, store) in stores() {
        let kept = |at, caller: &str, bytes: usize| Job {
            caller: caller.to_owned(),
            input: Some(to_raw_value(&"x".repeat(bytes / 2 - 2)).unwrap()),
            result: Some(to_raw_value(&"x".repeat(bytes / 2 - 2)).unwrap()),
            ..job(at, JobState::Succeeded)
        };
        let modest = kept(1_000, "modest", 100);
        let greedy: Vec<_> = (2..=5).map(|at| kept(at * 1_000, "greedy", 100)).collect();
        for job in greedy.iter().chain([&modest]) {
            store.record(job.clone()).await.unwrap();
        }
        let overdue = async |max_bytes| {
            let policy = JobRetention { max_bytes, ..policy(0, 100, 10_000) };
            store.overdue(policy).await.unwrap()
        };
        assert_eq!(overdue(500).await, []);
        assert_eq!(overdue(499).await, [greedy[0].id.clone()]);
        assert_eq!(overdue(300).await, [greedy[0].id.clone(), greedy[1].id.clone()]);
    }
}

#[tokio::test]
async fn the_caller_who_has_most_jobs_or_artifacts_loses_its_oldest() {
    for (_folder, store) in stores() {
        let of = |at, caller: &str| Job {
            caller: caller.to_owned(),
            ..with_artifact(job(at, JobState::Succeeded), 100)
        };
        let modest: Vec<_> = (1..=2).map(|at| of(at * 1_000, "modest")).collect();
        let greedy: Vec<_> = (3..=6).map(|at| of(at * 1_000, "greedy")).collect();
        for job in modest.iter().chain(&greedy) {
            store.record(job.clone()).await.unwrap();
        }
        let check = async |policy: JobRetention, expected: &[&Job]| {
            let expected: Vec<JobId> = expected.iter().map(|job| job.id.clone()).collect();
            assert_eq!(store.overdue(policy).await.unwrap(), expected, "{policy:?}");
        };
        let [g0, g1, g2, ..] = &greedy[..] else { unreachable!() };
        let [m0, m1] = &modest[..] else { unreachable!() };
        check(policy(0, 6, 600), &[]).await;
        check(policy(0, 4, 600), &[g0, g1]).await;
        check(policy(0, 6, 400), &[g0, g1]).await;
        // Once both have the same, both give back.
        check(policy(0, 6, 399), &[m0, g0, g1, g2]).await;
        check(policy(0, 2, 600), &[m0, g0, g1, g2]).await;
        check(JobRetention { limit: 1, ..policy(0, 2, 600) }, &[m0]).await;
        // What is too old is given back already.
        check(policy(4_500, 4, 600), &[m0, m1, g0, g1]).await;
    }
}

#[tokio::test]
async fn the_caller_who_has_most_in_quarantine_loses_its_oldest() {
    for (max_quarantined, max_bytes) in [(3, 1_000_000), (100, 60)] {
        for (_folder, store) in stores() {
            let now = Timestamp(100_000);
            for (at, caller) in [(1, "modest"), (2, "greedy"), (3, "greedy"), (4, "greedy")] {
                let mut entry = quarantine::entry(at, "a", caller);
                entry.payload = to_raw_value(&"x".repeat(18)).unwrap();
                store.quarantine(entry).await.unwrap();
            }
            let stays = RecordRetention {
                now,
                before: Timestamp(0),
                max_bytes,
                max_quarantined,
                max_approvals: 10,
            };
            store.forget(stays).await.unwrap();
            for (at, stays) in [(1, true), (2, false), (3, true), (4, true)] {
                let id = quarantine::entry(at, "", "").summary.id;
                assert_eq!(store.quarantined(&id, now).await.unwrap().is_some(), stays, "{id}");
            }
        }
    }
}
