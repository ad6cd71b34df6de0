//! Whether a server is well.

use serde::Serialize;

/// What a server says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// The status of its answer to `GET /health`.
    Status(u16),
    /// It does not answer, for this reason.
    Silent(String),
}

impl Health {
    /// The same in words.
    pub fn words(&self) -> String {
        match self {
            Health::Status(status) if self.is_well() => format!("well ({status})"),
            Health::Status(status) => format!("failing ({status})"),
            Health::Silent(reason) => format!("silent ({reason})"),
        }
    }

    /// Whether nothing is wrong with it. A server may have no such route.
    pub fn is_well(&self) -> bool {
        matches!(self, Health::Status(200..=299 | 404 | 405))
    }
}
