//! Flags of an outcome: everything unusual about a result that every door must report.

use serde::ser::SerializeMap;
use serde_json::{Map, Value};

use crate::enforcement::ContractWarning;

/// Everything unusual about a result.
#[derive(Debug, Clone, Default)]
pub struct OutcomeFlags {
    /// The result was too large: it is an artifact, and what stands in its place leads there.
    pub spilled: bool,
    /// The result does not match the contract; a person has released it from quarantine, where
    /// it has this id.
    pub released: Option<String>,
    /// The mismatches that passed, because the contract is not enforced.
    pub warnings: Vec<ContractWarning>,
}

/// The names under which flags stand among the metrics of a result.
pub(crate) const NAMES: [&str; 4] = ["spilled", "released", "quarantine_id", "contract_warnings"];

impl OutcomeFlags {
    /// Writes what there is to say.
    pub(crate) fn print<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if self.spilled {
            map.serialize_entry("spilled", &true)?;
        }
        if let Some(id) = &self.released {
            map.serialize_entry("released", &true)?;
            map.serialize_entry("quarantine_id", id)?;
        }
        if !self.warnings.is_empty() {
            map.serialize_entry("contract_warnings", &self.warnings)?;
        }
        Ok(())
    }

    /// The flags that a recorded result has among its metrics.
    pub(crate) fn read(metrics: &Map<String, Value>) -> Self {
        let is = |name: &str| metrics.get(name) == Some(&Value::Bool(true));
        let id = metrics.get("quarantine_id").and_then(Value::as_str);
        Self {
            spilled: is("spilled"),
            released: id.filter(|_| is("released")).map(str::to_owned),
            warnings: metrics
                .get("contract_warnings")
                .and_then(|warnings| serde_json::from_value(warnings.clone()).ok())
                .unwrap_or_default(),
        }
    }
}
