//! Which jobs have to go.

use gate::{Job, JobId, JobRetention, JobState, RecordRetention, Timestamp};

use serde_json::value::to_raw_value;

use crate::{job, stores, with_artifact};

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
        let gone = vec![jobs[0].id.clone()];
        let none = Timestamp(0);
        let stays = RecordRetention {
            now: none,
            before: none,
            max_bytes: 1_000,
            max_quarantined: 10,
            max_approvals: 10,
        };
        store.forget(gone, stays).await.unwrap();
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
