//! Approvals as a store keeps them: used once, for one call, for a while.

mod kept;

use std::sync::Arc;

use gate::{
    Approval, ApprovalId, ApprovalState, JobId, JobState, Store, Timestamp,
    approvals::{
        ApprovalDecision, ApprovalFilter, ApprovalLookup, ApprovalMatch, ApprovalSettings,
        DecisionResult, RequestedApproval,
    },
};
use tokio::task::JoinSet;

use crate::{STORES, job, stores};

/// A call that waits from 1 s to 10 s.
pub fn approval(tool: &str, input: &str, caller: &str) -> Approval {
    let raw = serde_json::value::RawValue::from_string(r#"{"path":"é"}"#.into()).ok();
    Approval {
        id: ApprovalId::new(Timestamp(1_000)),
        state: ApprovalState::Waiting,
        tool: tool.into(),
        caller: caller.into(),
        door: "rest".into(),
        request_id: "req".into(),
        job_id: None,
        input_sha256: input.into(),
        input: raw,
        preview: Some("--- a\n+++ b".into()),
        created_at: Timestamp(1_000),
        expires_at: Timestamp(10_000),
        decided_at: None,
        decided_by: None,
        reason: None,
    }
}

fn usual() -> Approval {
    approval("write_file", "aa", "ada")
}

fn wanted(approval: &Approval) -> ApprovalLookup {
    ApprovalLookup {
        caller: approval.caller.clone(),
        tool: approval.tool.clone(),
        input_sha256: approval.input_sha256.clone(),
        job_id: approval.job_id.clone(),
        named: None,
    }
}

fn naming(approval: &Approval) -> ApprovalLookup {
    ApprovalLookup { named: Some(approval.id.clone()), ..wanted(approval) }
}

fn verdict(approve: bool) -> ApprovalDecision {
    ApprovalDecision { approve, by: "operator".into(), reason: Some("because".into()) }
}

/// Decides at 2 s; what is decided is good until 5 s.
async fn decide(store: &Arc<dyn Store>, id: &ApprovalId, approve: bool) -> DecisionResult {
    let (at, until) = (Timestamp(2_000), Timestamp(5_000));
    store.decide_approval(id.clone(), verdict(approve), at, until).await.unwrap()
}

async fn request(store: &Arc<dyn Store>, approval: &Approval) -> RequestedApproval {
    store.request_approval(approval.clone(), ApprovalSettings::default()).await.unwrap()
}

async fn approved(store: &Arc<dyn Store>) -> Approval {
    let one = usual();
    assert!(matches!(request(store, &one).await, RequestedApproval::New));
    assert!(matches!(decide(store, &one.id, true).await, DecisionResult::Done(_)));
    one
}

/// A word for how a call stands, and the approval that is meant.
async fn stands(
    store: &Arc<dyn Store>,
    wanted: ApprovalLookup,
    at: i64,
) -> (&'static str, Option<ApprovalId>) {
    match store.use_approval(wanted, Timestamp(at)).await.unwrap() {
        ApprovalMatch::Used(one) => ("used", Some(one.id)),
        ApprovalMatch::Refused(one) => ("refused", Some(one.id)),
        ApprovalMatch::Waiting(one) => ("waiting", Some(one.id)),
        ApprovalMatch::Nothing(one) => ("nothing", one.map(|one| one.id)),
        ApprovalMatch::Changed(one) => ("changed", Some(one.id)),
    }
}

async fn state(store: &Arc<dyn Store>, id: &ApprovalId, at: i64) -> ApprovalState {
    store.approval(id, Timestamp(at)).await.unwrap().unwrap().state
}

#[tokio::test]
async fn a_request_reads_back_as_it_was() {
    for kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let one = Approval { job_id: Some(JobId::new(Timestamp(1))), ..usual() };
        {
            let store = (kind.open)(folder.path());
            assert!(matches!(request(&store, &one).await, RequestedApproval::New));
        }
        let store = (kind.open)(folder.path());
        let found = store.approval(&one.id, Timestamp(1_500)).await.unwrap().unwrap();
        let print = |one: &Approval| serde_json::to_value(one).unwrap();
        assert_eq!(print(&found), print(&one));
        let DecisionResult::Done(decided) = decide(&store, &one.id, false).await else { panic!() };
        assert_eq!(decided.state, ApprovalState::Refused);
        assert_eq!(decided.reason.as_deref(), Some("because"));
        assert_eq!(decided.decided_by.as_deref(), Some("operator"));
        assert_eq!(decided.decided_at, Some(Timestamp(2_000)));
        assert_eq!(decided.expires_at, Timestamp(5_000));
        let other = ApprovalId::new(Timestamp(1_000));
        assert!(store.approval(&other, Timestamp(0)).await.unwrap().is_none());
        assert!(matches!(decide(&store, &other, true).await, DecisionResult::Unknown));
    }
}

