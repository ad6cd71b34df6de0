//! Whether a result is summarized, and what is left of the summary.

use serde_json::{Value, json};

use super::{Ask, Run, call::Called};
use crate::{
    Answer, Summarize,
    asking::Stage,
    grounding::Source,
    planner,
    summary::{self, Draft, Shown, Summary},
};

/// What tools say in the place of a text that they do not have.
const NOT_FOUND: &str = "NOT_FOUND";

impl Ask {
    /// The result, with a summary where one is wanted and can be had. A summary that cannot be had is no reason to keep the
    /// result back.
    pub(super) async fn summarize(&self, run: &mut Run<'_>, called: Called) -> Answer {
        let Called { plan, typed, is_pointer, raw } = called;
        let typed = match typed {
            Ok(typed) => typed,
            Err(why) => {
                let note = Some(format!("Typed parsing blocked: {why}"));
                return Answer::ToolResult { plan, typed: None, note, raw };
            }
        };
        let note = match self.decide(run, typed.get(), is_pointer) {
            Decision::No => None,
            Decision::Skip(why) => {
                run.recorder.event("summary_skipped", json!({ "reason": why }));
                Some(format!("Summary skipped: {why}."))
            }
            Decision::Yes(value) => match self.summarized(run, &value).await {
                Ok(summary) => return Answer::ToolResultWithSummary { plan, typed, summary, raw },
                Err(note) => Some(note),
            },
        };
        Answer::ToolResult { plan, typed: Some(typed), note, raw }
    }

    fn decide(&self, run: &mut Run<'_>, typed: &str, is_pointer: bool) -> Decision {
        let wanted = match (self.settings.summarize, run.request.summarize) {
            (Summarize::Never, None) | (_, Some(false)) => false,
            (Summarize::Always, None) | (_, Some(true)) => true,
            (Summarize::WhenAsked, None) => summary::is_asked_for(&run.question),
        };
        run.recorder.event("summarize_decision", json!({ "wanted": wanted }));
        if !wanted {
            return Decision::No;
        }
        if self.settings.summarize == Summarize::Never {
            return Decision::Skip("ask.summarize is `never`");
        }
        if is_pointer {
            return Decision::Skip("the result is an artifact");
        }
        match serde_json::from_str::<Value>(typed) {
            Ok(value) if is_not_found(&value) => Decision::Skip("content is NOT_FOUND"),
            Ok(value) => Decision::Yes(value),
            Err(_) => Decision::Skip("the result cannot be read again"),
        }
    }

    /// What the model says of a result, as far as the result bears it out; otherwise the note that says why there is
    /// no summary.
    async fn summarized(&self, run: &mut Run<'_>, value: &Value) -> Result<Summary, String> {
        let source = Source::of(value);
        let shown = Shown::of(&source, self.settings.max_source_characters);
        if shown.is_empty() {
            let why = "the result has no text that fits into the prompt";
            run.recorder.event("summary_skipped", json!({ "reason": why }));
            return Err(format!("Summary skipped: {why}."));
        }
        let draft = match self.drafted(run, &shown).await {
            Ok(draft) => draft,
            Err(note) => {
                run.recorder.event("summary_blocked", json!({ "reason": note }));
                return Err(note);
            }
        };
        match summary::ground(&draft, &source) {
            Ok((mut summary, dropped)) => {
                summary.source_truncated = shown.is_cut;
                self.metrics.judged(summary.claims(), dropped.len());
                run.recorder.event("summary", json!({ "summary": summary, "dropped": dropped }));
                Ok(summary)
            }
            Err(dropped) => {
                self.metrics.judged(0, dropped.len());
                let why = dropped.first().map_or("nothing was said", |one| &one.reason);
                let note = format!("Summary blocked (grounding failed): {why}");
                run.recorder.event("summary_blocked", json!({ "reason": why, "dropped": dropped }));
                Err(note)
            }
        }
    }

    /// A summary in form. The model is told once what was wrong with it.
    async fn drafted(&self, run: &mut Run<'_>, shown: &Shown<'_>) -> Result<Draft, String> {
        let question = summary::user(shown, &run.question);
        let shape = summary::shape(shown);
        let mut user = question.clone();
        let mut is_repaired = false;
        loop {
            let prompt = (summary::system(), user.as_str());
            let said = match self.asked(run, Stage::Summary, prompt, &shape).await {
                Ok(said) => said,
                Err(answer) => {
                    let Answer::Blocked { reason, .. } = *answer else { return Err(String::new()) };
                    return Err(format!("Summary blocked: {reason}"));
                }
            };
            let read = match said.cut {
                Some(why) => Err(why),
                None => summary::read(&said.text),
            };
            match read {
                Ok(draft) => return Ok(draft),
                Err(why) if is_repaired => {
                    return Err(format!("Summary blocked: {why}"));
                }
                Err(why) => {
                    is_repaired = true;
                    run.recorder.event("summary_repair", json!({ "reason": why }));
                    user = planner::again(&question, &said.text, &why);
                }
            }
        }
    }
}

enum Decision {
    No,
    Skip(&'static str),
    Yes(Value),
}

/// Whether a tool says that there is nothing.
fn is_not_found(value: &Value) -> bool {
    let mut fields = value.as_object().into_iter().flatten();
    fields.any(|(_, field)| field.as_str() == Some(NOT_FOUND))
}
