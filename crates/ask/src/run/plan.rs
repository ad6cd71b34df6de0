//! From a question to a plan that may be carried out.

use std::sync::Arc;

use gate::Tool;
use llm::Error;
use serde_json::{Value, json};

use super::{Ask, Run, Step, blocked_by};
use crate::{
    Answer, Code, Plan,
    asking::{self, Said, Wanted},
    candidates::Candidates,
    plan::{self, Refused},
    planner,
};

/// A plan that was checked, and the tool that it calls.
pub(super) struct Planned {
    pub plan: Plan,
    pub tool: Arc<Tool>,
}

impl Ask {
    /// A plan that may be carried out: the caller's own, or that of the model.
    pub(super) async fn plan(&self, run: &mut Run<'_>, candidates: &Candidates) -> Step<Planned> {
        if let Some(name) = run.request.tool.clone() {
            return self.given(run, candidates, &name);
        }
        if let Some(refused) = candidates.asked_for(&run.question) {
            run.recorder.event("tool_not_allowed", json!({ "reason": refused.to_string() }));
            return Err(refusal(&refused, None, None));
        }
        let picked = candidates.pick(&run.question, self.settings.max_tools_tokens);
        if picked.chosen.is_empty() {
            let reason = "no tool fits into the planner's prompt (ask.max_tools_tokens)";
            return Err(blocked_by(Code::NoTools, reason));
        }
        let chosen = || picked.chosen.iter().map(|place| &candidates.visible()[*place]);
        let names: Vec<_> = chosen().map(|one| format!("{}.{}", one.server, one.name)).collect();
        let shown = json!({ "tools": names, "left_out": picked.left_out });
        run.recorder.event("planner_tools", shown);
        let system = planner::system(chosen());
        let shape = planner::shape(chosen(), &run.question);
        self.planned(run, &system, &shape).await
    }