#[tokio::test]
async fn an_approval_is_used_once_with_or_without_its_name() {
    for named in [true, false] {
        for (_folder, store) in stores() {
            let one = approved(&store).await;
            let wants = || if named { naming(&one) } else { wanted(&one) };
            let id = Some(one.id.clone());
            assert_eq!(stands(&store, wants(), 3_000).await, ("used", id.clone()));
            let left = id.filter(|_| named);
            for _ in 0..3 {
                assert_eq!(stands(&store, wants(), 3_000).await, ("nothing", left.clone()));
            }
            assert_eq!(state(&store, &one.id, 3_000).await, ApprovalState::Used);
            assert!(matches!(decide(&store, &one.id, true).await, DecisionResult::TooLate(_)));
            assert_eq!(stands(&store, wants(), 3_000).await, ("nothing", left));
        }
    }
}

#[tokio::test]
async fn nothing_but_an_approval_lets_a_call_run() {
    for (_folder, store) in stores() {
        let one = usual();
        let both = async |at, expected: (&'static str, Option<ApprovalId>)| {
            assert_eq!(stands(&store, wanted(&one), at).await, expected);
            assert_eq!(stands(&store, naming(&one), at).await, expected);
        };
        both(1_000, ("nothing", None)).await;
        request(&store, &one).await;
        both(1_000, ("waiting", Some(one.id.clone()))).await;
        decide(&store, &one.id, false).await;
        both(3_000, ("refused", Some(one.id.clone()))).await;
        // A no is good for as long as a yes would be, and then the person may be asked again.
        assert_eq!(stands(&store, wanted(&one), 4_999).await, ("refused", Some(one.id.clone())));
        assert_eq!(stands(&store, wanted(&one), 5_000).await, ("nothing", None));
        // Also who names it may ask again then.
        assert_eq!(stands(&store, naming(&one), 5_000).await, ("nothing", Some(one.id.clone())));
    }
}

#[tokio::test]
async fn it_is_for_one_call_of_one_caller() {
    for (_folder, store) in stores() {
        let one = approved(&store).await;
        let others = [
            Approval { caller: "eve".into(), ..usual() },
            Approval { tool: "read_file".into(), ..usual() },
            Approval { input_sha256: "ab".into(), ..usual() },
            Approval { input_sha256: String::new(), ..usual() },
            Approval { job_id: Some(JobId::new(Timestamp(1))), ..usual() },
        ];
        for other in &others {
            assert_eq!(stands(&store, wanted(other), 3_000).await, ("nothing", None), "{other:?}");
        }
        // Of somebody else's nothing is told, and nothing happens to it.
        let probe = ApprovalLookup { caller: "eve".into(), ..naming(&one) };
        assert_eq!(stands(&store, probe, 3_000).await, ("nothing", None));
        let probe =
            ApprovalLookup { caller: "eve".into(), tool: "read_file".into(), ..naming(&one) };
        assert_eq!(stands(&store, probe, 3_000).await, ("nothing", None));
        assert_eq!(state(&store, &one.id, 3_000).await, ApprovalState::Approved);
        assert_eq!(stands(&store, naming(&one), 3_000).await.0, "used");
    }
}

