//! The revisions of the protocol that are spoken here.

use std::{fmt, str::FromStr};

use super::Era;

/// The revision in which every request stands alone.
pub(crate) const MODERN: &str = "2026-07-28";

/// The revisions that begin with `initialize`, newest first.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Which revision to speak with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// The newest that both know, found out by asking.
    #[default]
    Auto,
    /// The modern one, and no other.
    Modern,
    /// The newest legacy one that the server knows.
    Legacy,
    /// Exactly this legacy one.
    Exactly(&'static str),
}

impl Protocol {
    /// What to say straight away to a server that spoke this before.
    pub fn remembered(era: Era) -> Protocol {
        match era {
            Era::Modern => Protocol::Modern,
            Era::Legacy => Protocol::Legacy,
        }
    }
}

impl FromStr for Protocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Protocol::Auto),
            "modern" | MODERN => Ok(Protocol::Modern),
            "legacy" => Ok(Protocol::Legacy),
            _ => known(text).map(Protocol::Exactly).ok_or_else(|| {
                let known = LEGACY.join("`, `");
                format!("one of `auto`, `modern`, `legacy`, `{MODERN}`, `{known}` is expected")
            }),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Protocol::Auto => "auto",
            Protocol::Modern => "modern",
            Protocol::Legacy => "legacy",
            Protocol::Exactly(version) => version,
        })
    }
}

/// The legacy revision of this date.
pub(crate) fn known(date: &str) -> Option<&'static str> {
    LEGACY.into_iter().find(|version| *version == date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_printed() {
        for text in ["auto", "modern", "legacy", "2025-06-18", "2024-11-05"] {
            assert_eq!(text.parse::<Protocol>().unwrap().to_string(), text);
        }
        assert_eq!("2026-07-28".parse(), Ok(Protocol::Modern));
        assert!("2023-01-01".parse::<Protocol>().unwrap_err().contains("`2025-06-18`"));
    }
}
