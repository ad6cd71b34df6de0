//! The revisions of the protocol that are spoken here.

use contract::render::mcp::Era;

/// A revision, older ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Version {
    const ALL: [Version; 5] = [
        Version::V2026_07_28,
        Version::V2025_11_25,
        Version::V2025_06_18,
        Version::V2025_03_26,
        Version::V2024_11_05,
    ];

    /// What `initialize` falls back to where it is asked for something else.
    pub(crate) const NEWEST_LEGACY: Version = Version::V2025_11_25;

    /// The revisions in which every request stands alone.
    pub(crate) const MODERN: [&'static str; 1] = ["2026-07-28"];

    /// Its date.
    pub(crate) fn date(self) -> &'static str {
        match self {
            Version::V2024_11_05 => "2024-11-05",
            Version::V2025_03_26 => "2025-03-26",
            Version::V2025_06_18 => "2025-06-18",
            Version::V2025_11_25 => "2025-11-25",
            Version::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of that date.
    pub(crate) fn parse(date: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.date() == date)
    }

    /// The family that it belongs to.
    pub(crate) fn era(self) -> Era {
        if self == Version::V2026_07_28 { Era::Modern } else { Era::Legacy }
    }
}
