//! The service behind `search.web`.

use super::Finding;
use crate::{settings::Loaded, wiring::Bound};

/// Whether searches will be answered, where the tool is served at all.
pub(super) async fn service(bound: &[Bound], loaded: &Loaded) -> Option<Finding> {
    const SUBJECT: &str = "search";
    if !bound.iter().any(|one| one.contract.name == "search.web") {
        return None;
    }
    let found = tools::search_web::diagnose(&loaded.tools().search).await;
    let finding = match (found.usable, found.configured) {
        (true, _) => Finding::ok(SUBJECT, found.message),
        (false, true) => Finding::problem(SUBJECT, found.message),
        // Many do without.
        (false, false) => Finding::warning(SUBJECT, found.message),
    };
    Some(match found.hint {
        Some(hint) => finding.hint(hint),
        None => finding,
    })
}
