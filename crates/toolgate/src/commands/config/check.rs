//! `toolgate config check`: everything that can be said of the settings before a server starts.

use contract::{Diagnostic, Severity};
use serde_json::json;

use crate::{
    Exit,
    printer::Printer,
    settings::{FileErrors, Flags, Loaded, environment},
    starting::{self, Sure},
    wiring::{
        self,
        upstreams::{self, Which},
    },
};

/// What was found.
#[derive(Default)]
struct Checked {
    diagnostics: Vec<Diagnostic>,
    /// How many tools there are.
    tools: usize,
    /// Whether a server would not start where we are, though the settings are fine.
    stays_down: bool,
    /// Whether it is not the settings file that is wrong, so that nobody can judge it.
    unclear: bool,
}

/// Checks them, and says so.
pub fn run(flags: &Flags, printer: &Printer, as_json: bool) -> anyhow::Result<Exit> {
    let checked = match flags.load() {
        Ok(loaded) => checked(&loaded),
        Err(error) => match error.downcast::<FileErrors>() {
            Ok(FileErrors(diagnostics)) => Checked { diagnostics, ..Checked::default() },
            // A program that asked for JSON gets some, whatever is wrong.
            Err(error) if as_json => {
                let file = flags.file().map_or_else(String::new, |file| file.display().to_string());
                let message = format!("{error:#}");
                let found = Diagnostic::new(Severity::Error, &file, &"".into(), 0..0, message);
                Checked { diagnostics: vec![found], unclear: true, ..Checked::default() }
            }
            Err(error) => return Err(error),
        },
    };
    let Checked { diagnostics, tools, stays_down, unclear } = checked;
    let errors = diagnostics.iter().filter(|one| one.severity == Severity::Error).count();
    if as_json {
        let starts = errors == 0 && !stays_down;
        printer.json(&json!({
            "ok": errors == 0, "starts": starts, "tools": tools, "diagnostics": diagnostics,
        }));
    } else {
        printer.diagnostics(&diagnostics);
        let remarks = diagnostics.len();
        printer.say(match (errors, remarks) {
            (0, 0) => format!("the settings are fine: {tools} tools"),
            (0, _) if stays_down => format!(
                "the settings can be used, but `toolgate serve` would not start here: {tools} \
                 tools, {remarks} to know"
            ),
            (0, _) => format!("the settings can be used: {tools} tools, {remarks} to know"),
            (errors, _) => format!("{errors} to mend"),
        });
    }
    Ok(match (unclear, errors) {
        (true, _) => Exit::Unknown,
        (false, 0) => Exit::Ok,
        (false, _) => Exit::Failed,
    })
}

fn checked(loaded: &Loaded) -> Checked {
    let mut found = Checked { diagnostics: loaded.remarks.clone(), ..Checked::default() };
    let obstacles = starting::obstacles(loaded);
    found.stays_down = obstacles.iter().any(|one| one.sure == Sure::Here);
    found.diagnostics.extend(obstacles.iter().map(|one| one.diagnostic(loaded)));
    found.diagnostics.extend(upstreams::mistakes(loaded));
    let contracts = match wiring::gathered(loaded) {
        Ok(contracts) => contracts,
        Err(error) => {
            found.diagnostics.push(loaded.place(&error));
            return found;
        }
    };
    found.tools = contracts.bound.len();
    found.diagnostics.extend(environment::unknown(loaded, &contracts.bound));
    found.diagnostics.extend(contracts.diagnostics);
    if let Err(error) = wiring::apart(&contracts.bound, loaded) {
        found.diagnostics.push(loaded.place(&error));
        // What lies where is the machine's to say, and not the file's.
        found.unclear = true;
    }
    if found.diagnostics.iter().all(|one| one.severity != Severity::Error) {
        // What a server would be started with, without starting anything.
        let planned = wiring::tools(contracts.bound, loaded)
            .and_then(|fixed| upstreams::plan(loaded, Which::All, &fixed).map(|_| ()));
        if let Err(error) = planned {
            found.diagnostics.push(loaded.place(&error));
        }
    }
    found
}
