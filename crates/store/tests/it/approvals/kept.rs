//! How long approvals are kept: with their jobs, through a restart, until they are old.

use gate::{
    Approval, ApprovalId, ApprovalState, JobId, JobState, RecordRetention, Timestamp,
    approvals::{ApprovalFilter, ApprovalLookup},
};

use super::{approval, approved, decide, naming, request, stands, state, usual, verdict, wanted};
use crate::{STORES, job, stores};

#[tokio::test]
async fn a_job_wakes_when_its_approval_waits_no_more() {
    for (_folder, store) in stores() {
        let mut waiting = Vec::new();
        for number in 0..5 {
            let mut one = job(1_000 + number, JobState::WaitingApproval);
            let of_job = Approval {
                job_id: Some(one.id.clone()),
                ..approval("x", &number.to_string(), "ada")
            };
            one.approval_id = Some(of_job.id.clone());
            // The row of the last one is gone.
            if number < 4 {
                request(&store, &of_job).await;
            }
            store.save(one.clone()).await.unwrap();
            waiting.push((one.id, of_job));
        }
        let due = async |at| -> Vec<JobId> {
            let due = store.due(Timestamp(at)).await.unwrap();
            due.jobs.into_iter().map(|job| job.id).collect()
        };
        let id = |index: usize| waiting[index].0.clone();
        assert_eq!(due(3_000).await, [id(4)]);
        decide(&store, &waiting[0].1.id, true).await;
        decide(&store, &waiting[1].1.id, false).await;
        assert_eq!(due(3_000).await, [id(0), id(1), id(4)]);
        assert_eq!(due(10_000).await, [id(0), id(1), id(2), id(3), id(4)]);
        // A job that was started, or cancelled, is nobody's to wake.
        assert!(store.start(&id(0), Timestamp(3_000)).await.unwrap().is_some());
        assert!(store.start(&id(0), Timestamp(3_000)).await.unwrap().is_none());
        let cancelled = store.cancel_queued(&id(2), Timestamp(3_000)).await.unwrap().unwrap();
        assert_eq!(cancelled[0].id, waiting[2].1.id);
        assert!(store.cancel_queued(&id(2), Timestamp(3_000)).await.unwrap().is_none());
        assert_eq!(due(10_000).await, [id(1), id(3), id(4)]);
        assert_eq!(state(&store, &waiting[2].1.id, 3_000).await, ApprovalState::Cancelled);
        // It is the job's alone.
        let of_job = &waiting[0].1;
        let named = Some(of_job.id.clone());
        for (lookup, expected) in [
            (ApprovalLookup { job_id: None, ..naming(of_job) }, ("nothing", named.clone())),
            (ApprovalLookup { job_id: None, ..wanted(of_job) }, ("nothing", None)),
            (ApprovalLookup { job_id: Some(id(1)), ..naming(of_job) }, ("nothing", named.clone())),
            (naming(of_job), ("used", named)),
        ] {
            assert_eq!(stands(&store, lookup, 3_000).await, expected);
        }
    }
}

#[tokio::test]
async fn what_waits_is_there_after_a_restart_and_what_ran_is_not_asked_for() {
    for kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let (waits, died);
        {
            let store = (kind.open)(folder.path());
            let mut one = job(1_000, JobState::WaitingApproval);
            let of_one = Approval { job_id: Some(one.id.clone()), ..usual() };
            one.approval_id = Some(of_one.id.clone());
            // The process died between asking and writing down that the job waits.
            let two = job(1_001, JobState::Running);
            let of_two = Approval { job_id: Some(two.id.clone()), ..usual() };
            for (job, approval) in [(&one, &of_one), (&two, &of_two)] {
                request(&store, approval).await;
                store.save(job.clone()).await.unwrap();
            }
            (waits, died) = ((one, of_one), (two, of_two));
        }
        let store = (kind.open)(folder.path());
        let recovered = store.recover(Timestamp(3_000), true).await.unwrap();
        assert_eq!(recovered.waiting, std::slice::from_ref(&waits.0.id));
        assert_eq!(recovered.interrupted.len(), 1);
        assert_eq!(recovered.interrupted[0].id, died.0.id);
        assert_eq!(recovered.queued, []);
        assert_eq!(recovered.cancelled[0].id, died.1.id);
        assert_eq!(state(&store, &waits.1.id, 3_000).await, ApprovalState::Waiting);
        // Nobody would ever use it.
        assert_eq!(state(&store, &died.1.id, 3_000).await, ApprovalState::Cancelled);
    }
}

