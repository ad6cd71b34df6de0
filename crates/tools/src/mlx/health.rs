//! The health of a model server.

use serde::Serialize;

/// The health that a server reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelServerHealth {
    /// The status of its answer to `GET /health`.
    Status(u16),
    /// It does not answer, for this reason.
    Silent(String),
}

impl ModelServerHealth {
    /// The same in words.
    pub fn words(&self) -> String {
        match self {
            ModelServerHealth::Status(status) if self.is_well() => format!("well ({status})"),
            ModelServerHealth::Status(status) => format!("failing ({status})"),
            ModelServerHealth::Silent(reason) => format!("silent ({reason})"),
        }
    }

    /// True if nothing is wrong with it. A server may have no such route.
    pub fn is_well(&self) -> bool {
        matches!(self, ModelServerHealth::Status(200..=299 | 404 | 405))
    }
}
