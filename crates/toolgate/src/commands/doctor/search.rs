//! The service behind `search.web`.

use super::DoctorFinding;
use crate::{settings::LoadedSettings, wiring::BoundTool};

/// Checks that the service answers, if the tool is served.
pub(super) async fn service(bound: &[BoundTool], loaded: &LoadedSettings) -> Option<DoctorFinding> {
    const SUBJECT: &str = "search";
    if !bound.iter().any(|one| one.contract.name == "search.web") {
        return None;
    }
    let found = tools::search_web::diagnose(&loaded.tools().search).await;
    let finding = match (found.usable, found.configured) {
        (true, _) => DoctorFinding::ok(SUBJECT, found.message),
        (false, true) => DoctorFinding::problem(SUBJECT, found.message),
        // A search service is optional.
        (false, false) => DoctorFinding::warning(SUBJECT, found.message),
    };
    Some(finding.hint_if(found.hint))
}
