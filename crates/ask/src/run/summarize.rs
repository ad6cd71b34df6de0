//! The summary of a result, where one is wanted.

use serde_json::{Value, json};

use super::{Ask, AskRun, call::CallOutcome};
use crate::{
    AskResponse, SummarizeMode,
    model_request::PromptStage,
    planner,
    quotation::QuoteSource,
    summary::{self, ShownSource, Summary, SummaryDraft},
};

/// The word that tools put in the place of a text that they do not have.
const NOT_FOUND: &str = "NOT_FOUND";

impl Ask {
    /// The result, with a summary where one is wanted and can be had. A summary that cannot be had is no reason to keep the
    /// result back.
    pub(super) async fn summarize(
        &self,
        run: &mut AskRun<'_>,
        outcome: CallOutcome,
    ) -> AskResponse {
        let CallOutcome { plan, typed, is_pointer, raw } = outcome;
        let typed = match typed {
            Ok(typed) => typed,
            Err(why) => {
                let note = Some(format!("Typed parsing blocked: {why}"));
                return AskResponse::ToolResult { plan, typed: None, note, raw };
            }
        };
        let note = match self.decide(run, typed.get(), is_pointer) {
            SummaryDecision::No => None,
            SummaryDecision::Skip(why) => {
                run.recorder.event("summary_skipped", json!({ "reason": why }));
                Some(format!("Summary skipped: {why}."))
            }
            SummaryDecision::Yes(value) => match self.summarized(run, &value).await {
                Ok(summary) => {
                    return AskResponse::ToolResultWithSummary { plan, typed, summary, raw };
                }
                Err(note) => Some(note),
            },
        };
        AskResponse::ToolResult { plan, typed: Some(typed), note, raw }
    }

    fn decide(&self, run: &mut AskRun<'_>, typed: &str, is_pointer: bool) -> SummaryDecision {
        let wanted = match (self.settings.summarize, run.request.summarize) {
            (SummarizeMode::Never, None) | (_, Some(false)) => false,
            (SummarizeMode::Always, None) | (_, Some(true)) => true,
            (SummarizeMode::WhenAsked, None) => summary::is_asked_for(&run.question),
        };
        run.recorder.event("summarize_decision", json!({ "wanted": wanted }));
        if !wanted {
            return SummaryDecision::No;
        }
        if self.settings.summarize == SummarizeMode::Never {
            return SummaryDecision::Skip("ask.summarize is `never`");
        }
        if is_pointer {
            return SummaryDecision::Skip("the result is an artifact");
        }
        match serde_json::from_str::<Value>(typed) {
            Ok(value) if is_not_found(&value) => SummaryDecision::Skip("content is NOT_FOUND"),
            Ok(value) => SummaryDecision::Yes(value),
            Err(_) => SummaryDecision::Skip("the result cannot be read again"),
        }
    }

    /// Has the model pick quotes of a result; otherwise returns the note that says why there is no summary.
    async fn summarized(&self, run: &mut AskRun<'_>, value: &Value) -> Result<Summary, String> {
        let source = QuoteSource::new(value);
        let shown = ShownSource::new(&source, self.settings.max_source_characters);
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
                self.metrics.judged(summary.quotes().count(), dropped.len());
                run.recorder.event("summary", json!({ "summary": summary, "dropped": dropped }));
                Ok(summary)
            }
            Err(dropped) => {
                self.metrics.judged(0, dropped.len());
                let why = dropped.first().map_or("no line was picked", |one| &one.reason);
                let note = format!("Summary blocked (grounding failed): {why}");
                run.recorder.event("summary_blocked", json!({ "reason": why, "dropped": dropped }));
                Err(note)
            }
        }
    }

    /// Asks the model for a summary. It is told once what was wrong with its form.
    async fn drafted(
        &self,
        run: &mut AskRun<'_>,
        shown: &ShownSource,
    ) -> Result<SummaryDraft, String> {
        let question = shown.user(&run.question);
        let schema = shown.schema();
        let mut user = question.clone();
        let mut is_repaired = false;
        loop {
            let prompt = (summary::RULES, user.as_str());
            let reply = self.reply(run, PromptStage::Summary, prompt, &schema).await.map_err(
                |response| {
                    let reason = response.blocked().map_or("", |blocked| &blocked.reason);
                    format!("Summary blocked: {reason}")
                },
            )?;
            let read = match reply.cut {
                Some(why) => Err(why),
                None => summary::read(&reply.text),
            };
            match read {
                Ok(draft) => return Ok(draft),
                Err(why) if is_repaired => {
                    return Err(format!("Summary blocked: {why}"));
                }
                Err(why) => {
                    is_repaired = true;
                    run.recorder.event("summary_repair", json!({ "reason": why }));
                    user = planner::again(&question, &reply.text, &why);
                }
            }
        }
    }
}

enum SummaryDecision {
    No,
    Skip(&'static str),
    Yes(Value),
}

/// Whether a tool says that there is nothing.
fn is_not_found(value: &Value) -> bool {
    let mut fields = value.as_object().into_iter().flatten();
    fields.any(|(_, field)| field.as_str() == Some(NOT_FOUND))
}
