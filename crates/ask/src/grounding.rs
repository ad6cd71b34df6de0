//! stub
use serde::{Deserialize, Serialize};
pub struct Source(Vec<String>);
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bullet {
    pub claim: String,
    pub evidence: String,
}
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grounded {
    pub claim: String,
    pub evidence: String,
    pub location: Location,
}
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Location {
    pub pointer: String,
    pub start: usize,
    pub end: usize,
}
#[derive(Debug, thiserror::Error)]
#[error("no")]
pub struct Ungrounded;
impl Source {
    pub fn of(v: &serde_json::Value) -> Self {
        Self(vec![v.to_string()])
    }
    pub fn units(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|s| s.as_str())
    }
    pub fn ground(&self, _b: &Bullet) -> Result<Grounded, Ungrounded> {
        Err(Ungrounded)
    }
}
