//! The language model that tools may ask.

use super::Finding;
use crate::settings::Loaded;

/// Whether it can be asked, where one is configured.
pub(super) async fn endpoint(loaded: &Loaded) -> Option<Finding> {
    const SUBJECT: &str = "language model";
    let found = llm::diagnose(&loaded.tools().llm).await?;
    let finding = if found.usable {
        Finding::ok(SUBJECT, found.message)
    } else {
        Finding::problem(SUBJECT, found.message)
    };
    Some(match found.hint {
        Some(hint) => finding.hint(hint),
        None => finding,
    })
}
