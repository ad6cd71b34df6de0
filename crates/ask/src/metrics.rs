//! Counters for `/metrics`: runs by their response, and the times that they took.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use crate::{AskResponse, AskTiming};

/// The counters. Runs are few beside calls: each has waited for a model.
#[derive(Debug, Default)]
pub(crate) struct AskMetrics {
    /// By the type of the response and the code of a refusal.
    runs: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    model_us: AtomicU64,
    tool_us: AtomicU64,
    gates_us: AtomicU64,
    grounded: AtomicU64,
    dropped: AtomicU64,
}

impl AskMetrics {
    /// A run has ended.
    pub(crate) fn ended(&self, response: &AskResponse, timing: &AskTiming) {
        let code = response.blocked().map_or("ok", |blocked| blocked.code.name());
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        *runs.entry((response.kind(), code)).or_default() += 1;
        let parts = [
            (&self.model_us, timing.model),
            (&self.tool_us, timing.tool),
            (&self.gates_us, timing.gates()),
        ];
        for (sum, time) in parts {
            sum.fetch_add(microseconds(time), Relaxed);
        }
    }

    /// A summary was made.
    pub(crate) fn judged(&self, grounded: usize, dropped: usize) {
        self.grounded.fetch_add(grounded as u64, Relaxed);
        self.dropped.fetch_add(dropped as u64, Relaxed);
    }

    /// Everything in the text form that Prometheus reads.
    pub(crate) fn render(&self, running: usize) -> String {
        let mut text = String::with_capacity(1_024);
        // Writing to a String cannot fail.
        let mut family = |name: &str, kind: &str, help: &str, lines: &[(String, String)]| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in lines {
                let _ = writeln!(text, "{name}{labels} {value}");
            }
        };
        family(
            "toolgate_ask_running",
            "gauge",
            "Questions that are being answered now.",
            &[(String::new(), running.to_string())],
        );
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let runs = runs.into_iter().map(|((kind, code), count)| {
            (format!("{{type=\"{kind}\",code=\"{code}\"}}"), count.to_string())
        });
        family(
            "toolgate_ask_runs_total",
            "counter",
            "Questions by the type of their answer and why it was blocked.",
            &runs.collect::<Vec<_>>(),
        );
        let parts = [("model", &self.model_us), ("tool", &self.tool_us), ("gates", &self.gates_us)];
        family(
            "toolgate_ask_seconds_total",
            "counter",
            "Time spent on questions, by part.",
            &parts.map(|(part, sum)| (format!("{{part=\"{part}\"}}"), seconds(sum))),
        );
        let claims = [("grounded", &self.grounded), ("dropped", &self.dropped)];
        family(
            "toolgate_ask_claims_total",
            "counter",
            "Bullets of summaries: quotes that were delivered, and bullets that were dropped.",
            &claims.map(|(fate, count)| {
                (format!("{{fate=\"{fate}\"}}"), count.load(Relaxed).to_string())
            }),
        );
        text
    }
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn seconds(microseconds: &AtomicU64) -> String {
    Duration::from_micros(microseconds.load(Relaxed)).as_secs_f64().to_string()
}
