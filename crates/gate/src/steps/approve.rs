//! Step 6 of 9: approve, where the contract or the operator's policy asks for it.
//!
//! A call that ends here has not run: it gives its idempotency key back, so that the same call can
//! be made again with the approval.

mod form;
mod preview;

use std::sync::atomic::Ordering;

use contract::{ApprovalRequirement, codes};
use serde_json::{Value, json};

use super::{CallRefusal, CallState, check_input::CheckedInput, take_release::UnreleasedCall};
use crate::{
    Approval, ApprovalId, ApprovalState, Failure, InputRequests, Recording, StoreError,
    approvals::{ApprovalLookup, ApprovalMatch, DecisionResult, RequestedApproval, after},
    channel::MAX_INPUT_REQUESTS,
};

/// A call that needs no approval, or has used one up.
pub(crate) struct ApprovedCall(CheckedInput);

impl ApprovedCall {
    pub(super) fn into_checked(self) -> CheckedInput {
        self.0
    }
}

impl CallState {
    pub(crate) async fn approve(
        &mut self,
        call: UnreleasedCall,
    ) -> Result<ApprovedCall, CallRefusal> {
        let checked = call.into_checked();
        match checked.tool().contract.approval {
            ApprovalRequirement::Required => Box::pin(self.with_approval(checked)).await,
            // A job that waited for a person's word hears it, whatever the policy says by now.
            ApprovalRequirement::Never if self.is_job_with_approval() => {
                Box::pin(self.approved_before(checked)).await.map_err(CallRefusal::from)
            }
            ApprovalRequirement::Never => Ok(ApprovedCall(checked)),
        }
    }

    fn is_job_with_approval(&self) -> bool {
        matches!(self.call.recording, Recording::Job(_)) && self.call.approval.is_some()
    }

    /// A call that needs no approval any more, but was asked about: a no is still one.
    async fn approved_before(&mut self, checked: CheckedInput) -> Result<ApprovedCall, Failure> {
        let (lookup, now) = (self.lookup(), self.gate.clock.now());
        let own =
            |approval: &Approval| approval.job_id.is_some() && approval.job_id == lookup.job_id;
        let found = self.gate.store.use_approval(lookup.clone(), now).await;
        match found.map_err(|error| unknown(&error))? {
            ApprovalMatch::Used(approval) => self.used(&approval),
            ApprovalMatch::Refused(approval) => return Err(refused(&approval)),
            ApprovalMatch::Waiting(approval) if own(&approval) => {
                return Err(self.wait(&checked, &approval));
            }
            ApprovalMatch::Nothing(Some(approval)) if own(&approval) => {
                return Err(over(Some(&approval)));
            }
            ApprovalMatch::Nothing(None) => return Err(over(None)),
            ApprovalMatch::Changed(approval) => {
                self.gate.write_down("approval_cancelled", &approval);
            }
            ApprovalMatch::Waiting(_) | ApprovalMatch::Nothing(Some(_)) => {}
        }
        Ok(ApprovedCall(checked))
    }

    /// Uses up the approval of this call; where there is none, a person is asked, and the call
    /// ends here.
    async fn with_approval(&mut self, checked: CheckedInput) -> Result<ApprovedCall, CallRefusal> {
        match self.use_or_request(checked).await {
            Ok(approved) => Ok(approved),
            Err(failure) => {
                self.release_key().await;
                Err(failure.into())
            }
        }
    }

    async fn use_or_request(&mut self, mut checked: CheckedInput) -> Result<ApprovedCall, Failure> {
        if let Some(answered) = self.answered_by_client().await? {
            return self.ask_client(checked, answered).await;
        }
        let now = self.gate.clock.now();
        let found = self.gate.store.use_approval(self.lookup(), now).await;
        let waiting = match found.map_err(|error| unknown(&error))? {
            ApprovalMatch::Used(approval) => {
                self.used(&approval);
                return Ok(ApprovedCall(checked));
            }
            ApprovalMatch::Refused(approval) => return Err(refused(&approval)),
            // A job waits for a request of its own, which is counted and goes with it.
            ApprovalMatch::Waiting(approval)
                if matches!(self.call.recording, Recording::Job(_))
                    && approval.job_id.is_none() =>
            {
                self.request(&mut checked).await?
            }
            ApprovalMatch::Waiting(approval) => {
                if self.call.approval.as_ref().is_some_and(|named| *named != approval.id) {
                    self.rejected_approval = Some(over(None).message);
                }
                approval
            }
            ApprovalMatch::Nothing(named) => self.request_again(&mut checked, named).await?,
            ApprovalMatch::Changed(named) => {
                self.gate.write_down("approval_cancelled", &named);
                self.request_again(&mut checked, Some(named)).await?
            }
        };
        self.ask_client(checked, waiting).await
    }

