//! Numbers for `/metrics`, kept in atomics so that counting never waits.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicI64, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use crate::{EnforcementMode, PayloadDirection};

/// Upper bounds of the duration histogram, in microseconds.
const BUCKETS_US: [u64; 12] =
    [50, 100, 250, 500, 1_000, 5_000, 25_000, 100_000, 500_000, 2_500_000, 10_000_000, 60_000_000];

/// The numbers of one tool.
#[derive(Debug, Default)]
pub(crate) struct ToolMetrics {
    succeeded: AtomicU64,
    failed: Mutex<BTreeMap<String, u64>>,
    buckets: [AtomicU64; BUCKETS_US.len()],
    duration_us: AtomicU64,
    output_bytes: AtomicU64,
    /// The mismatches that passed: arguments and outputs.
    input_warnings: AtomicU64,
    output_warnings: AtomicU64,
}

impl ToolMetrics {
    /// The number of calls that were counted, whatever came of them.
    pub(crate) fn calls(&self) -> u64 {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        self.succeeded.load(Relaxed) + failed.values().sum::<u64>()
    }

    pub(crate) fn warned(&self, direction: PayloadDirection) {
        let counter = match direction {
            PayloadDirection::Input => &self.input_warnings,
            PayloadDirection::Output => &self.output_warnings,
        };
        counter.fetch_add(1, Relaxed);
    }

    pub(crate) fn observe(&self, failed: Option<&str>, duration: Duration, output_bytes: u64) {
        match failed {
            None => {
                self.succeeded.fetch_add(1, Relaxed);
            }
            // Failures are rare and their codes are few: a lock is good enough here.
            Some(code) => {
                let mut codes = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
                *codes.entry(code.to_owned()).or_default() += 1;
            }
        }
        let microseconds = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        if let Some(bucket) = BUCKETS_US.iter().position(|bound| microseconds <= *bound) {
            self.buckets[bucket].fetch_add(1, Relaxed);
        }
        self.duration_us.fetch_add(microseconds, Relaxed);
        self.output_bytes.fetch_add(output_bytes, Relaxed);
    }
}

/// The numbers of the whole server.
#[derive(Debug, Default)]
pub struct GateMetrics {
    /// Calls that no tool was found for.
    pub(crate) unknown_tool: AtomicU64,
    /// Calls of tools that are known and not served.
    pub(crate) withheld_tool: AtomicU64,
    pub(crate) upstreams_connected: AtomicU64,
    pub(crate) upstreams_stopped: AtomicU64,
    pub(crate) upstreams_failed: AtomicU64,
    pub(crate) tools_rejected: AtomicU64,
    pub(crate) tools_changed: AtomicU64,
    /// Calls that are running now.
    pub(crate) running: AtomicI64,
    /// Jobs that wait.
    pub(crate) queued: AtomicI64,
    /// Answers that broke their contract.
    pub(crate) quarantined: AtomicU64,
    /// Calls that a person was asked about.
    pub(crate) approvals_requested: AtomicU64,
    approvals_approved: AtomicU64,
    approvals_refused: AtomicU64,
}

impl GateMetrics {
    /// A person has decided.
    pub(crate) fn decided(&self, approved: bool) {
        let counter = if approved { &self.approvals_approved } else { &self.approvals_refused };
        counter.fetch_add(1, Relaxed);
    }

