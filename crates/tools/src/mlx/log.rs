//! The log of a server: searched for fatal lines while it starts, and shown to people.

/// The last bytes of a log that are read.
pub(super) const LOG_BYTES: u64 = 65_536;

/// A log line that says that the server will never be ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FatalLogLine {
    /// There is no such model.
    NoModel,
    /// The port is another's.
    PortBusy,
    /// It lives on and will never answer.
    Dead,
}

/// Messages of Python's hub client and of mlx-lm about a model that is missing.
const NO_MODEL: [&str; 6] = [
    "repo id must be in the form",
    "cannot find an appropriate cached snapshot",
    "cannot find the requested files in the disk cache",
    "repositorynotfounderror",
    "repository not found",
    "localentrynotfounderror",
];
/// As Python says it on Linux and macOS, and Node.
const PORT_BUSY: [&str; 3] = [
    "[errno 98] address already in use",
    "[errno 48] address already in use",
    "listen eaddrinuse: address already in use",
];
/// A server of mlx-lm stays alive, and holds its port, after it could not load the model.
const DEAD: &str = "generation thread died";
const NO_FILE: &str = "no such file or directory";

fn is_about_port(line: &str) -> bool {
    PORT_BUSY.iter().any(|words| line.contains(words))
}

/// Finds a fatal line at the end of a log. `target` is the model as the server was told. As long as a server lives, and has not
/// said that it is dead, whatever else it says may be about something that it can do without.
pub(super) fn fatal_line(log: &str, target: &str, ended: bool) -> Option<FatalLogLine> {
    let mut heard = None;
    for line in log.lines() {
        let line = line.to_lowercase();
        let is_dead = line.contains(DEAD);
        if !ended && !is_dead && !is_about_port(&line) {
            continue;
        }
        let names_it = || line.contains(&target.to_lowercase());
        if NO_MODEL.iter().any(|words| line.contains(words))
            || (line.contains(NO_FILE) && names_it())
        {
            return Some(FatalLogLine::NoModel);
        }
        if is_about_port(&line) {
            heard = Some(FatalLogLine::PortBusy);
        } else if is_dead && heard.is_none() {
            heard = Some(FatalLogLine::Dead);
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
            ("Repo id must be in the form 'repo_name'", Some(FatalLogLine::NoModel)),
            (
                "[Errno 2] No such file or directory: '/models/empty/config.json'",
                Some(FatalLogLine::NoModel),
            ),
            (
                "Cannot find an appropriate cached snapshot folder for the",
                Some(FatalLogLine::NoModel),
            ),
            ("Model type nosuch not supported.", Some(FatalLogLine::Dead)),
            ("[load_safetensors] incomplete download or corrupt file?", Some(FatalLogLine::Dead)),
        ] {
            assert_eq!(
                fatal_line(&format!("Starting\n{died}{log}\n"), "/models/empty", false),
                expected,
                "{log}"
            );
        }
        let taken = "Traceback\nOSError: [Errno 98] Address already in use\n";
        assert_eq!(fatal_line(taken, "org/x", false), Some(FatalLogLine::PortBusy));
        let other = "[Errno 2] No such file or directory: '/opt/plugins'\nStarting httpd";
        assert_eq!(fatal_line(other, "org/x", true), None);
        // What a living server does without is no reason to end it; one that has ended had its reasons.
        let adapter = "[Errno 2] No such file or directory: '/m/adapter_config.json'";
        assert_eq!(fatal_line(adapter, "/m", false), None);
        assert_eq!(fatal_line(adapter, "/m", true), Some(FatalLogLine::NoModel));
        assert_eq!(fatal_line("loading test/eaddrinuse", "test/eaddrinuse", false), None);
    }

    #[test]
    fn lines_for_people_are_few_short_and_plain() {
        let text = format!("one\n\n\x1b[31mtwo\x07\n{}\n", "x".repeat(1_000));
        let lines = last_lines(&text, 2);
        assert_eq!((lines[0].as_str(), lines[1].len()), ("[31mtwo", 400));
    }
}
