//! From a question to a plan that may be carried out.

use std::sync::Arc;

use gate::Tool;
use serde_json::{Map, Value, json};

use super::{Ask, AskRun, StepResult};
use crate::{
    AskResponse, BlockedCode, BlockedResponse, Plan,
    candidates::{Candidate, Candidates},
    model_request::{ModelReply, PromptStage},
    plan::{self, CheckedPlan, PlanRefusal},
    planner,
};

/// How much of what is no plan is handed back, in characters.
const MAX_RAW_CHARACTERS: usize = 2_000;

/// A call that was checked, and the tool as it was then.
pub(super) struct PlannedCall {
    pub server: String,
    pub name: String,
    pub args: Map<String, Value>,
    pub tool: Arc<Tool>,
}

impl PlannedCall {
    fn new(candidate: &Candidate, args: Map<String, Value>) -> Self {
        let (server, name) = (candidate.server.clone(), candidate.name.clone());
        Self { server, name, args, tool: candidate.tool.clone() }
    }

    /// The same as a plan.
    pub fn plan(&self) -> Plan {
        let (server, tool) = (self.server.clone(), self.name.clone());
        Plan::CallTool { server, tool, args: self.args.clone() }
    }
}

/// A plan that passed all checks.
enum PassedPlan {
    Call(PlannedCall),
    /// The person is asked this, by this plan.
    Clarify(String, Plan),
}

impl Ask {
    /// Makes a plan that may be carried out: the caller's own, or that of the model.
    pub(super) async fn plan(
        &self,
        run: &mut AskRun<'_>,
        candidates: &Candidates,
    ) -> StepResult<PlannedCall> {
        if let Some(name) = run.request.tool.clone() {
            return self.given(run, candidates, &name);
        }
        if let Some(refused) = candidates.asked_for(&run.question) {
            run.note(&refused);
            return Err(refusal(&refused, None, None));
        }
        let shown = candidates.pick(&run.question, self.settings.max_tools_tokens);
        if shown.tools.is_empty() {
            let reason = "no tool fits into the planner's prompt (ask.max_tools_tokens)";
            return Err(BlockedResponse::new(BlockedCode::NoTools, reason).into());
        }
        let path = |one: &&Candidate| format!("{}.{}", one.server, one.name);
        let names: Vec<_> = shown.tools.iter().map(path).collect();
        let payload =
            json!({ "tools": names, "left_out": shown.left_out, "in_short": shown.is_brief });
        run.recorder.event("planner_tools", payload);
        let system = planner::system(&shown);
        let schema = planner::plan_schema(&shown.tools, &run.question);
        self.planned(run, &system, &schema).await
    }

    /// Checks the plan that the caller has made. The model is not asked, and the arguments need not stand in the question.
    fn given(
        &self,
        run: &mut AskRun<'_>,
        candidates: &Candidates,
        name: &str,
    ) -> StepResult<PlannedCall> {
        let candidate = match candidates.named(name) {
            Ok(candidate) => candidate,
            Err(refused) => {
                run.note(&refused);
                return Err(refusal(&refused, None, None));
            }
        };
        run.tool = Some(candidate.tool.clone());
        let planned = PlannedCall::new(candidate, run.request.args.clone());
        let plan = planned.plan();
        run.recorder.event("plan_given", run.kept(&plan));
        match plan::check(&plan, candidates, None) {
            Ok(_) => {
                run.recorder.event("plan_validated", run.kept(&plan));
                Ok(planned)
            }
            Err(refused) => {
                run.note(&refused);
                Err(refusal(&refused, Some(plan), None))
            }
        }
    }

