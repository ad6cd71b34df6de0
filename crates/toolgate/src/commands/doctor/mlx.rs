//! The model servers behind `mlx.load`.

use super::Finding;
use crate::{settings::Loaded, wiring::Bound};

/// Whether models could be loaded, where the tool is served and the settings speak of models.
pub(super) fn servers(bound: &[Bound], loaded: &Loaded) -> Option<Finding> {
    const SUBJECT: &str = "models";
    if !bound.iter().any(|one| one.contract.name == "mlx.load") {
        return None;
    }
    let found = tools::mlx::diagnose(&loaded.tools().mlx)?;
    Some(if found.problems.is_empty() {
        Finding::ok(SUBJECT, found.message)
    } else {
        Finding::warning(SUBJECT, found.problems.join("; ")).hint(
            "`tools.mlx` names programs and models; `toolgate mlx status` has the logs of servers",
        )
    })
}
