//! Counts of what became of a model's answers, for the metrics of a call.

use std::collections::BTreeMap;

use serde::Serialize;

use super::verify::FallbackReason;

/// Counts of what became of a model's answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ModelCounts {
    /// Chunks that it was asked about.
    pub chunks: usize,
    /// Answers that were not taken.
    pub fallbacks: usize,
    /// Answers that were not taken, by reason.
    #[serde(rename = "fallback_reasons")]
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
}
