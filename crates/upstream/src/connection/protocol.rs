//! The revisions of the protocol that are spoken here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The revision in which every request stands alone.
pub(crate) const MODERN: &str = "2026-07-28";

/// The revisions that begin with `initialize`, newest first.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The revision of the protocol that a server is spoken to in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The newest that it understands.
    #[default]
    Auto,
    /// 2026-07-28 and newer: it is not asked for anything older.
    Modern,
    /// 2025-11-25 and older: it is not asked for anything newer.
    Legacy,
}

/// The legacy revision of this date.
pub(crate) fn known(date: &str) -> Option<&'static str> {
    LEGACY.into_iter().find(|version| *version == date)
}