    /// Everything in the text form that Prometheus reads.
    pub fn render(&self, catalogue: &crate::Catalogue, journal: &crate::Journal) -> String {
        let mut text = String::with_capacity(4_096);
        let mut one = |name: &str, kind: &str, help: &str, value: i64| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        };
        let count = |counter: &AtomicU64| i64::try_from(counter.load(Relaxed)).unwrap_or(i64::MAX);
        one(
            "toolgate_calls_running",
            "gauge",
            "Calls that are running now.",
            self.running.load(Relaxed),
        );
        one("toolgate_jobs_queued", "gauge", "Jobs that wait to run.", self.queued.load(Relaxed));
        for (name, help, counter) in [
            ("unknown_tool", "Calls of tools that do not exist.", &self.unknown_tool),
            ("withheld_tool", "Calls of tools that are known and not served.", &self.withheld_tool),
            ("upstream_connected", "Connections to upstreams.", &self.upstreams_connected),
            ("upstream_stopped", "Upstreams that nobody used.", &self.upstreams_stopped),
            ("upstream_failed", "Upstreams that were lost or not reached.", &self.upstreams_failed),
            ("tools_rejected", "Tools of upstreams that are not served.", &self.tools_rejected),
            ("tools_changed", "Tools that are not what was pinned.", &self.tools_changed),
        ] {
            one(&format!("toolgate_{name}_total"), "counter", help, count(counter));
        }
        one(
            "toolgate_quarantined_total",
            "counter",
            "Answers that broke their contract.",
            count(&self.quarantined),
        );
        let asked = &self.approvals_requested;
        one(
            "toolgate_approvals_requested_total",
            "counter",
            "Calls that a person was asked about.",
            count(asked),
        );
        let decided =
            [("approved", &self.approvals_approved), ("refused", &self.approvals_refused)];
        for (word, counter) in decided {
            one(
                &format!("toolgate_approvals_{word}_total"),
                "counter",
                &format!("Calls that a person {word}."),
                count(counter),
            );
        }
        let lost = i64::try_from(journal.failures()).unwrap_or(i64::MAX);
        one(
            "toolgate_journal_failures_total",
            "counter",
            "Journal lines that could not be written.",
            lost,
        );
        one(
            "toolgate_journal_rotation_failures_total",
            "counter",
            "How often the journal had to be rotated and could not be.",
            i64::try_from(journal.rotation_failures()).unwrap_or(i64::MAX),
        );
        one(
            "toolgate_journal_writable",
            "gauge",
            "1 if a journal line can be written now. Without it no tool with effects runs.",
            i64::from(journal.check().is_ok()),
        );
        one(
            "toolgate_tools",
            "gauge",
            "Tools that are served.",
            i64::try_from(catalogue.len()).unwrap_or(0),
        );

        text.push_str("# HELP toolgate_calls_total Calls by tool and code.\n# TYPE toolgate_calls_total counter\n");
        for tool in catalogue.with_those_unlisted() {
            let name = &tool.contract.name;
            let succeeded = tool.metrics.succeeded.load(Relaxed);
            let _ =
                writeln!(text, "toolgate_calls_total{{tool=\"{name}\",code=\"ok\"}} {succeeded}");
            let failed = tool.metrics.failed.lock().unwrap_or_else(PoisonError::into_inner);
            for (code, count) in failed.iter() {
                let _ = writeln!(
                    text,
                    "toolgate_calls_total{{tool=\"{name}\",code=\"{code}\"}} {count}"
                );
            }
        }
        text.push_str("# HELP toolgate_contract_warnings_total What did not match its contract and passed, by tool and direction.\n# TYPE toolgate_contract_warnings_total counter\n");
        for tool in
            catalogue.with_those_unlisted().filter(|tool| tool.mode == EnforcementMode::Warn)
        {
            let name = &tool.contract.name;
            let metrics = &tool.metrics;
            for (direction, counter) in
                [("input", &metrics.input_warnings), ("output", &metrics.output_warnings)]
            {
                let _ = writeln!(
                    text,
                    "toolgate_contract_warnings_total{{tool=\"{name}\",direction=\"{direction}\"}} {}",
                    counter.load(Relaxed)
                );
            }
        }
        text.push_str("# HELP toolgate_output_bytes_total Bytes of results by tool.\n# TYPE toolgate_output_bytes_total counter\n");
        for tool in catalogue.with_those_unlisted() {
            let bytes = tool.metrics.output_bytes.load(Relaxed);
            let _ = writeln!(
                text,
                "toolgate_output_bytes_total{{tool=\"{}\"}} {bytes}",
                tool.contract.name
            );
        }
        text.push_str("# HELP toolgate_call_duration_seconds How long calls take.\n# TYPE toolgate_call_duration_seconds histogram\n");
        for tool in catalogue.with_those_unlisted() {
            histogram(&mut text, &tool.contract.name, &tool.metrics);
        }
        text
    }
}

#[allow(clippy::cast_precision_loss)] // Seconds for a chart.
fn histogram(text: &mut String, name: &str, metrics: &ToolMetrics) {
    let failed: u64 = metrics.failed.lock().unwrap_or_else(PoisonError::into_inner).values().sum();
    let count = metrics.succeeded.load(Relaxed) + failed;
    let mut below = 0;
    for (bound, bucket) in BUCKETS_US.iter().zip(&metrics.buckets) {
        below += bucket.load(Relaxed);
        let seconds = *bound as f64 / 1e6;
        let _ = writeln!(
            text,
            "toolgate_call_duration_seconds_bucket{{tool=\"{name}\",le=\"{seconds}\"}} {below}"
        );
    }
    let sum = metrics.duration_us.load(Relaxed) as f64 / 1e6;
    let _ = writeln!(
        text,
        "toolgate_call_duration_seconds_bucket{{tool=\"{name}\",le=\"+Inf\"}} {count}\n\
         toolgate_call_duration_seconds_sum{{tool=\"{name}\"}} {sum}\n\
         toolgate_call_duration_seconds_count{{tool=\"{name}\"}} {count}"
    );
}