    /// The plan that the caller has made. Nobody is asked, and everything is checked but whether it fits the question.
    fn given(&self, run: &mut Run<'_>, candidates: &Candidates, name: &str) -> Step<Planned> {
        let candidate = match candidates.named(name) {
            Ok(candidate) => candidate,
            Err(refused) => {
                run.recorder.event("tool_not_allowed", json!({ "reason": refused.to_string() }));
                return Err(refusal(&refused, None, None));
            }
        };
        let plan = Plan::CallTool {
            server: candidate.server.clone(),
            tool: candidate.name.clone(),
            args: run.request.args.clone(),
        };
        run.recorder.event("plan_given", kept(&plan, &candidate.tool));
        match plan::check(&plan, candidates, None) {
            Ok(_) => {
                run.recorder.event("plan_validated", kept(&plan, &candidate.tool));
                Ok(Planned { plan, tool: candidate.tool.clone() })
            }
            Err(refused) => {
                let reason = json!({ "reason": refused.to_string() });
                run.recorder.event("plan_validation_failed", reason);
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
            let said = self.asked(run, "plan", system, &user, shape).await?;
            let (refused, plan) = match self.judged(run, &said) {
                Ok(step) => return step,
                Err(refused) => refused,
            };
            // Whoever wants what is forbidden has understood the question, and is not asked again.
            let may_repair = matches!(refused, Refused::Rejected(_) | Refused::Invalid(_));
            if is_repaired || !may_repair {
                let raw = plan.is_none().then(|| said.text.chars().take(2_000).collect());
                return Err(refusal(&refused, plan, raw));
            }
            is_repaired = true;
            run.recorder.event("planner_repair", json!({ "reason": refused.to_string() }));
            user = planner::again(&question, &said.text, &refused.to_string());
        }
    }

    /// Whether what a model said is a plan that may be carried out, held against the catalogue of now.
    fn judged(
        &self,
        run: &mut Run<'_>,
        said: &Said,
    ) -> Result<Step<Planned>, (Refused, Option<Plan>)> {
        let read = match &said.cut {
            Some(why) => Err(Refused::Rejected(why.clone())),
            None => plan::read(&said.text),
        };
        let plan = read.map_err(|refused| {
            run.recorder.event("planner_rejected", json!({ "reason": refused.to_string() }));
            (refused, None)
        })?;
        let candidates = self.candidates();
        let checked = plan::check(&plan, &candidates, Some(&run.question));
        match checked {
            Ok(Some(candidate)) => {
                let kept = kept(&plan, &candidate.tool);
                run.recorder.event("planner_plan", kept.clone());
                run.recorder.event("plan_validated", kept);
                Ok(Ok(Planned { plan, tool: candidate.tool.clone() }))
            }
            Ok(None) => {
                run.recorder.event("planner_plan", json!(plan));
                run.recorder.event("final_answer", json!(plan));
                let Plan::FinalAnswer { answer, .. } = &plan else {
                    unreachable!("a plan without a call is a question back")
                };
                let answer = answer.clone();
                Ok(Err(Box::new(Answer::FinalAnswer { answer, needs_more_info: true, plan })))
            }
            Err(refused) => {
                run.recorder.event("planner_plan", json!(plan));
                let name = match refused {
                    Refused::ServerNotAllowed(_) | Refused::ToolNotAllowed { .. } => {
                        "tool_not_allowed"
                    }
                    _ => "plan_validation_failed",
                };
                run.recorder.event(name, json!({ "reason": refused.to_string() }));
                Err((refused, Some(plan)))
            }
        }
    }

    /// Asks the model, and writes down what it said.
    pub(super) async fn asked(
        &self,
        run: &mut Run<'_>,
        stage: &'static str,
        system: &str,
        user: &str,
        schema: &Value,
    ) -> Step<Said> {
        let Some(model) = &self.model else {
            let reason = "no language model is configured: set llm.base_url";
            return Err(blocked_by(Code::NoModel, reason));
        };
        let prompt = match stage {
            "plan" => "planner_prompt",
            _ => "summary_prompt",
        };
        run.recorder.event(prompt, json!({ "system": system, "user": user }));
        let max_tokens = match stage {
            "plan" => self.settings.max_plan_tokens,
            _ => self.settings.max_summary_tokens,
        };
        let wanted = Wanted { stage, system, user, schema, max_tokens };
        let begin = std::time::Instant::now();
        let said =
            asking::ask(model, &self.way, &wanted, &self.settings, &mut run.recorder, &run.stop)
                .await;
        run.timing.model += begin.elapsed();
        match said {
            Ok(said) => {
                let raw = if stage == "plan" { "planner_raw" } else { "summary_raw" };
                let took = u64::try_from(said.took.as_millis()).unwrap_or(u64::MAX);
                let payload = json!({ "text": said.text, "model": said.model, "took_ms": took });
                run.recorder.event(raw, payload);
                run.model = said.model.clone().or(run.model.take());
                Ok(said)
            }
            Err(Error::Cancelled) => Err(run.stopped()),
            Err(error) => {
                if let Some(words) = error.operator() {
                    run.recorder
                        .event("model_failed", json!({ "kind": error.word(), "words": words }));
                } else {
                    run.recorder.event("model_failed", json!({ "kind": error.word() }));
                }
                Err(failed(stage, &error))
            }
        }
    }
}

/// A plan without what its contract marks as secret.
fn kept(plan: &Plan, tool: &Tool) -> Value {
    let mut kept = json!(plan);
    if tool.input.has_secrets() {
        let args = kept["args"].take();
        kept["args"] = tool.input.redacted(&args).into_owned();
    }
    kept
}

/// The run ends because of this plan.
fn refusal(refused: &Refused, of: Option<Plan>, wrote: Option<String>) -> Box<Answer> {
    let code = match refused {
        Refused::Rejected(_) => Code::PlannerRejected,
        Refused::Invalid(_) => Code::PlanInvalid,
        Refused::ServerNotAllowed(_) | Refused::ToolNotAllowed { .. } => Code::ToolNotAllowed,
    };
    let mut answer = blocked_by(code, refused.to_string());
    if let Answer::Blocked { plan, raw, .. } = &mut *answer {
        (*plan, *raw) = (of, wrote);
    }
    answer
}

/// The run ends because the model failed.
fn failed(stage: &str, error: &Error) -> Box<Answer> {
    let who = if stage == "plan" { "Planner" } else { "Summary" };
    let code = match error {
        Error::NotConfigured(_) => Code::NoModel,
        Error::Status { status: 429 | 503, .. } => Code::ModelBusy,
        Error::Stalled { .. } => Code::Timeout,
        _ => Code::ModelError,
    };
    let mut answer = blocked_by(code, format!("{who} failed: {error}"));
    if let (Answer::Blocked { retry_after, .. }, Error::Status { retry_after: given, .. }) =
        (&mut *answer, error)
    {
        *retry_after = *given;
    }
    answer
}