    /// The request that the person in front of the client has replied to. That is heard before
    /// anything else: who says no must not see the call run because the operator said yes.
    async fn answered_by_client(&self) -> Result<Option<Approval>, Failure> {
        if !self.may_ask_client() {
            return Ok(None);
        }
        let (lookup, now) = (self.lookup(), self.gate.clock.now());
        let asked = self.call.channel.replies.keys().filter_map(|name| form::subject(name));
        for id in asked.take(MAX_INPUT_REQUESTS) {
            let found =
                self.gate.store.approval(&id, now).await.map_err(|error| unknown(&error))?;
            let open = |one: &Approval| one.is_open() || one.state == ApprovalState::Refused;
            if let Some(found) = found.filter(|one| open(one) && one.is_for(&lookup)) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn may_ask_client(&self) -> bool {
        self.call.channel.may_approve && self.call.channel.capabilities.elicitation
    }

    async fn request_again(
        &mut self,
        checked: &mut CheckedInput,
        named: Option<Approval>,
    ) -> Result<Approval, Failure> {
        if self.call.approval.is_some() {
            // A job asks once. What became of that is how it ends.
            if matches!(self.call.recording, Recording::Job(_)) {
                return Err(over(named.as_ref()));
            }
            self.rejected_approval = Some(over(named.as_ref()).message);
        }
        self.request(checked).await
    }

    fn lookup(&self) -> ApprovalLookup {
        ApprovalLookup {
            caller: self.call.caller.name().to_owned(),
            tool: self.tool_name(),
            input_sha256: self.input_sha256.clone().unwrap_or_default(),
            job_id: match &self.call.recording {
                Recording::Job(id) => Some(id.clone()),
                _ => None,
            },
            named: self.call.approval.clone(),
        }
    }

    fn tool_name(&self) -> String {
        self.tool.as_ref().map_or_else(String::new, |tool| tool.contract.name.clone())
    }

    /// Requests an approval; the same call again finds the request.
    async fn request(&mut self, checked: &mut CheckedInput) -> Result<Approval, Failure> {
        let preview = self.preview(checked).await;
        let now = self.gate.clock.now();
        let lookup = self.lookup();
        let approval = Approval {
            id: ApprovalId::new(now),
            state: ApprovalState::Waiting,
            tool: lookup.tool,
            caller: lookup.caller,
            door: self.call.door.word().to_owned(),
            request_id: self.call.request_id.to_string(),
            job_id: lookup.job_id,
            input_sha256: lookup.input_sha256,
            input: checked.to_keep(),
            preview,
            created_at: now,
            expires_at: after(now, self.gate.settings().approvals.wait),
            decided_at: None,
            decided_by: None,
            reason: None,
        };
        let settings = self.gate.settings().approvals;
        let requested = self.gate.store.request_approval(approval.clone(), settings).await;
        match requested.map_err(|error| unknown(&error))? {
            RequestedApproval::New => {
                self.gate.metrics.approvals_requested.fetch_add(1, Ordering::Relaxed);
                self.gate.write_down("approval_requested", &approval);
                let (id, tool) = (&approval.id, &approval.tool);
                tracing::info!(
                    tool,
                    "a call waits for approval: `toolgate approvals approve {id}`"
                );
                Ok(approval)
            }
            RequestedApproval::Known(approval) if approval.state == ApprovalState::Refused => {
                Err(refused(&approval))
            }
            RequestedApproval::Known(approval) => Ok(*approval),
            RequestedApproval::Full => {
                Err(full("calls", settings.max_waiting, "max_waiting_approvals"))
            }
            RequestedApproval::FullForCaller => Err(full(
                "calls of this caller",
                settings.max_waiting_of_caller,
                "max_waiting_approvals_per_caller",
            )),
        }
    }

    /// A client that is trusted with it asks its person at once. Any other caller learns where
    /// the request waits: not being able to ask is never consent.
    async fn ask_client(
        &mut self,
        checked: CheckedInput,
        waiting: Approval,
    ) -> Result<ApprovedCall, Failure> {
        if !self.may_ask_client() {
            return Err(self.wait(&checked, &waiting));
        }
        let (name, question) = (form::name(&waiting.id), form::form(checked.tool(), &waiting));
        let reply = self.call.channel.replies.get(&name).filter(|reply| question.accepts(reply));
        let Some(reply) = reply else {
            return Err(Failure::asks(InputRequests::from([(name, question)])));
        };
        let decision = form::decision(reply, self.call.caller.name());
        let (approve, reason) = (decision.approve, decision.reason.clone());
        let decided = self.gate.decide(&waiting.id, decision).await;
        match decided.map_err(|error| unknown(&error))? {
            // The operator may have decided while the client was asked: that stands, but a no
            // to this question is a no to this call.
            DecisionResult::Done(approval) | DecisionResult::TooLate(approval) => {
                match approval.state {
                    ApprovalState::Approved if approve => {}
                    ApprovalState::Approved => {
                        let state = ApprovalState::Refused;
                        return Err(refused(&Approval { state, reason, ..approval }));
                    }
                    ApprovalState::Refused => return Err(refused(&approval)),
                    _ => return Err(over(Some(&approval))),
                }
            }
            DecisionResult::Unknown => return Err(over(None)),
        }
        self.call.approval = Some(waiting.id);
        let now = self.gate.clock.now();
        let found = self.gate.store.use_approval(self.lookup(), now).await;
        match found.map_err(|error| unknown(&error))? {
            ApprovalMatch::Used(approval) => {
                self.used(&approval);
                Ok(ApprovedCall(checked))
            }
            // Somebody else was faster with the same call.
            _ => Err(over(None)),
        }
    }

    /// The call ends, or its job waits, until a person has decided.
    fn wait(&mut self, checked: &CheckedInput, waiting: &Approval) -> Failure {
        if matches!(self.call.recording, Recording::Job(_)) {
            self.pending = serde_json::value::to_raw_value(checked.input()).ok();
        }
        let id = &waiting.id;
        let why = match self.rejected_approval.take() {
            Some(why) => format!("{why}, and a person must approve this call first"),
            None => "a person must approve this call first".to_owned(),
        };
        let message = format!(
            "{why}: {id} is waiting for the operator; once it is approved, repeat the call with this id"
        );
        let mut failure = Failure::new(codes::APPROVAL_REQUIRED, message).details(details(waiting));
        failure.approval = Some(id.clone());
        failure
    }

    fn used(&mut self, approval: &Approval) {
        self.call.approval = Some(approval.id.clone());
        // By which call it was used, not by which it was asked for.
        let request_id = self.call.request_id.to_string();
        self.gate.write_down("approval_used", &Approval { request_id, ..approval.clone() });
    }

    /// A call that did not run leaves its key to the one that will.
    async fn release_key(&mut self) {
        let Some(claim) = self.claim_of_key() else { return };
        let job = self.job_id();
        if let Err(error) = self.gate.store.release(claim, &job).await {
            tracing::error!(%error, tool = self.call.tool, "an idempotency key stays taken");
        }
    }
}

/// As many requests wait as may.
fn full(what: &str, max: u64, setting: &str) -> Failure {
    let message = format!("{max} {what} wait for a person's approval already (policy.{setting})");
    let mut failure = Failure::new(codes::TOO_MANY_REQUESTS, message);
    failure.retry_after = Some(60);
    failure
}

fn details(approval: &Approval) -> Value {
    json!({
        "approval_id": approval.id,
        "status": approval.state,
        "expires_at": approval.expires_at,
    })
}

/// A person said no, and why.
fn refused(approval: &Approval) -> Failure {
    let mut told = details(approval);
    let message = match &approval.reason {
        Some(reason) => {
            told["reason"] = json!(reason);
            format!("a person refused this call: {reason}")
        }
        None => "a person refused this call".to_owned(),
    };
    Failure::new(codes::NOT_ALLOWED, message).details(told)
}

/// The approval that the call named is good for nothing any more.
fn over(approval: Option<&Approval>) -> Failure {
    let Some(approval) = approval else {
        let message = "there is no such approval for this call";
        return Failure::new(codes::APPROVAL_REQUIRED, message);
    };
    let message = match approval.state {
        ApprovalState::Used => format!("the approval {} was used already", approval.id),
        ApprovalState::Expired if approval.decided_at.is_none() => {
            "nobody decided in time whether this call may run (policy.approval_wait_ms)".to_owned()
        }
        ApprovalState::Expired => {
            format!("the approval {} is too old (policy.approval_valid_ms)", approval.id)
        }
        _ => format!("the approval {} is not for this call", approval.id),
    };
    Failure::new(codes::APPROVAL_REQUIRED, message).details(details(approval))
}

/// Never fail open: what cannot be looked up is not there.
fn unknown(error: &StoreError) -> Failure {
    Failure::unavailable(error)
}
