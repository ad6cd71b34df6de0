//! Shows the steps of a run as they happen.

use std::{sync::Mutex, time::Instant};

use ask::{TraceEvent, TraceWatcher};
use gate::visible_text::visible_line;

use crate::{
    commands::trace::line,
    printer::{
        Printer,
        progress::{self, ProgressLine},
    },
};

/// The steps of a run: on a terminal a line for each, and the current one as progress.
pub struct AskProgress<'a> {
    begin: Instant,
    printer: &'a Printer,
    /// What happens now. It begins with the first event: connecting to upstreams shows its own.
    current: Mutex<Option<ProgressLine>>,
}

impl<'a> AskProgress<'a> {
    pub fn new(printer: &'a Printer) -> Self {
        Self { begin: Instant::now(), printer, current: Mutex::new(None) }
    }

    fn set(&self, words: String) {
        if let Ok(mut current) = self.current.lock() {
            current.get_or_insert_with(|| ProgressLine::begin("asking")).set(words);
        }
    }
}

impl TraceWatcher for AskProgress<'_> {
    fn event(&self, event: &TraceEvent) {
        if progress::has_steps() {
            let seconds = self.begin.elapsed().as_secs_f64();
            self.printer.say(format!("{seconds:7.2} s  {}", visible_line(&line(event))));
        }
        self.set(format!("asking: after {}", event.name));
    }

    fn writing(&self, stage: &str, characters: usize) {
        self.set(format!("asking: writing a {stage}: {characters} characters"));
    }
}
