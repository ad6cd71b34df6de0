//! Whatever happens in whatever order: a tool never runs more often than it was approved.

use std::collections::HashMap;

use gate::{ApprovalId, ApprovalState, Call, Caller, Recording, approvals::DecisionResult};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use serde_json::json;
use tokio::task::JoinSet;

use super::{ApprovalGate, Preview, SETTINGS, call};

/// A call that can be approved: who, what, with what.
type Subject = (&'static str, &'static str, u8);

/// What a person would expect of an approval.
#[derive(Debug, Clone)]
struct Expected {
    subject: Subject,
    state: ApprovalState,
    until: i64,
}

impl Expected {
    fn stands(&self, now: i64) -> ApprovalState {
        let open = matches!(self.state, ApprovalState::Waiting | ApprovalState::Approved);
        if open && self.until <= now { ApprovalState::Expired } else { self.state }
    }
}

/// All that was asked for, as it should be.
#[derive(Default)]
struct ApprovalModel {
    known: HashMap<ApprovalId, Expected>,
    /// Which of them in the order in which they came.
    order: Vec<ApprovalId>,
    now: i64,
}

impl ApprovalModel {
    fn find(&self, subject: Subject, state: ApprovalState) -> Vec<ApprovalId> {
        let fits = |one: &Expected| {
            one.subject == subject && one.stands(self.now) == state && one.until > self.now
        };
        self.known.iter().filter(|(_, one)| fits(one)).map(|(id, _)| id.clone()).collect()
    }

    /// The latest decision about a call that is still good.
    fn decided(&self, subject: Subject) -> Option<ApprovalState> {
        let decisions = self.known.iter().filter(|(_, one)| {
            let stands = one.stands(self.now);
            one.subject == subject
                && one.until > self.now
                && matches!(stands, ApprovalState::Approved | ApprovalState::Refused)
        });
        let latest = decisions.max_by_key(|(id, one)| (one.until, id.to_string()));
        latest.map(|(_, one)| one.state)
    }

    /// What a call comes to.
    fn predict(&mut self, subject: Subject, named: Option<&ApprovalId>) -> &'static str {
        let now = self.now;
        let mut changed = false;
        let named = named.and_then(|id| self.known.get_mut(id));
        if let Some(one) = named.filter(|one| one.subject.0 == subject.0) {
            let stands = one.stands(now);
            match stands {
                _ if one.subject != subject => {
                    if matches!(stands, ApprovalState::Waiting | ApprovalState::Approved) {
                        one.state = ApprovalState::Cancelled;
                        changed = true;
                    }
                }
                ApprovalState::Approved => return "ok",
                ApprovalState::Refused if one.until > now => return "not_allowed",
                ApprovalState::Waiting => return "approval_required",
                _ => {}
            }
        }
        match self.decided(subject).filter(|_| !changed) {
            Some(ApprovalState::Approved) => return "ok",
            Some(_) => return "not_allowed",
            None => {}
        }
        if !self.find(subject, ApprovalState::Refused).is_empty() {
            return "not_allowed";
        }
        if !self.find(subject, ApprovalState::Waiting).is_empty() {
            return "approval_required";
        }
        let waiting = |one: &&Expected| one.stands(self.now) == ApprovalState::Waiting;
        if self.known.values().filter(waiting).count() as u64 >= SETTINGS.max_waiting {
            return "too_many_requests";
        }
        "approval_required"
    }

    fn any(&self, random: &mut StdRng) -> Option<ApprovalId> {
        self.order.choose(random).cloned()
    }
}

fn subject(random: &mut StdRng) -> Subject {
    let caller = *["ada", "eve"].choose(random).unwrap();
    let tool = *["one", "two"].choose(random).unwrap();
    (caller, tool, random.random_range(0..2))
}

fn made(subject: Subject, approval: Option<ApprovalId>, random: &mut StdRng) -> Call {
    let (caller, tool, number) = subject;
    let recording = *[0, 1].choose(random).unwrap();
    let recording = if recording == 0 { Recording::WhenNeeded } else { Recording::Always };
    let caller = Caller::named(caller);
    let call = call(tool, json!({ "number": number }));
    call.caller(caller).approval(approval).recording(recording)
}

