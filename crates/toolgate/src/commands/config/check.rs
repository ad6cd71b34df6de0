//! `toolgate config check`: finds all errors of the settings without starting a server.

use contract::{Diagnostic, Severity};
use serde_json::json;

use crate::{
    Exit,
    printer::{Printer, counted},
    settings::{FileErrors, Flags, LoadedSettings, environment, secret_values},
    start_checks::{self, Certainty},
    wiring::{
        self, sandboxes,
        upstreams::{self, UpstreamFilter},
    },
};

/// The findings.
#[derive(Default)]
struct SettingsReport {
    diagnostics: Vec<Diagnostic>,
    /// The number of tools.
    tools: usize,
    /// True if a server cannot start here, though the settings are valid.
    cannot_start: bool,
    /// True if something else than the file is wrong, so that the file cannot be judged.
    unclear: bool,
}

/// Checks the settings and prints the findings.
pub fn run(flags: &Flags, printer: &Printer, as_json: bool) -> anyhow::Result<Exit> {
    let checked = match flags.load() {
        Ok(loaded) => checked(&loaded),
        Err(error) => match error.downcast::<FileErrors>() {
            Ok(FileErrors(diagnostics)) => {
                SettingsReport { diagnostics, ..SettingsReport::default() }
            }
            // A program that asked for JSON gets some, whatever is wrong.
            Err(error) if as_json => {
                let file = flags.file().map_or_else(String::new, |file| file.display().to_string());
                let message = format!("{error:#}");
                let found = Diagnostic::new(Severity::Error, &file, &"".into(), 0..0, message);
                SettingsReport {
                    diagnostics: vec![found],
                    unclear: true,
                    ..SettingsReport::default()
                }
            }
            Err(error) => return Err(error),
        },
    };
    let SettingsReport { diagnostics, tools, cannot_start, unclear } = checked;
    let errors = diagnostics.iter().filter(|one| one.severity == Severity::Error).count();
    if as_json {
        let starts = errors == 0 && !cannot_start;
        printer.json(&json!({
            "ok": errors == 0, "starts": starts, "tools": tools, "diagnostics": diagnostics,
        }));
    } else {
        printer.diagnostics(&diagnostics);
        let warnings = match diagnostics.len() - errors {
            0 => String::new(),
            warnings => format!(", {}", counted(warnings, "warning")),
        };
        let tools = counted(tools, "tool");
        printer.say(match errors {
            0 if cannot_start => format!(
                "the settings are valid, but `toolgate serve` cannot start here: {tools}{warnings}"
            ),
            0 => format!("the settings are valid: {tools}{warnings}"),
            _ => format!("{}{warnings}", counted(errors, "error")),
        });
    }
    Ok(match (unclear, errors) {
        (true, _) => Exit::Unknown,
        (false, 0) => Exit::Ok,
        (false, _) => Exit::Failed,
    })
}

fn checked(loaded: &LoadedSettings) -> SettingsReport {
    let mut found =
        SettingsReport { diagnostics: loaded.remarks.clone(), ..SettingsReport::default() };
    let start_errors = start_checks::start_errors(loaded);
    found.cannot_start = start_errors.iter().any(|one| one.certainty == Certainty::Here);
    found.diagnostics.extend(start_errors.iter().map(|one| one.diagnostic(loaded)));
    found.diagnostics.extend(start_checks::certificate_warnings(loaded));
    found.diagnostics.extend(upstreams::mistakes(loaded));
    found.diagnostics.extend(secret_values::readable_by_others(loaded));
    found.diagnostics.extend(wiring::policy::unmatched_pinned(loaded));
    let contracts = match wiring::gathered(loaded) {
        Ok(contracts) => contracts,
        Err(error) => {
            found.diagnostics.extend(loaded.placed(error));
            return found;
        }
    };
    found.tools = contracts.bound.len();
    found.diagnostics.extend(environment::unknown(loaded, &contracts.bound));
    found.diagnostics.extend(contracts.absent.diagnostics());
    found.diagnostics.extend_from_slice(&contracts.diagnostics);
    for exposed in sandboxes::exposed(loaded, &contracts.bound) {
        let warning = loaded.warning(&exposed.pointer(), exposed.message());
        found.diagnostics.push(warning.hint(sandboxes::EXPOSED_HINT));
    }
    if let Err(error) = wiring::protected_paths::check(&contracts.bound, loaded) {
        found.diagnostics.extend(loaded.placed(error));
        // That depends on the folders of this machine, not on the file.
        found.unclear = true;
    }
    if found.diagnostics.iter().all(|one| one.severity != Severity::Error) {
        // What a server would start, without starting it.
        let planned = wiring::tools(contracts, loaded).and_then(|fixed| {
            upstreams::host_config(loaded, UpstreamFilter::All, &fixed).map(|_| ())
        });
        if let Err(error) = planned {
            found.diagnostics.extend(loaded.placed(error));
        }
    }
    found
}
