//! From a contract's text to the contract.

use serde_json::json;

use crate::{Contract, Diagnostic, Document, Severity, lint, text_output};

/// Reads one contract and judges it. All that is wrong comes back at once; the
/// contract comes back only where nothing is refused, with its document.
pub fn contract(name: &str, text: &str) -> (Option<(Contract, Document)>, Vec<Diagnostic>) {
    let mut document = match Document::parse(name, text) {
        Ok(document) => document,
        Err(diagnostic) => return (None, vec![*diagnostic]),
    };
    if document.value()["output"] == "text" {
        let defaults = [("output_schema", text_output::schema()), ("presentation", json!("text"))];
        for (key, value) in defaults {
            if document.value().get(key).is_none() {
                document.set(&[key], value);
            }
        }
    }
    let contract: Contract = match document.check() {
        Ok(contract) => contract,
        Err(diagnostics) => return (None, diagnostics),
    };
    let diagnostics = lint::lint(&contract, &document);
    let refused = diagnostics.iter().any(|one| one.severity == Severity::Error);
    ((!refused).then_some((contract, document)), diagnostics)
}

/// Reads a contract that a test has already judged: the ones in the binary.
/// Nothing is linted, so that starting costs what parsing costs.
pub fn trusted(text: &str) -> Result<Contract, String> {
    serde_saphyr::from_str(text).map_err(|error| error.to_string())
}
