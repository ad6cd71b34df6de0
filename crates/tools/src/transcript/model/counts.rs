//! What became of the answers of a model, for the metrics of a call.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::judge::Reason;

/// What became of the answers of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelCounts {
    /// How many pieces it was asked about.
    pub chunks: usize,
    /// How many of its answers were not taken.
    pub fallbacks: usize,
    /// Why, and how often.
    pub reasons: BTreeMap<Reason, usize>,
}

impl ModelCounts {
    /// Counts a piece, and why its answer was not taken if it was not.
    pub(super) fn count(&mut self, refused: Option<Reason>) {
        self.chunks += 1;
        if let Some(reason) = refused {
            self.fallbacks += 1;
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
            ("fallback_reasons".into(), Value::Object(reasons)),
        ])
    }
}
