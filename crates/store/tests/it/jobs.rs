//! Jobs: written, read back, listed, recovered.

use gate::{ClaimResult, IdempotencyClaim, JobFilter, JobState, Store, Timestamp};

use crate::{job, stores, with_artifact};

#[tokio::test]
async fn a_job_comes_back_as_it_was() {
    for (_folder, store) in stores() {
        let saved = with_artifact(job(1_000, JobState::Succeeded), 7);
        store.record(saved.clone()).await.unwrap();
        let found = store.job(&saved.id).await.unwrap().unwrap();
        assert_eq!(serde_json::to_string(&found).unwrap(), serde_json::to_string(&saved).unwrap());
        assert_eq!((found.limits, found.http_status), (saved.limits, 200));
        assert!(store.job(&job(1, JobState::Failed).id).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn what_a_job_was_accepted_with_stays() {
    for (_folder, store) in stores() {
        let accepted = job(1_000, JobState::Queued);
        store.save(accepted.clone()).await.unwrap();
        let started = store.start(&accepted.id, Timestamp(2_000)).await.unwrap().unwrap();
        assert_eq!(started.pending.unwrap().get(), r#"{"message":"secret"}"#);
        assert!(store.start(&accepted.id, Timestamp(2_000)).await.unwrap().is_none(), "only once");
        let mut ended = accepted.clone();
        ended.state = JobState::Succeeded;
        ended.created_at = Timestamp(9_999);
        ended.pending = None;
        store.save(ended).await.unwrap();
        let found = store.job(&accepted.id).await.unwrap().unwrap();
        assert_eq!((found.state, found.created_at), (JobState::Succeeded, Timestamp(1_000)));
        assert!(found.pending.is_none(), "the arguments as given are gone");
    }
}

#[tokio::test]
async fn jobs_are_listed_newest_first_and_short() {
    for (_folder, store) in stores() {
        let jobs: Vec<_> = (1..=5).map(|at| job(at * 1_000, JobState::Succeeded)).collect();
        for job in &jobs {
            store.record(job.clone()).await.unwrap();
        }
        let filter = JobFilter { limit: 3, ..JobFilter::default() };
        let page = store.jobs(filter).await.unwrap();
        let ids = |jobs: &[gate::Job]| jobs.iter().map(|job| job.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&page), [&jobs[4], &jobs[3], &jobs[2]].map(|job| job.id.clone()));
        assert!(page[0].result.is_none());
        let cursor = Some(page[2].id.clone());
        let rest =
            store.jobs(JobFilter { cursor, limit: 9, ..JobFilter::default() }).await.unwrap();
        assert_eq!(ids(&rest), [&jobs[1], &jobs[0]].map(|job| job.id.clone()));
    }
}

#[tokio::test]
async fn after_a_start_running_jobs_are_interrupted_and_queued_ones_come_back() {
    for (_folder, store) in stores() {
        let running = job(1_000, JobState::Running);
        let queued = [job(2_000, JobState::Queued), job(3_000, JobState::Queued)];
        for job in [&running, &queued[1], &queued[0]] {
            store.save(job.clone()).await.unwrap();
        }
        let recovered = store.recover(Timestamp(9_000), true).await.unwrap();
        let [found] = &*recovered.interrupted else { panic!("{recovered:?}") };
        assert_eq!((&found.id, &found.request_id), (&running.id, &running.request_id));
        assert_eq!((&found.caller, &found.tool), (&running.caller, &running.tool));
        assert_eq!(found.input_sha256, running.input_sha256);
        let ids: Vec<_> = recovered.queued.into_iter().map(|job| job.id).collect();
        assert_eq!(ids, [queued[0].id.clone(), queued[1].id.clone()]);
        let found = store.job(&running.id).await.unwrap().unwrap();
        assert_eq!(found.state, JobState::Interrupted);
    }
}

#[tokio::test]
async fn a_key_is_taken_once_and_with_its_job() {
    for (_folder, store) in stores() {
        let claim = |input: &str| IdempotencyClaim {
            caller: "ada".into(),
            tool: "echo_json".into(),
            key: "k".into(),
            input_sha256: input.into(),
        };
        let first = job(1_000, JobState::Running);
        let claimed = store.claim(claim("one"), first.clone()).await.unwrap();
        assert!(matches!(claimed, ClaimResult::New));
        assert!(store.job(&first.id).await.unwrap().is_some());
        let again = job(2_000, JobState::Running);
        let claimed = store.claim(claim("one"), again.clone()).await.unwrap();
        assert!(matches!(claimed, ClaimResult::Known(id) if id == first.id));
        assert!(store.job(&again.id).await.unwrap().is_none());
        let other = store.claim(claim("two"), again).await.unwrap();
        assert!(matches!(other, ClaimResult::Conflict));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_writers_at_once_lose_nothing() {
    for (_folder, store) in stores() {
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..400 {
            let store = store.clone();
            tasks.spawn(async move {
                let job = job(1_000 + number, JobState::Succeeded);
                if number % 2 == 0 {
                    store.record(job.clone()).await.unwrap();
                } else {
                    store.save(job.clone()).await.unwrap();
                }
                assert!(store.job(&job.id).await.unwrap().is_some());
            });
        }
        while let Some(task) = tasks.join_next().await {
            task.unwrap();
        }
        let filter = JobFilter { limit: 1_000, ..JobFilter::default() };
        assert_eq!(store.jobs(filter).await.unwrap().len(), 400);
    }
}

#[tokio::test]
async fn what_a_job_waited_with_is_on_no_free_page_when_it_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let store = crate::direct(folder.path());
    let secret = "the-secret-of-the-call";
    let arguments = format!("[{}\"\"]", format!("\"{secret}\",").repeat(2_000));
    let mut one = job(1_000, JobState::Queued);
    one.pending = serde_json::value::RawValue::from_string(arguments).ok();
    store.save(one.clone()).await.unwrap();
    one.pending = None;
    one.state = JobState::Succeeded;
    one.finished_at = Some(Timestamp(2_000));
    store.record(one).await.unwrap();
    drop(store);
    let file = folder.path().join("toolgate.db");
    // The last one to close the database folds its log into it.
    rusqlite::Connection::open(&file)
        .and_then(|last| last.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
        .unwrap();
    let bytes = std::fs::read(file).unwrap();
    let found = bytes.windows(secret.len()).filter(|part| *part == secret.as_bytes()).count();
    assert_eq!(found, 0);
}
