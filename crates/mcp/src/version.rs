//! The protocol versions.

use std::fmt;

use serde::{Serialize, Serializer};

/// A revision of the protocol, older ones first.
///
/// The legacy ones begin with `initialize` and keep a session. In the modern one every request stands
/// alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the name is the date")]
pub enum ProtocolVersion {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl ProtocolVersion {
    /// The revisions in which every request stands alone, newest first.
    pub const MODERN: [ProtocolVersion; 1] = [ProtocolVersion::V2026_07_28];

    /// The revisions that begin with `initialize`, newest first.
    pub const LEGACY: [ProtocolVersion; 4] = [
        ProtocolVersion::V2025_11_25,
        ProtocolVersion::V2025_06_18,
        ProtocolVersion::V2025_03_26,
        ProtocolVersion::V2024_11_05,
    ];

    /// The newest modern revision.
    pub const NEWEST_MODERN: ProtocolVersion = Self::MODERN[0];

    /// The newest legacy revision: the one that `initialize` offers.
    pub const NEWEST_LEGACY: ProtocolVersion = Self::LEGACY[0];

    /// The date that names it.
    pub const fn as_str(self) -> &'static str {
        match self {
            ProtocolVersion::V2024_11_05 => "2024-11-05",
            ProtocolVersion::V2025_03_26 => "2025-03-26",
            ProtocolVersion::V2025_06_18 => "2025-06-18",
            ProtocolVersion::V2025_11_25 => "2025-11-25",
            ProtocolVersion::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of that date.
    pub fn parse(date: &str) -> Option<Self> {
        Self::MODERN.into_iter().chain(Self::LEGACY).find(|version| version.as_str() == date)
    }

    /// The modern revision of that date.
    pub fn parse_modern(date: &str) -> Option<Self> {
        Self::parse(date).filter(|version| version.is_modern())
    }

    /// The legacy revision of that date.
    pub fn parse_legacy(date: &str) -> Option<Self> {
        Self::parse(date).filter(|version| !version.is_modern())
    }

    /// Whether every request stands alone; otherwise there is `initialize` and a session.
    pub const fn is_modern(self) -> bool {
        match self {
            ProtocolVersion::V2026_07_28 => true,
            ProtocolVersion::V2024_11_05
            | ProtocolVersion::V2025_03_26
            | ProtocolVersion::V2025_06_18
            | ProtocolVersion::V2025_11_25 => false,
        }
    }

    /// Whether several messages may come as one list.
    pub const fn has_batches(self) -> bool {
        matches!(self, ProtocolVersion::V2025_03_26)
    }

    /// Whether results have `structuredContent` and links to resources.
    pub fn has_structured_content(self) -> bool {
        self >= ProtocolVersion::V2025_06_18
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for ProtocolVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_is_found_by_its_date_and_has_its_family() {
        for version in ProtocolVersion::LEGACY {
            assert_eq!(ProtocolVersion::parse_legacy(version.as_str()), Some(version));
            assert_eq!(ProtocolVersion::parse_modern(version.as_str()), None);
            assert!(version <= ProtocolVersion::NEWEST_LEGACY);
        }
        for version in ProtocolVersion::MODERN {
            assert_eq!(ProtocolVersion::parse_modern(version.as_str()), Some(version));
            assert!(version > ProtocolVersion::NEWEST_LEGACY);
        }
        assert_eq!(ProtocolVersion::parse("2031-01-01"), None);
    }
}
