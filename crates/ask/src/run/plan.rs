//! From a question to a plan that may be carried out.

use std::sync::Arc;

use gate::Tool;
use serde_json::{Map, Value, json};

use super::{Ask, Run, Step, blocked_by};
use crate::{
    Answer, Code, Plan,
    asking::{Said, Stage},
    candidates::{Candidate, Candidates},
    plan::{self, Refused},
    planner,
};

/// How much of what is no plan is handed back, in characters.
const MAX_RAW_CHARACTERS: usize = 2_000;

/// A call that was checked, and the tool as it was then.
pub(super) struct Planned {
    pub server: String,
    pub name: String,
    pub args: Map<String, Value>,
    pub tool: Arc<Tool>,
}

impl Planned {
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

impl Ask {
    /// A plan that may be carried out: the caller's own, or that of the model.
    pub(super) async fn plan(&self, run: &mut Run<'_>, candidates: &Candidates) -> Step<Planned> {
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
            return Err(blocked_by(Code::NoTools, reason));
        }
        let path = |one: &&Candidate| format!("{}.{}", one.server, one.name);
        let names: Vec<_> = shown.tools.iter().map(path).collect();
        let payload =
            json!({ "tools": names, "left_out": shown.left_out, "in_short": shown.is_brief });
        run.recorder.event("planner_tools", payload);
        let system = planner::system(&shown);
        let shape = planner::shape(shown.tools.iter().copied(), &run.question);
        self.planned(run, &system, &shape).await
    }

    /// The plan that the caller has made. Nobody is asked, and everything is checked but whether it fits the question.
    fn given(&self, run: &mut Run<'_>, candidates: &Candidates, name: &str) -> Step<Planned> {
        let candidate = match candidates.named(name) {
            Ok(candidate) => candidate,
            Err(refused) => {
                run.note(&refused);
                return Err(refusal(&refused, None, None));
            }
        };
        run.tool = Some(candidate.tool.clone());
        let planned = Planned::new(candidate, run.request.args.clone());
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

    /// What the model plans. It is told once what was wrong.
    async fn planned(&self, run: &mut Run<'_>, system: &str, shape: &Value) -> Step<Planned> {
        let question = planner::question(&run.question);
        let mut user = question.clone();
        let mut is_repaired = false;
        loop {
            let said = self.asked(run, Stage::Plan, (system, &user), shape).await?;
            let (refused, plan) = match self.judged(run, &said).await {
                Ok(step) => return step,
                Err(refused) => refused,
            };
            // Whoever wants what is forbidden has understood the question, and is not asked again.
            let may_repair = matches!(refused, Refused::Rejected(_) | Refused::Invalid(_));
            if is_repaired || !may_repair {
                let raw = plan.is_none().then_some(said.text.as_str());
                return Err(refusal(&refused, plan, raw));
            }
            is_repaired = true;
            run.recorder.event("planner_repair", json!({ "reason": refused.to_string() }));
            user = planner::again(&question, &said.text, &refused.to_string());
        }
    }

    /// Whether what a model said is a plan that may be carried out, held against the catalogue of now.
    async fn judged(
        &self,
        run: &mut Run<'_>,
        said: &Said,
    ) -> Result<Step<Planned>, (Refused, Option<Plan>)> {
        let read = match &said.cut {
            Some(why) => Err(Refused::Rejected(why.clone())),
            None => plan::read(&said.text),
        };
        let plan = match read {
            Ok(plan) => plan,
            Err(refused) => {
                run.note(&refused);
                return Err((refused, None));
            }
        };
        let candidates = self.candidates().await;
        if let Plan::CallTool { server, tool, .. } = &plan {
            run.tool = candidates.find(server, tool).ok().map(|one| one.tool.clone());
        }
        run.recorder.event("planner_plan", run.kept(&plan));
        let checked = plan::check(&plan, &candidates, Some(&run.question));
        match (checked, plan) {
            (Ok(Some(candidate)), Plan::CallTool { args, .. }) => {
                let planned = Planned::new(candidate, args);
                run.recorder.event("plan_validated", run.kept(&planned.plan()));
                Ok(Ok(planned))
            }
            (Ok(_), plan @ Plan::FinalAnswer { .. }) => {
                run.recorder.event("final_answer", json!(plan));
                Ok(Err(Box::new(asks_back(plan))))
            }
            (Ok(None), plan @ Plan::CallTool { .. }) => {
                let refused = Refused::Invalid("the plan calls nothing".into());
                Err((refused, Some(plan)))
            }
            (Err(refused), plan) => {
                run.note(&refused);
                Err((refused, Some(plan)))
            }
        }
    }
}

/// The person is asked for what is missing.
fn asks_back(plan: Plan) -> Answer {
    let answer = match &plan {
        Plan::FinalAnswer { answer, .. } => answer.clone(),
        Plan::CallTool { .. } => String::new(),
    };
    Answer::FinalAnswer { answer, needs_more_info: true, plan }
}

impl Run<'_> {
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

    /// This is wrong with a plan.
    fn note(&mut self, refused: &Refused) {
        self.recorder.event(refused.event(), json!({ "reason": refused.to_string() }));
    }
}

/// The run ends because of this plan.
fn refusal(refused: &Refused, of: Option<Plan>, wrote: Option<&str>) -> Box<Answer> {
    let code = match refused {
        Refused::Rejected(_) => Code::PlannerRejected,
        Refused::Invalid(_) => Code::PlanInvalid,
        Refused::ServerNotAllowed(_) | Refused::ToolNotAllowed { .. } => Code::ToolNotAllowed,
    };
    let mut answer = blocked_by(code, refused.to_string());
    if let Answer::Blocked { plan, raw, message, .. } = &mut *answer {
        *plan = of;
        *raw = wrote.map(|text| text.chars().take(MAX_RAW_CHARACTERS).collect());
        *message = refused.hint();
    }
    answer
}