#[tokio::test]
async fn a_caller_that_goes_on_to_other_arguments_loses_its_approval() {
    for kind in STORES {
        let others = |one: &Approval| {
            [
                ApprovalLookup { input_sha256: "ab".into(), ..naming(one) },
                ApprovalLookup { tool: "read_file".into(), ..naming(one) },
            ]
        };
        for (index, decided) in [(0, true), (1, true), (0, false), (1, false)] {
            let folder = tempfile::tempdir().unwrap();
            let store = (kind.open)(folder.path());
            let one = usual();
            request(&store, &one).await;
            if decided {
                decide(&store, &one.id, true).await;
            }
            let id = Some(one.id.clone());
            let [first, second] = others(&one);
            let other = if index == 0 { first } else { second };
            assert_eq!(stands(&store, other.clone(), 3_000).await, ("changed", id.clone()));
            assert_eq!(state(&store, &one.id, 3_000).await, ApprovalState::Cancelled);
            assert_eq!(stands(&store, other, 3_000).await, ("nothing", id.clone()));
            assert_eq!(stands(&store, naming(&one), 3_000).await, ("nothing", id));
            assert_eq!(stands(&store, wanted(&one), 3_000).await, ("nothing", None));
            assert!(matches!(decide(&store, &one.id, true).await, DecisionResult::TooLate(_)));
        }
        // One that was refused, used or is over is no longer there to be cancelled.
        let folder = tempfile::tempdir().unwrap();
        let store = (kind.open)(folder.path());
        let one = usual();
        request(&store, &one).await;
        decide(&store, &one.id, false).await;
        let [other, _] = others(&one);
        assert_eq!(stands(&store, other, 3_000).await, ("nothing", Some(one.id.clone())));
        assert_eq!(state(&store, &one.id, 3_000).await, ApprovalState::Refused);
    }
}

#[tokio::test]
async fn time_ends_it_to_the_millisecond() {
    for (_folder, store) in stores() {
        let one = approved(&store).await;
        assert_eq!(stands(&store, naming(&one), 5_000).await, ("nothing", Some(one.id.clone())));
        assert_eq!(stands(&store, wanted(&one), 5_000).await, ("nothing", None));
        assert_eq!(state(&store, &one.id, 5_000).await, ApprovalState::Expired);
        // Naming it for something else does not make it something else.
        let other = ApprovalLookup { input_sha256: "ab".into(), ..naming(&one) };
        assert_eq!(stands(&store, other, 5_000).await, ("nothing", Some(one.id.clone())));
        assert_eq!(stands(&store, naming(&one), 4_999).await, ("used", Some(one.id)));

        let late = usual();
        request(&store, &late).await;
        let (at, until) = (Timestamp(10_000), Timestamp(20_000));
        let decided =
            store.decide_approval(late.id.clone(), verdict(true), at, until).await.unwrap();
        let DecisionResult::TooLate(found) = decided else { panic!("{decided:?}") };
        assert_eq!(found.state, ApprovalState::Expired);
        assert_eq!(stands(&store, naming(&late), 10_000).await.0, "nothing");
        // The same call may be asked for again, beside what is over.
        let again =
            Approval { created_at: Timestamp(10_000), expires_at: Timestamp(20_000), ..usual() };
        assert!(matches!(request(&store, &again).await, RequestedApproval::New));
    }
}

#[tokio::test]
async fn what_is_over_is_written_down_once() {
    for (_folder, store) in stores() {
        let one = approved(&store).await;
        let two = approval("write_file", "bb", "ada");
        request(&store, &two).await;
        for (at, overdue, expired) in [
            (4_999, false, vec![]),
            (5_000, true, vec![one.id.clone()]),
            (9_999, false, vec![]),
            (10_000, true, vec![two.id.clone()]),
            (10_000, false, vec![]),
        ] {
            assert_eq!(store.due(Timestamp(at)).await.unwrap().overdue, overdue, "{at}");
            let written = store.expire_approvals(Timestamp(at)).await.unwrap();
            assert!(written.iter().all(|one| one.state == ApprovalState::Expired));
            let ids: Vec<_> = written.into_iter().map(|one| one.id).collect();
            assert_eq!(ids, expired, "{at}");
        }
    }
}

