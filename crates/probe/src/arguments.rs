//! The generated arguments of a tool.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::generate::{self, GenerateOptions, GeneratedValue};
use serde_json::Value;

use super::{Check, ProbeFinding, connection::ProbeEnd, rules};

/// Valid and invalid arguments, and a check of the generation.
pub(crate) struct ArgumentCases {
    pub valid: Vec<GeneratedValue>,
    pub invalid: Vec<GeneratedValue>,
    pub check: Check,
}

impl ArgumentCases {
    /// Generates at most so many of each on a thread of its own, unless the probe ends first.
    pub(crate) async fn of(
        schema: &Value,
        seed: u64,
        most: usize,
        over: impl Future<Output = ProbeEnd>,
    ) -> Result<ArgumentCases, ProbeEnd> {
        let stop = Arc::new(AtomicBool::new(false));
        let making = tokio::task::spawn_blocking({
            let (schema, stop) = (schema.clone(), Arc::clone(&stop));
            move || Self::made(&schema, GenerateOptions { seed, most, objects: true, stop: &stop })
        });
        tokio::select! {
            made = making => Ok(made.unwrap_or_else(|_| Self::none("the generation failed"))),
            over = over => {
                stop.store(true, Ordering::Relaxed);
                Err(over)
            }
        }
    }

    fn none(why: &str) -> ArgumentCases {
        let finding = ProbeFinding::new(&rules::NO_VALUES, why);
        let check = Check::of("arguments can be generated", vec![finding]);
        ArgumentCases { valid: Vec::new(), invalid: Vec::new(), check }
    }

    fn made(schema: &Value, wanted: GenerateOptions<'_>) -> ArgumentCases {
        let mut findings = Vec::new();
        let mut made =
            |sort: &str, cases: Result<generate::GeneratedValues, contract::SchemaError>| {
                let cases = cases.unwrap_or_else(|error| generate::GeneratedValues {
                    not_generated: vec![format!("{}: {}", error.pointer, error.message)],
                    ..generate::GeneratedValues::default()
                });
                // Without a reason there is nothing to generate: no arguments, no defects in them.
                if cases.cases.is_empty() && wanted.most > 0 && !cases.not_generated.is_empty() {
                    let message =
                        format!("no {sort} arguments: {}", cases.not_generated.join("; "));
                    findings.push(ProbeFinding::new(&rules::NO_VALUES, message));
                }
                cases.cases
            };
        let valid = made("valid", generate::valid(schema, wanted));
        let invalid = made("invalid", generate::invalid(schema, wanted));
        ArgumentCases { valid, invalid, check: Check::of("arguments can be generated", findings) }
    }
}
