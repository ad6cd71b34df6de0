//! Counters for `/metrics`: runs by their response, and the times that they took.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::json;

use crate::{AskResponse, AskTiming, BlockedCode};

/// The counters. Runs are few beside calls: each has waited for a model.
#[derive(Debug, Default)]
pub(crate) struct AskMetrics(Mutex<AskCounts>);

#[derive(Debug, Default)]
struct AskCounts {
    /// By the type of the response and the code of a refusal.
    runs: BTreeMap<(&'static str, Option<BlockedCode>), u64>,
    /// Of all runs together.
    timing: AskTiming,
    grounded: usize,
    dropped: usize,
}

impl AskMetrics {
    fn counts(&self) -> MutexGuard<'_, AskCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run has ended.
    pub(crate) fn ended(&self, response: &AskResponse, timing: &AskTiming) {
        let code = response.blocked().map(|blocked| blocked.code);
        let mut counts = self.counts();
        *counts.runs.entry((response.kind(), code)).or_default() += 1;
        counts.timing.whole += timing.whole;
        counts.timing.model += timing.model;
        counts.timing.tool += timing.tool;
    }

    /// A summary was made.
    pub(crate) fn judged(&self, grounded: usize, dropped: usize) {
        let mut counts = self.counts();
        counts.grounded += grounded;
        counts.dropped += dropped;
    }

    /// Everything in the text form that Prometheus reads.
    pub(crate) fn render(&self, running: usize) -> String {
        let counts = self.counts();
        let mut text = format!(
            "# HELP toolgate_ask_running Questions that are being answered now.\n\
             # TYPE toolgate_ask_running gauge\n\
             toolgate_ask_running {running}\n"
        );
        text.push_str(
            "# HELP toolgate_ask_runs_total Questions by the type of their answer and why it was blocked.\n\
             # TYPE toolgate_ask_runs_total counter\n",
        );
        for ((kind, code), count) in &counts.runs {
            let code = code.map_or(json!("ok"), |code| json!(code));
            let labels = format!("type=\"{kind}\",code={code}");
            text.push_str(&format!("toolgate_ask_runs_total{{{labels}}} {count}\n"));
        }
        text.push_str(
            "# HELP toolgate_ask_seconds_total Time spent on questions, by part.\n\
             # TYPE toolgate_ask_seconds_total counter\n",
        );
        let timing = &counts.timing;
        for (part, time) in
            [("model", timing.model), ("tool", timing.tool), ("gates", timing.gates())]
        {
            let seconds = time.as_secs_f64();
            text.push_str(&format!("toolgate_ask_seconds_total{{part=\"{part}\"}} {seconds}\n"));
        }
        text.push_str(
            "# HELP toolgate_ask_claims_total Bullets of summaries: quotes that were delivered, and bullets that were dropped.\n\
             # TYPE toolgate_ask_claims_total counter\n",
        );
        for (fate, count) in [("grounded", counts.grounded), ("dropped", counts.dropped)] {
            text.push_str(&format!("toolgate_ask_claims_total{{fate=\"{fate}\"}} {count}\n"));
        }
        text
    }
}