#[tokio::test]
async fn the_same_call_waits_once() {
    for (_folder, store) in stores() {
        let one = usual();
        assert!(matches!(request(&store, &one).await, RequestedApproval::New));
        let again = usual();
        let RequestedApproval::Known(known) = request(&store, &again).await else { panic!() };
        assert_eq!(known.id, one.id);
        // Another caller's, and a job's, are requests of their own.
        let eve = Approval { caller: "eve".into(), ..usual() };
        assert!(matches!(request(&store, &eve).await, RequestedApproval::New));
        let of_job = Approval { job_id: Some(JobId::new(Timestamp(1))), ..usual() };
        assert!(matches!(request(&store, &of_job).await, RequestedApproval::New));
    }
}

#[tokio::test]
async fn a_caller_cannot_fill_the_desk_with_one_call() {
    // Whatever else was decided about the same call.
    for before in [true, false] {
        for (_folder, store) in stores() {
            let one = usual();
            request(&store, &one).await;
            decide(&store, &one.id, before).await;
            for _ in 0..5 {
                let more = Approval { created_at: Timestamp(3_000), ..usual() };
                request(&store, &more).await;
            }
            let state = Some(ApprovalState::Waiting);
            let filter = ApprovalFilter { state, limit: 9, ..ApprovalFilter::default() };
            let waiting = store.approvals(filter, Timestamp(3_000)).await.unwrap();
            assert_eq!(waiting.len(), usize::from(before), "after {before}");
        }
    }
}

