//! What became of the answers of a model, for the metrics of a call.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::judge::{Reason, Verdict};

/// What became of the answers of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelCounts {
    /// How many pieces it was asked about.
    pub chunks: usize,
    /// How many of its answers were not taken as they were.
    pub fallbacks: usize,
    /// How many of these had sentences that were right, and were kept.
    pub partly_kept: usize,
    /// Why, and how often.
    pub reasons: BTreeMap<Reason, usize>,
}

impl ModelCounts {
    pub(super) fn count(&mut self, verdict: &Verdict) {
        self.chunks += 1;
        if let Some(reason) = verdict.reason {
            self.fallbacks += 1;
            self.partly_kept += usize::from(verdict.text.is_some());
            *self.reasons.entry(reason).or_default() += 1;
        }
    }

    /// As numbers with names.
    pub fn metrics(&self) -> Map<String, Value> {
        let reasons: Map<_, _> = self
            .reasons
            .iter()
            .map(|(reason, count)| (reason.word().into(), json!(count)))
            .collect();
        Map::from_iter([
            ("chunks".into(), json!(self.chunks)),
            ("fallbacks".into(), json!(self.fallbacks)),
            ("partly_kept".into(), json!(self.partly_kept)),
            ("fallback_reasons".into(), Value::Object(reasons)),
        ])
    }
}