#[tokio::test]
async fn the_old_go_and_what_waits_stays() {
    for (_folder, store) in stores() {
        let used = approved(&store).await;
        assert_eq!(stands(&store, naming(&used), 3_000).await.0, "used");
        let waits = Approval { expires_at: Timestamp(90_000), ..approval("x", "1", "ada") };
        let good = approval("x", "2", "ada");
        for one in [&waits, &good] {
            request(&store, one).await;
        }
        let (at, until) = (Timestamp(2_000), Timestamp(90_000));
        store.decide_approval(good.id.clone(), verdict(true), at, until).await.unwrap();
        let forget = async |before, max_approvals| {
            let (now, before) = (Timestamp(20_000), Timestamp(before));
            let stays = RecordRetention {
                max_bytes: 1_000,
                now,
                before,
                max_quarantined: 10,
                max_approvals,
            };
            store.forget(stays).await.unwrap();
        };
        forget(4_999, 10).await;
        assert!(store.approval(&used.id, Timestamp(0)).await.unwrap().is_some());
        forget(50_000, 10).await;
        assert!(store.approval(&used.id, Timestamp(0)).await.unwrap().is_none());
        assert_eq!(state(&store, &waits.id, 50_000).await, ApprovalState::Waiting);
        assert_eq!(stands(&store, naming(&good), 50_000).await.0, "used");
    }
}

#[tokio::test]
async fn above_the_number_those_go_that_say_nothing_any_more() {
    for (_folder, store) in stores() {
        let mut ids = Vec::new();
        for number in 0..6 {
            let one = Approval {
                id: ApprovalId::new(Timestamp(1_000 + number)),
                ..approval("x", &number.to_string(), "ada")
            };
            request(&store, &one).await;
            ids.push(one.id);
        }
        // Two refused, of which the first is over; one approved; the rest wait.
        for (number, approve, until) in [(0, false, 3_000), (1, false, 9_000), (2, true, 9_000)] {
            let (at, until) = (Timestamp(2_000), Timestamp(until));
            store.decide_approval(ids[number].clone(), verdict(approve), at, until).await.unwrap();
        }
        let stays = RecordRetention {
            max_bytes: 1_000,
            now: Timestamp(4_000),
            before: Timestamp(0),
            max_quarantined: 10,
            max_approvals: 2,
        };
        store.forget(stays).await.unwrap();
        let filter = ApprovalFilter { limit: 9, ..ApprovalFilter::default() };
        let left = store.approvals(filter, Timestamp(4_000)).await.unwrap();
        let left: Vec<_> = left.iter().rev().map(|one| &one.id).collect();
        assert_eq!(left, ids[1..].iter().collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn above_the_number_the_caller_who_has_most_loses_its_oldest() {
    for (_folder, store) in stores() {
        let mut ids = Vec::new();
        for (number, caller) in [(0, "modest"), (1, "greedy"), (2, "greedy"), (3, "greedy")] {
            let one = Approval {
                id: ApprovalId::new(Timestamp(1_000 + number)),
                ..approval("x", &number.to_string(), caller)
            };
            request(&store, &one).await;
            let (at, until) = (Timestamp(2_000), Timestamp(3_000));
            store.decide_approval(one.id.clone(), verdict(false), at, until).await.unwrap();
            ids.push(one.id);
        }
        let stays = RecordRetention {
            max_bytes: 1_000,
            now: Timestamp(4_000),
            before: Timestamp(0),
            max_quarantined: 10,
            max_approvals: 3,
        };
        store.forget(stays).await.unwrap();
        let filter = ApprovalFilter { limit: 9, ..ApprovalFilter::default() };
        let left = store.approvals(filter, Timestamp(4_000)).await.unwrap();
        let left: Vec<_> = left.iter().rev().map(|one| &one.id).collect();
        assert_eq!(left, [&ids[0], &ids[2], &ids[3]]);
    }
}

#[tokio::test]
async fn what_a_job_left_behind_is_cancelled_without_a_restart() {
    for (_folder, store) in stores() {
        let mut owner = job(1_000, JobState::Running);
        let one = Approval { job_id: Some(owner.id.clone()), ..usual() };
        request(&store, &one).await;
        store.save(owner.clone()).await.unwrap();
        assert!(!store.due(Timestamp(2_000)).await.unwrap().overdue);
        owner.state = JobState::Failed;
        store.save(owner).await.unwrap();
        assert!(store.due(Timestamp(2_000)).await.unwrap().overdue);
        let over = store.expire_approvals(Timestamp(2_000)).await.unwrap();
        assert_eq!((&over[0].id, over[0].state), (&one.id, ApprovalState::Cancelled));
        assert!(!store.due(Timestamp(2_000)).await.unwrap().overdue);
    }
}
