//! The values that a tool is called with.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::generate::{self, Case, Wanted};
use serde_json::Value;

use super::{Check, Finding, connection::Over, rules};

/// Valid values, invalid ones, and what could not be made.
pub(crate) struct Cases {
    pub valid: Vec<Case>,
    pub invalid: Vec<Case>,
    pub check: Check,
}

impl Cases {
    /// At most so many of each, made from an input schema, by a thread that may take its time. Nothing
    /// comes back where it was not done before `over`.
    pub(crate) async fn of(
        schema: &Value,
        seed: u64,
        most: usize,
        over: impl Future<Output = Over>,
    ) -> Result<Cases, Over> {
        let stop = Arc::new(AtomicBool::new(false));
        let making = tokio::task::spawn_blocking({
            let (schema, stop) = (schema.clone(), Arc::clone(&stop));
            move || Self::made(&schema, Wanted { seed, most, objects: true, stop: &stop })
        });
        tokio::select! {
            made = making => Ok(made.unwrap_or_else(|_| Self::none("they could not be made"))),
            over = over => {
                stop.store(true, Ordering::Relaxed);
                Err(over)
            }
        }
    }

    fn none(why: &str) -> Cases {
        let finding = Finding::new(&rules::NO_VALUES, why);
        let check = Check::of("values can be made", vec![finding]);
        Cases { valid: Vec::new(), invalid: Vec::new(), check }
    }

    fn made(schema: &Value, wanted: Wanted<'_>) -> Cases {
        let mut findings = Vec::new();
        let mut made = |sort: &str, cases: Result<generate::Cases, contract::SchemaError>| {
            let cases = cases.unwrap_or_else(|error| generate::Cases {
                given_up: vec![format!("{}: {}", error.pointer, error.message)],
                ..generate::Cases::default()
            });
            // Where nothing was given up there is nothing to make: no arguments, no defects in them.
            if cases.cases.is_empty() && wanted.most > 0 && !cases.given_up.is_empty() {
                let message = format!("there are no {sort} values: {}", cases.given_up.join("; "));
                findings.push(Finding::new(&rules::NO_VALUES, message));
            }
            cases.cases
        };
        let valid = made("valid", generate::valid(schema, wanted));
        let invalid = made("invalid", generate::invalid(schema, wanted));
        Cases { valid, invalid, check: Check::of("values can be made", findings) }
    }
}
