//! From a question to a plan that may be carried out.

use std::sync::Arc;

use gate::Tool;
use serde_json::{Value, json};

use super::{Ask, AskRun, StepResult, model::StagePrompt};
use crate::{
    AskResponse, BlockedCode, BlockedResponse, Plan,
    candidates::{Candidate, Candidates},
    plan::{self, PlanRefusal, PlannedCall},
    planner,
};

/// The most of a reply that is no plan which is handed back, in characters.
const MAX_RAW_CHARACTERS: usize = 2_000;

impl Ask {
    /// Makes a plan that may be carried out: the caller's own, or that of the model.
    pub(super) async fn plan(
        &self,
        run: &mut AskRun<'_>,
        candidates: &Candidates,
    ) -> StepResult<(PlannedCall, Arc<Tool>)> {
        if let Some(name) = run.request.tool.clone() {
            return given(run, candidates, &name);
        }
        if let Some(refused) = candidates.asked_for(&run.question) {
            return Err(run.refused(&refused, None).into());
        }
        let shown = candidates.pick(&run.question, self.settings.max_tools_tokens);
        if shown.tools.is_empty() {
            let reason = "no tool fits into the planner's prompt (ask.max_tools_tokens)";
            return Err(BlockedResponse::new(BlockedCode::NoTools, reason).into());
        }
        let names: Vec<_> = shown.tools.iter().map(|one| one.path()).collect();
        let left_out = candidates.visible.len() - names.len();
        let payload = json!({ "tools": names, "left_out": left_out, "in_short": shown.is_brief });
        run.recorder.event("planner_tools", payload);
        let system = planner::system(&shown);
        let schema = planner::plan_schema(&shown.tools, &run.question);
        self.planned(run, &system, schema).await
    }

    /// Asks the model for a plan, and checks it against the catalogue of now. It is told once what was wrong.
    async fn planned(
        &self,
        run: &mut AskRun<'_>,
        system: &str,
        schema: Value,
    ) -> StepResult<(PlannedCall, Arc<Tool>)> {
        let question = planner::question(&run.question);
        let mut prompt = StagePrompt::plan(&self.settings, system, question, schema);
        loop {
            let reply = self.reply(run, &prompt).await?;
            let read = reply.whole().map_err(PlanRefusal::Rejected).and_then(plan::read);
            let (refused, plan) = match read {
                Err(refused) => (refused, None),
                Ok(plan) => {
                    let candidates = self.candidates().await;
                    if let Plan::CallTool(call) = &plan {
                        let found = candidates.find(&call.server, &call.tool).ok();
                        run.tool = found.map(|one| one.tool.clone());
                    }
                    run.recorder.event("planner_plan", run.kept(&plan));
                    let refused = match &plan {
                        Plan::CallTool(call) => {
                            match plan::check(call, &candidates, Some(&run.question)) {
                                Ok(candidate) => return Ok(run.validated(call, candidate)),
                                Err(refused) => refused,
                            }
                        }
                        Plan::FinalAnswer { tool, .. } => {
                            match plan::clarify(tool.as_deref(), &candidates, &run.question) {
                                Ok(answer) => return Err(run.clarified(answer, tool.clone())),
                                Err(refused) => refused,
                            }
                        }
                    };
                    (refused, Some(plan))
                }
            };
            let blocked = run.refused(&refused, plan);
            // A model that plans what is forbidden has understood the question, and is not asked again.
            let may_repair = !matches!(refused, PlanRefusal::NotAllowed { .. });
            if !may_repair || !prompt.repair(run, &reply, &blocked.reason) {
                let raw = || reply.text.chars().take(MAX_RAW_CHARACTERS).collect();
                return Err(
                    BlockedResponse { raw: blocked.plan.is_none().then(raw), ..blocked }.into()
                );
            }
        }
    }
}

/// Checks the call that the caller has planned. The model is not asked, and the arguments need not stand in the question.
fn given(
    run: &mut AskRun<'_>,
    candidates: &Candidates,
    name: &str,
) -> StepResult<(PlannedCall, Arc<Tool>)> {
    let candidate = candidates.named(name).map_err(|refused| run.refused(&refused, None))?;
    run.tool = Some(candidate.tool.clone());
    let (server, tool) = (candidate.server.clone(), candidate.name.clone());
    let call = PlannedCall { server, tool, args: run.request.args.clone() };
    let plan = Plan::CallTool(call.clone());
    run.recorder.event("plan_given", run.kept(&plan));
    match plan::check(&call, candidates, None) {
        Ok(candidate) => Ok(run.validated(&call, candidate)),
        Err(refused) => Err(run.refused(&refused, Some(plan)).into()),
    }
}

impl AskRun<'_> {
    /// Records that a call passed all checks, and returns it with the tool as it was then.
    fn validated(&mut self, call: &PlannedCall, candidate: &Candidate) -> (PlannedCall, Arc<Tool>) {
        self.recorder.event("plan_validated", self.kept(&Plan::CallTool(call.clone())));
        (call.clone(), candidate.tool.clone())
    }

    /// The response that asks the person for what is missing.
    fn clarified(&mut self, answer: String, tool: Option<String>) -> Box<AskResponse> {
        let plan = Plan::FinalAnswer { answer: answer.clone(), tool, needs_more_info: true };
        self.recorder.event("final_answer", json!(plan));
        Box::new(AskResponse::FinalAnswer { answer, needs_more_info: true, plan })
    }

    /// A plan as it may be written down: without what its contract marks as secret, and without arguments where nobody
    /// knows the contract.
    pub(super) fn kept(&self, plan: &Plan) -> Value {
        let mut kept = json!(plan);
        if let (Plan::CallTool(_), Some(args)) = (plan, kept.get_mut("args")) {
            *args = match &self.tool {
                Some(tool) => tool.input.redacted(args).into_owned(),
                None => json!("[unknown tool]"),
            };
        }
        kept
    }

    /// Records what is wrong with a plan, and ends the run with it.
    fn refused(&mut self, refused: &PlanRefusal, plan: Option<Plan>) -> BlockedResponse {
        let (code, event) = refused.code_and_event();
        self.recorder.event(event, json!({ "reason": refused.to_string() }));
        let message = match refused {
            PlanRefusal::NotAllowed { why, .. } => Some((*why).to_owned()),
            PlanRefusal::Rejected(_) | PlanRefusal::Invalid(_) => None,
        };
        BlockedResponse { message, plan, ..BlockedResponse::new(code, refused.to_string()) }
    }
}
