//! Checks for `toolgate doctor` whether models could be loaded here.

use std::path::Path;

use guard::process::find_program;

use super::port_folder::{PortFolder, PortOccupant, ServerPhase};
use super::ports::PORTS;
use crate::settings::MlxSettings;

/// The result of that check.
pub struct MlxDiagnosis {
    /// The parts that work, in a sentence.
    pub message: String,
    /// The problems, a sentence each.
    pub problems: Vec<String>,
}

/// Looks at what `mlx.load` would need, without starting anything. Nothing where the operator has not
/// said a word about models.
pub fn diagnose(settings: &MlxSettings) -> Option<MlxDiagnosis> {
    let untouched = settings.models.is_empty() && settings.launch == MlxSettings::default().launch;
    let mut problems = Vec::new();
    let program = settings.launch.first().map(String::as_str).unwrap_or_default();
    if let Err(error) = find_program(program.as_ref(), Path::new("/")) {
        problems.push(error.to_string());
    }
    for (name, target) in &settings.models {
        let path = Path::new(target);
        if path.is_absolute() && !path.exists() {
            problems.push(format!("the model `{name}` is not at `{target}`"));
        }
    }
    let mut loaded = 0;
    for port in PORTS {
        let Ok(Some(port_folder)) = PortFolder::existing(&settings.dir, port) else { continue };
        match port_folder.look() {
            Ok(PortOccupant::Held(_)) => loaded += 1,
            Ok(PortOccupant::Free { left: Some(record), .. })
                if record.phase == ServerPhase::Ready =>
            {
                problems.push(format!("the server of `{}` on port {port} has ended", record.model));
            }
            Ok(PortOccupant::Free { .. }) => {}
            Err(error) => problems.push(format!("the state of port {port}: {error}")),
        }
    }
    if untouched && loaded == 0 && problems.len() <= 1 {
        return None;
    }
    let names = settings.models.len();
    let message = format!("`{program}` serves them; {names} named, {loaded} loaded");
    Some(MlxDiagnosis { message, problems })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_and_silence_is_respected() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = MlxSettings { dir: folder.path().to_owned(), ..MlxSettings::default() };
        assert!(diagnose(&settings).is_none());
        settings.launch = vec!["no-such-server".into(), "{port}".into()];
        settings.models.insert("small".into(), "/no/such/model".into());
        let problems = diagnose(&settings).unwrap().problems;
        assert_eq!(
            problems,
            [
                "program `no-such-server` was not found",
                "the model `small` is not at `/no/such/model`"
            ]
        );
        settings.launch[0] = "sh".into();
        settings.models.insert("small".into(), "/usr".into());
        let found = diagnose(&settings).unwrap();
        assert_eq!(found.problems, [""; 0]);
        assert_eq!(found.message, "`sh` serves them; 1 named, 0 loaded");
    }
}