#[tokio::test]
async fn no_more_wait_than_may() {
    for (_folder, store) in stores() {
        let settings = ApprovalSettings {
            max_waiting: 3,
            max_waiting_of_caller: 2,
            ..ApprovalSettings::default()
        };
        let request = async |one: &Approval| store.request_approval(one.clone(), settings).await;
        for (number, caller) in ["ada", "ada", "bob"].into_iter().enumerate() {
            let one = approval("write_file", &number.to_string(), caller);
            assert!(matches!(request(&one).await.unwrap(), RequestedApproval::New));
            if number == 1 {
                let more = approval("write_file", "more", caller);
                assert!(matches!(request(&more).await.unwrap(), RequestedApproval::FullForCaller));
            }
        }
        let one = approval("write_file", "3", "eve");
        assert!(matches!(request(&one).await.unwrap(), RequestedApproval::Full));
        assert!(store.approval(&one.id, Timestamp(1_000)).await.unwrap().is_none());
        // What is over takes no place, whether or not it is written down.
        let later =
            Approval { created_at: Timestamp(10_000), expires_at: Timestamp(20_000), ..one };
        assert!(matches!(request(&later).await.unwrap(), RequestedApproval::New));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_come_at_once_one_decides_and_one_uses() {
    for kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        // As many processes as may come: each has its own connection.
        let stores: Vec<_> = (0..8).map(|_| (kind.open_beside)(folder.path())).collect();
        for round in 0..10 {
            let one = approval("write_file", &round.to_string(), "ada");
            request(&stores[0], &one).await;
            let decisions = (0..32).map(|number| {
                let (store, id) = (stores[number % 8].clone(), one.id.clone());
                async move { matches!(decide(&store, &id, true).await, DecisionResult::Done(_)) }
            });
            assert_eq!(count(decisions.collect()).await, 1);
            let uses = (0..64).map(|number| {
                let store = stores[number % 8].clone();
                let wanted = if number % 2 == 0 { naming(&one) } else { wanted(&one) };
                async move { stands(&store, wanted, 3_000).await.0 == "used" }
            });
            assert_eq!(count(uses.collect()).await, 1);
        }
    }
}

/// How many of them say yes.
async fn count(tasks: JoinSet<bool>) -> usize {
    tasks.join_all().await.into_iter().filter(|yes| *yes).count()
}

#[tokio::test]
async fn they_are_listed_in_either_order_and_by_how_they_stand() {
    for (_folder, store) in stores() {
        let mut ids = Vec::new();
        for number in 0..5 {
            let id = ApprovalId::new(Timestamp(1_000 + number));
            let one = Approval { id, ..approval("write_file", &number.to_string(), "ada") };
            request(&store, &one).await;
            ids.push(one.id);
        }
        decide(&store, &ids[0], true).await;
        decide(&store, &ids[1], false).await;
        let list = async |state, cursor: Option<&ApprovalId>, limit, at| -> Vec<usize> {
            let place = |one: Approval| ids.iter().position(|id| *id == one.id).unwrap();
            let both = [false, true].map(|oldest_first| {
                let cursor = cursor.cloned();
                ApprovalFilter { state, cursor, oldest_first, limit }
            });
            let [newest, oldest] = both.map(|filter| store.approvals(filter, Timestamp(at)));
            let newest: Vec<_> = newest.await.unwrap().into_iter().map(place).collect();
            let mut oldest: Vec<_> = oldest.await.unwrap().into_iter().map(place).collect();
            oldest.reverse();
            if cursor.is_none() && limit == 9 {
                assert_eq!(newest, oldest);
            }
            newest
        };
        let waiting = ApprovalFilter {
            state: Some(ApprovalState::Waiting),
            cursor: Some(ids[2].clone()),
            oldest_first: true,
            limit: 1,
        };
        let next = store.approvals(waiting, Timestamp(3_000)).await.unwrap();
        assert_eq!(next[0].id, ids[3]);
        assert_eq!(list(None, None, 9, 3_000).await, [4, 3, 2, 1, 0]);
        assert_eq!(list(None, None, 2, 3_000).await, [4, 3]);
        assert_eq!(list(None, Some(&ids[3]), 2, 3_000).await, [2, 1]);
        assert_eq!(list(Some(ApprovalState::Waiting), None, 9, 3_000).await, [4, 3, 2]);
        assert_eq!(list(Some(ApprovalState::Approved), None, 9, 3_000).await, [0]);
        assert_eq!(list(Some(ApprovalState::Approved), None, 9, 5_000).await, [0_usize; 0]);
        assert_eq!(list(Some(ApprovalState::Expired), None, 9, 5_000).await, [0]);
        assert_eq!(list(Some(ApprovalState::Expired), None, 9, 10_000).await, [4, 3, 2, 0]);
        assert_eq!(list(Some(ApprovalState::Refused), None, 9, 10_000).await, [1]);
    }
}

#[tokio::test]
async fn a_key_is_given_back_by_whoever_has_it() {
    for (_folder, store) in stores() {
        let claim = gate::IdempotencyClaim {
            caller: "ada".into(),
            tool: "x".into(),
            key: "k".into(),
            input_sha256: "aa".into(),
        };
        let (mine, other) = (job(1_000, JobState::Running), job(1_001, JobState::Running));
        let claimed =
            async |job: &gate::Job| store.claim(claim.clone(), job.clone()).await.unwrap();
        assert!(matches!(claimed(&mine).await, gate::ClaimResult::New));
        store.release(claim.clone(), &other.id).await.unwrap();
        assert!(matches!(claimed(&other).await, gate::ClaimResult::Known(id) if id == mine.id));
        let eve = gate::IdempotencyClaim { caller: "eve".into(), ..claim.clone() };
        store.release(eve, &mine.id).await.unwrap();
        assert!(matches!(claimed(&other).await, gate::ClaimResult::Known(_)));
        store.release(claim.clone(), &mine.id).await.unwrap();
        assert!(matches!(claimed(&other).await, gate::ClaimResult::New));
    }
}

#[tokio::test]
async fn names_from_outside_are_only_names() {
    for (_folder, store) in stores() {
        let nasty = "x' OR '1'='1\u{0}\u{202e}; DROP TABLE approvals; --";
        let one = approval(nasty, nasty, nasty);
        request(&store, &one).await;
        decide(&store, &one.id, true).await;
        let other = approval("x", nasty, nasty);
        assert_eq!(stands(&store, wanted(&other), 3_000).await, ("nothing", None));
        assert_eq!(stands(&store, wanted(&one), 3_000).await.0, "used");
    }
}
