//! The language model.

use super::DoctorFinding;
use crate::settings::LoadedSettings;

/// Checks that the model answers, if one is configured.
pub(super) async fn endpoint(loaded: &LoadedSettings) -> Option<DoctorFinding> {
    const SUBJECT: &str = "language model";
    let found = llm::diagnose(&loaded.tools().llm).await?;
    let finding = if found.usable {
        DoctorFinding::ok(SUBJECT, found.message)
    } else {
        DoctorFinding::problem(SUBJECT, found.message)
    };
    Some(finding.hint_if(found.hint))
}
