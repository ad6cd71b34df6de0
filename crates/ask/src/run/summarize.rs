//! The summary of a result, where one is wanted.

use serde_json::{Value, json};

use super::{Ask, AskRun, call::CallOutcome, model::StagePrompt};
use crate::{
    AskResponse, SummarizeMode,
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
        if !self.wants_summary(run) {
            return AskResponse::ToolResult { plan, typed: Some(typed), note: None, raw };
        }
        match self.summarized(run, typed.get(), is_pointer).await {
            Ok(summary) => AskResponse::ToolResultWithSummary { plan, typed, summary, raw },
            Err(note) => {
                AskResponse::ToolResult { plan, typed: Some(typed), note: Some(note), raw }
            }
        }
    }

    fn wants_summary(&self, run: &mut AskRun<'_>) -> bool {
        let wanted = match (self.settings.summarize, run.request.summarize) {
            (SummarizeMode::Never, None) | (_, Some(false)) => false,
            (SummarizeMode::Always, None) | (_, Some(true)) => true,
            (SummarizeMode::WhenAsked, None) => summary::is_asked_for(&run.question),
        };
        run.recorder.event("summarize_decision", json!({ "wanted": wanted }));
        wanted
    }

    /// Has the model pick quotes of a result; otherwise returns the note that says why there is no summary.
    async fn summarized(
        &self,
        run: &mut AskRun<'_>,
        typed: &str,
        is_pointer: bool,
    ) -> Result<Summary, String> {
        if self.settings.summarize == SummarizeMode::Never {
            return Err(run.skipped("ask.summarize is `never`"));
        }
        if is_pointer {
            return Err(run.skipped("the result is an artifact"));
        }
        // It was printed by the gate, so it can be read again.
        let value: Value = serde_json::from_str(typed).unwrap_or_default();
        if is_not_found(&value) {
            return Err(run.skipped("content is NOT_FOUND"));
        }
        let mut source = QuoteSource::new(&value);
        let shown = ShownSource::new(&source, self.settings.max_source_characters);
        if shown.is_empty() {
            return Err(run.skipped("the result has no text that fits into the prompt"));
        }
        let draft = self.drafted(run, &shown).await.inspect_err(|note| {
            run.recorder.event("summary_blocked", json!({ "reason": note }));
        })?;
        match summary::ground(&draft, &mut source) {
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
        let user = shown.user(&run.question);
        let mut prompt = StagePrompt::summary(&self.settings, summary::RULES, user, shown.schema());
        loop {
            let reply = self.reply(run, &prompt).await.map_err(|response| {
                let reason = response.blocked().map_or("", |blocked| &blocked.reason);
                format!("Summary blocked: {reason}")
            })?;
            match reply.whole().and_then(summary::read) {
                Ok(draft) => return Ok(draft),
                Err(why) if prompt.repair(run, &reply, &why) => {}
                Err(why) => return Err(format!("Summary blocked: {why}")),
            }
        }
    }
}

impl AskRun<'_> {
    /// The note of a summary that is not even tried.
    fn skipped(&mut self, why: &str) -> String {
        self.recorder.event("summary_skipped", json!({ "reason": why }));
        format!("Summary skipped: {why}.")
    }
}

/// True if a tool says that there is nothing.
fn is_not_found(value: &Value) -> bool {
    let mut fields = value.as_object().into_iter().flatten();
    fields.any(|(_, field)| field.as_str() == Some(NOT_FOUND))
}
