//! Counts of what became of a model's answers, for the metrics of a call.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::verify::FallbackReason;

/// Counts of what became of a model's answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelCounts {
    /// Chunks that it was asked about.
    pub chunks: usize,
    /// Answers that were not taken.
    pub fallbacks: usize,
    /// Answers that were not taken, by reason.
    pub reasons: BTreeMap<FallbackReason, usize>,
}

impl ModelCounts {
    /// Counts one chunk; a reason says that its answer was not taken.
    pub(super) fn count(&mut self, refused: Option<FallbackReason>) {
        self.chunks += 1;
        if let Some(reason) = refused {
            self.fallbacks += 1;
            *self.reasons.entry(reason).or_default() += 1;
        }
    }

    /// The counts by the names that they have in the metrics.
    pub fn metrics(&self) -> Map<String, Value> {
        let reasons: Map<_, _> = self
            .reasons
            .iter()
            .map(|(reason, count)| (reason.word().into(), json!(count)))
            .collect();
        Map::from_iter([
            ("chunks".into(), json!(self.chunks)),
            ("fallbacks".into(), json!(self.fallbacks)),
            ("fallback_reasons".into(), Value::Object(reasons)),
        ])
    }
}