async fn step(fixture: &ApprovalGate, model: &mut ApprovalModel, random: &mut StdRng) {
    match random.random_range(0..10) {
        0..6 => {
            let subject = subject(random);
            let named = if random.random_bool(0.6) { model.any(random) } else { None };
            let expected = model.predict(subject, named.as_ref());
            let runs = fixture.runs();
            let outcome = fixture.call(made(subject, named.clone(), random)).await;
            assert_eq!(outcome.code(), expected, "{subject:?} {named:?} {:?}", model.known);
            assert_eq!(fixture.runs() - runs, usize::from(expected == "ok"));
            if expected == "ok" {
                used(fixture, model, subject).await;
            } else if let Some(id) = outcome.result.err().and_then(|failure| failure.approval)
                && !model.known.contains_key(&id)
            {
                let until = model.now + 100_000;
                let state = ApprovalState::Waiting;
                model.known.insert(id.clone(), Expected { subject, state, until });
                model.order.push(id);
            }
        }
        6..9 => {
            let Some(id) = model.any(random) else { return };
            let approve = random.random_bool(0.7);
            let one = model.known.get_mut(&id).unwrap();
            let stands = one.stands(model.now);
            // A yes can be taken back for as long as it was not used.
            let waits =
                stands == ApprovalState::Waiting || (stands == ApprovalState::Approved && !approve);
            let decided = fixture.decide(&id, approve).await;
            assert_eq!(matches!(decided, DecisionResult::Done(_)), waits, "{one:?}");
            if waits {
                let refused = ApprovalState::Refused;
                one.state = if approve { ApprovalState::Approved } else { refused };
                one.until = model.now + 10_000;
            }
        }
        _ => {
            let step = *[1, 5_000, 10_000, 100_000].choose(random).unwrap();
            fixture.clock.advance_ms(step);
            model.now += step;
            if random.random_bool(0.5) {
                let now = fixture.gate.clock().now();
                fixture.gate.store().expire_approvals(now).await.unwrap();
            }
        }
    }
}

/// Exactly one approval of this call was used up.
async fn used(fixture: &ApprovalGate, model: &mut ApprovalModel, subject: Subject) {
    let candidates = model.find(subject, ApprovalState::Approved);
    let mut used = 0;
    for id in candidates {
        if fixture.state(&id).await == ApprovalState::Used {
            model.known.get_mut(&id).unwrap().state = ApprovalState::Used;
            used += 1;
        }
    }
    assert_eq!(used, 1);
}

#[tokio::test]
async fn every_sequence_goes_as_a_person_would_expect() {
    for seed in 0..40 {
        let mut random = StdRng::seed_from_u64(seed);
        let fixture = ApprovalGate::new(Preview::Nothing);
        let other = fixture.second_process();
        let mut model = ApprovalModel::default();
        for _ in 0..120 {
            let fixture = if random.random_bool(0.5) { &fixture } else { &other };
            step(fixture, &mut model, &mut random).await;
        }
        for (id, one) in &model.known {
            assert_eq!(fixture.state(id).await, one.stands(model.now), "seed {seed}");
        }
        let used = model.known.values().filter(|one| one.state == ApprovalState::Used).count();
        assert_eq!(used, fixture.runs(), "seed {seed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_crowd_gets_more_than_was_approved() {
    for seed in 0..6 {
        let fixture = ApprovalGate::new(Preview::Nothing);
        let crowd = (0..8).map(|member| {
            let fixture = fixture.second_process();
            async move {
                let mut random = StdRng::seed_from_u64(seed * 100 + member);
                let (mut seen, mut approved, mut ran) = (Vec::new(), 0, 0);
                for _ in 0..60 {
                    let named = seen.choose(&mut random).cloned().filter(|_| random.random());
                    let subject = ("ada", "one", random.random_range(0..2));
                    let outcome = fixture.call(made(subject, named, &mut random)).await;
                    ran += usize::from(outcome.code() == "ok");
                    if let Some(id) = outcome.result.err().and_then(|failure| failure.approval) {
                        if random.random_bool(0.7) {
                            let approve = random.random_bool(0.9);
                            let done = matches!(
                                fixture.decide(&id, approve).await,
                                DecisionResult::Done(_)
                            );
                            approved += usize::from(done && approve);
                        }
                        seen.push(id);
                    }
                    if random.random_bool(0.1) {
                        fixture.clock.advance_ms(3_000);
                    }
                }
                (approved, ran)
            }
        });
        let crowd = crowd.collect::<JoinSet<_>>().join_all().await;
        let approved: usize = crowd.iter().map(|(approved, _)| approved).sum();
        let ran: usize = crowd.iter().map(|(_, ran)| ran).sum();
        assert_eq!(ran, fixture.runs());
        assert!(ran <= approved && ran > 0, "{ran} runs of {approved} approvals, seed {seed}");
        let count = |event: &str| fixture.events().iter().filter(|one| *one == event).count();
        assert_eq!((count("approval_used"), count("approval_approved")), (ran, approved));
    }
}
