//! The values that a tool is called with.

use contract::generate::{self, Case};
use serde_json::Value;

use super::{Check, Finding, rules};

/// Valid values, invalid ones, and what could not be made.
pub(super) struct Cases {
    pub valid: Vec<Case>,
    pub invalid: Vec<Case>,
    pub check: Check,
}

impl Cases {
    /// At most so many of each, made from an input schema.
    pub(super) fn of(schema: &Value, seed: u64, most: usize) -> Cases {
        let mut findings = Vec::new();
        let mut made = |sort: &str, cases: Result<generate::Cases, contract::SchemaError>| {
            let cases = cases.unwrap_or_else(|error| generate::Cases {
                given_up: vec![format!("{}: {}", error.pointer, error.message)],
                ..generate::Cases::default()
            });
            // Arguments are an object; other values never reach a tool.
            let mut usable: Vec<Case> =
                cases.cases.into_iter().filter(|case| case.value.is_object()).collect();
            usable.truncate(most);
            // Where nothing was given up there is nothing to make: no arguments, no defects in them.
            if usable.is_empty() && most > 0 && !cases.given_up.is_empty() {
                let message = format!("there are no {sort} values: {}", cases.given_up.join("; "));
                findings.push(Finding::new(&rules::NO_VALUES, message));
            }
            usable
        };
        let valid = made("valid", generate::valid(schema, seed));
        let invalid = made("invalid", generate::invalid(schema, seed));
        Cases { valid, invalid, check: Check::of("values can be made", findings) }
    }
}
