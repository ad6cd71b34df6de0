//! What callers are told where a model cannot be served, and how that is told from what a server prints.

use gate::ToolError;
use guard::process::{Ending, StartError};

/// How many bytes of a log are looked at.
pub(super) const LOG_BYTES: u64 = 65_536;

pub(super) fn not_found(message: impl Into<String>) -> ToolError {
    ToolError::new("model_not_found", message)
}

pub(super) fn busy(message: impl Into<String>) -> ToolError {
    ToolError::new("port_busy", message)
}

pub(super) fn not_listening(message: impl Into<String>) -> ToolError {
    ToolError::new("not_listening", message)
}

/// A launch that came to nothing. What the server printed is for the operator alone.
pub(super) fn launch(message: impl Into<String>, log: &str) -> ToolError {
    let mut error = ToolError::new("launch_failed", message);
    if !log.is_empty() {
        error.operator = Some(format!("the end of its log: {}", last_lines(log, 20).join("\n")));
    }
    error
}

pub(super) fn not_started(error: &StartError) -> ToolError {
    let mut cause = error.to_string();
    if let Some(source) = std::error::Error::source(error) {
        cause = format!("{cause}: {source}");
    }
    ToolError::new("launch_failed", format!("the launch command could not be started: {cause}"))
}

pub(super) fn state(error: &std::io::Error) -> ToolError {
    let message = "the state of the model servers cannot be read or written";
    ToolError::internal(message, format!("{message}: {error}"))
}

/// How a server ended, in words.
pub(super) fn ended(ending: Ending) -> String {
    match ending {
        Ending::Exited(0) => {
            "it ended with exit code 0; a launch command has to stay in the foreground".to_owned()
        }
        Ending::Exited(code) => format!("it ended with exit code {code}"),
        Ending::Signalled(signal) => format!("it was ended by signal {signal}"),
        Ending::Stopped => "it was stopped".to_owned(),
    }
}

/// What a server says of itself that nothing will come of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// There is no such model.
    NoModel,
    /// The port is another's.
    PortBusy,
    /// It lives on and will never answer.
    Dead,
}

/// What Python's hub client and mlx-lm say where a model is not there.
const NO_MODEL: [&str; 6] = [
    "repo id must be in the form",
    "cannot find an appropriate cached snapshot",
    "cannot find the requested files in the disk cache",
    "repositorynotfounderror",
    "repository not found",
    "localentrynotfounderror",
];
const PORT_BUSY: [&str; 2] = ["address already in use", "eaddrinuse"];
/// A server of mlx-lm stays alive, and holds its port, after it could not load the model.
const DEAD: &str = "generation thread died";
const NO_FILE: &str = "no such file or directory";

/// What the end of a log says. `target` is the model as the server was told.
pub(super) fn said(log: &str, target: &str) -> Option<Said> {
    let mut heard = None;
    for line in log.lines() {
        let line = line.to_lowercase();
        let names_it = || line.contains(&target.to_lowercase());
        if NO_MODEL.iter().any(|words| line.contains(words))
            || (line.contains(NO_FILE) && names_it())
        {
            return Some(Said::NoModel);
        }
        if PORT_BUSY.iter().any(|words| line.contains(words)) {
            heard = Some(Said::PortBusy);
        } else if line.contains(DEAD) && heard.is_none() {
            heard = Some(Said::Dead);
        }
    }
    heard
}

/// The last lines of a text, without what would move a terminal's cursor.
pub(super) fn last_lines(text: &str, most: usize) -> Vec<String> {
    const MAX_CHARACTERS: usize = 400;
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let from = lines.len().saturating_sub(most);
    let plain =
        |line: &&str| line.chars().filter(|one| !one.is_control()).take(MAX_CHARACTERS).collect();
    lines[from..].iter().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reasons_that_mlx_gives_are_understood() {
        let died = "2026-11-16 10:00:00,000 - ERROR - mlx_lm.server generation thread died: ";
        for (log, expected) in [
            ("Repo id must be in the form 'repo_name'", Some(Said::NoModel)),
            (
                "[Errno 2] No such file or directory: '/models/empty/config.json'",
                Some(Said::NoModel),
            ),
            ("Cannot find an appropriate cached snapshot folder for the", Some(Said::NoModel)),
            ("Model type nosuch not supported.", Some(Said::Dead)),
            ("[load_safetensors] incomplete download or corrupt file?", Some(Said::Dead)),
        ] {
            assert_eq!(
                said(&format!("Starting\n{died}{log}\n"), "/models/empty"),
                expected,
                "{log}"
            );
        }
        let taken = "Traceback\nOSError: [Errno 98] Address already in use\n";
        assert_eq!(said(taken, "org/x"), Some(Said::PortBusy));
        let other = "[Errno 2] No such file or directory: '/opt/plugins'\nStarting httpd";
        assert_eq!(said(other, "org/x"), None);
    }

    #[test]
    fn lines_for_people_are_few_short_and_plain() {
        let text = format!("one\n\n\x1b[31mtwo\x07\n{}\n", "x".repeat(1_000));
        let lines = last_lines(&text, 2);
        assert_eq!((lines[0].as_str(), lines[1].len()), ("[31mtwo", 400));
    }
}
