//! The model servers behind `mlx.load`.

use super::DoctorFinding;
use crate::{settings::LoadedSettings, wiring::BoundTool};

/// Checks that models can be loaded, if the tool is served and models are configured.
pub(super) fn servers(bound: &[BoundTool], loaded: &LoadedSettings) -> Option<DoctorFinding> {
    const SUBJECT: &str = "models";
    if !bound.iter().any(|one| one.contract.name == "mlx.load") {
        return None;
    }
    let found = tools::mlx::diagnose(&loaded.tools().mlx)?;
    Some(if found.problems.is_empty() {
        DoctorFinding::ok(SUBJECT, found.message)
    } else {
        DoctorFinding::warning(SUBJECT, found.problems.join("; ")).hint(
            "check the programs and models in `tools.mlx`; `toolgate mlx status` shows the logs of servers",
        )
    })
}
