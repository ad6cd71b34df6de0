//! The enforcement of a contract: how strictly a tool is held to it.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Gate, Timestamp, Tool};

/// The strictness with which a contract is enforced. Limits of size and time hold in every mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EnforcementMode {
    /// Input and output that do not match the contract are refused.
    #[default]
    Enforce,
    /// They pass, and are counted and logged; a copy of an output is quarantined.
    Warn,
    /// Nothing is checked.
    Off,
}

impl EnforcementMode {
    /// Every mode, the strictest first.
    pub const ALL: [EnforcementMode; 3] =
        [EnforcementMode::Enforce, EnforcementMode::Warn, EnforcementMode::Off];

    pub fn word(self) -> &'static str {
        match self {
            EnforcementMode::Enforce => "enforce",
            EnforcementMode::Warn => "warn",
            EnforcementMode::Off => "off",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.word() == word)
    }
}

impl Tool {
    /// The same tool in that mode.
    #[must_use]
    pub fn with_mode(mut self, mode: EnforcementMode) -> Self {
        self.mode = mode;
        self.descriptor.take();
        self
    }
}

impl Gate {
    /// Writes down that a tool is held to its contract otherwise than before, and who said so.
    /// For whoever sets modes.
    pub fn mode_changed(&self, tool: &str, from: EnforcementMode, to: EnforcementMode, by: &str) {
        let fields = json!({ "tool": tool, "from": from, "to": to, "by": by });
        self.journal.event(self.clock.now(), "mode_changed", fields);
    }
}

/// The direction of a payload that did not match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PayloadDirection {
    /// The arguments.
    Input,
    /// The output.
    Output,
}

/// Something that did not match and passed all the same.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ContractWarning {
    /// Its direction.
    pub direction: PayloadDirection,
    /// The violations, in a sentence.
    pub reason: String,
    /// The quarantine entry that holds a copy of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine_id: Option<String>,
}

/// The most copies of one tool's outputs that quarantine takes in a minute. A tool that breaks its
/// contract with every output must not fill the disk.
pub(crate) const MAX_COPIES_A_MINUTE: u64 = 60;

/// The number of copies that were taken lately.
#[derive(Debug, Default)]
pub(crate) struct CopyLimit {
    minute: AtomicI64,
    count: AtomicU64,
}

impl CopyLimit {
    /// True if one more may be taken. Two who come at once at the turn of a minute may both
    /// begin to count: that is one copy more.
    pub(crate) fn allow(&self, now: Timestamp) -> bool {
        let minute = now.0.div_euclid(60_000);
        if self.minute.swap(minute, Relaxed) != minute {
            self.count.store(0, Relaxed);
        }
        self.count.fetch_add(1, Relaxed) < MAX_COPIES_A_MINUTE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back() {
        for mode in EnforcementMode::ALL {
            assert_eq!(EnforcementMode::parse(mode.word()), Some(mode));
            assert_eq!(json!(mode), mode.word());
        }
        assert_eq!(EnforcementMode::parse("Enforce"), None);
    }

    #[test]
    fn so_many_copies_a_minute_and_no_more() {
        let copies = CopyLimit::default();
        let taken = |at: i64| (0..100).filter(|_| copies.allow(Timestamp(at))).count() as u64;
        assert_eq!(taken(1_000_000), MAX_COPIES_A_MINUTE);
        assert_eq!(taken(1_019_999), 0);
        assert_eq!(taken(1_020_000), MAX_COPIES_A_MINUTE);
    }
}
