//! Prints the events of a run on a terminal, as they happen.

use std::{
    io::{IsTerminal, Write},
    sync::Mutex,
    time::{Duration, Instant},
};

use ask::{TraceEvent, TraceWatcher};
use gate::visible_text::visible_line;

use crate::commands::trace::line;

/// The time between two updates of the character count.
const EVERY: Duration = Duration::from_millis(100);

/// Prints the events of a run on a terminal, and nothing where there is none.
pub struct AskProgress {
    begin: Instant,
    is_terminal: bool,
    /// When the changing line was last written; none if there is no such line.
    live: Mutex<Option<Instant>>,
}

impl AskProgress {
    pub fn new() -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { begin: Instant::now(), is_terminal, live: Mutex::new(None) }
    }

    /// Removes the changing line.
    pub fn end(&self) {
        if let Ok(mut live) = self.live.lock()
            && live.take().is_some()
        {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}

impl TraceWatcher for AskProgress {
    fn event(&self, event: &TraceEvent) {
        if !self.is_terminal {
            return;
        }
        self.end();
        let seconds = self.begin.elapsed().as_secs_f64();
        let words = visible_line(&line(event));
        let _ = writeln!(std::io::stderr(), "{seconds:7.2} s  {words}");
    }

    fn writing(&self, stage: &str, characters: usize) {
        if !self.is_terminal {
            return;
        }
        if let Ok(mut live) = self.live.lock() {
            if live.is_some_and(|last| last.elapsed() < EVERY) {
                return;
            }
            *live = Some(Instant::now());
        }
        let seconds = self.begin.elapsed().as_secs_f64();
        let mut stderr = std::io::stderr();
        let _ =
            write!(stderr, "\r\x1b[2K{seconds:7.2} s  writing a {stage}: {characters} characters");
        let _ = stderr.flush();
    }
}