    /// Asks the model for a plan. It is told once what was wrong.
    async fn planned(
        &self,
        run: &mut AskRun<'_>,
        system: &str,
        schema: &Value,
    ) -> StepResult<PlannedCall> {
        let question = planner::question(&run.question);
        let mut user = question.clone();
        let mut is_repaired = false;
        loop {
            let reply = self.reply(run, PromptStage::Plan, (system, &user), schema).await?;
            let (refused, plan) = match self.judged(run, &reply).await {
                Ok(PassedPlan::Call(planned)) => return Ok(planned),
                Ok(PassedPlan::Clarify(answer, plan)) => {
                    let response = AskResponse::FinalAnswer { answer, needs_more_info: true, plan };
                    return Err(Box::new(response));
                }
                Err(refused) => refused,
            };
            // A model that plans what is forbidden has understood the question, and is not asked again.
            let may_repair = matches!(refused, PlanRefusal::Rejected(_) | PlanRefusal::Invalid(_));
            if is_repaired || !may_repair {
                let raw = plan.is_none().then_some(reply.text.as_str());
                return Err(refusal(&refused, plan, raw));
            }
            is_repaired = true;
            run.recorder.event("planner_repair", json!({ "reason": refused.to_string() }));
            user = planner::again(&question, &reply.text, &refused.to_string());
        }
    }

    /// Reads the reply of the model as a plan, and checks it against the catalogue of now.
    async fn judged(
        &self,
        run: &mut AskRun<'_>,
        reply: &ModelReply,
    ) -> Result<PassedPlan, (PlanRefusal, Option<Plan>)> {
        let read = match &reply.cut {
            Some(why) => Err(PlanRefusal::Rejected(why.clone())),
            None => plan::read(&reply.text),
        };
        let plan = read.map_err(|refused| {
            run.note(&refused);
            (refused, None)
        })?;
        let candidates = self.candidates().await;
        if let Plan::CallTool { server, tool, .. } = &plan {
            run.tool = candidates.find(server, tool).ok().map(|one| one.tool.clone());
        }
        run.recorder.event("planner_plan", run.kept(&plan));
        match (plan::check(&plan, &candidates, Some(&run.question)), plan) {
            (Ok(CheckedPlan::Call(candidate)), Plan::CallTool { args, .. }) => {
                let planned = PlannedCall::new(candidate, args);
                run.recorder.event("plan_validated", run.kept(&planned.plan()));
                Ok(PassedPlan::Call(planned))
            }
            (Ok(CheckedPlan::Clarify(answer)), Plan::FinalAnswer { tool, .. }) => {
                let plan =
                    Plan::FinalAnswer { answer: answer.clone(), tool, needs_more_info: true };
                run.recorder.event("final_answer", json!(plan));
                Ok(PassedPlan::Clarify(answer, plan))
            }
            (Ok(_), plan) => {
                Err((PlanRefusal::Invalid("the plan calls nothing".into()), Some(plan)))
            }
            (Err(refused), plan) => {
                run.note(&refused);
                Err((refused, Some(plan)))
            }
        }
    }
}

impl AskRun<'_> {
    /// A plan as it may be written down: without what its contract marks as secret, and without arguments where nobody
    /// knows the contract.
    pub(super) fn kept(&self, plan: &Plan) -> Value {
        let mut kept = json!(plan);
        if let (Plan::CallTool { .. }, Some(args)) = (plan, kept.get_mut("args")) {
            *args = match &self.tool {
                Some(tool) => tool.input.redacted(args).into_owned(),
                None => json!("[unknown tool]"),
            };
        }
        kept
    }

    /// Records what is wrong with a plan.
    fn note(&mut self, refused: &PlanRefusal) {
        self.recorder.event(refused.event(), json!({ "reason": refused.to_string() }));
    }
}

/// The response to a plan that is refused.
fn refusal(refused: &PlanRefusal, plan: Option<Plan>, raw: Option<&str>) -> Box<AskResponse> {
    let code = match refused {
        PlanRefusal::Rejected(_) => BlockedCode::PlannerRejected,
        PlanRefusal::Invalid(_) => BlockedCode::PlanInvalid,
        PlanRefusal::ServerNotAllowed(_) | PlanRefusal::ToolNotAllowed { .. } => {
            BlockedCode::ToolNotAllowed
        }
    };
    let raw = raw.map(|text| text.chars().take(MAX_RAW_CHARACTERS).collect());
    let message = refused.hint();
    BlockedResponse { message, plan, raw, ..BlockedResponse::new(code, refused.to_string()) }.into()
}
